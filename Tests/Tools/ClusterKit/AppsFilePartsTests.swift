// SPDX-License-Identifier: Apache-2.0
import ClusterKit
import Foundation
import Testing

/// Tests of the part of the apps file that each service gets: policies, signing keys and secrets only where needed.
@Suite struct AppsFilePartsTests {
    private static let secret = "secret-of-backend"

    /// An apps file; `before` is a further JSON member of the app's hooks, or empty.
    private static func file(before: String) -> Data {
        let keys =
            #"[{"kid":"a","alg":"HS256","k":"shared-key"},{"kid":"b","alg":"ES256","x":"X","y":"Y","d":"private"}]"#
        let hooks = #"{"url":"https://a/","secret":"\#(Self.secret)","events":["roomCreated"]\#(before)}"#
        return Data(#"{"apps":{"demo":{"keys":\#(keys),"policy":{"maxAdmins":7},"hooks":\#(hooks)}}}"#.utf8)
    }

    private static func part(_ kind: ServiceKind, before: String = "") throws -> String {
        let data = try AppsFileParts.part(of: Self.file(before: before), for: kind, name: "apps.json")
        return String(decoding: data, as: UTF8.self)
    }

    @Test(arguments: ServiceKind.allCases)
    func `every service gets the policy and the names of the events`(kind: ServiceKind) throws {
        let part = try Self.part(kind)
        #expect(part.contains(#""maxAdmins":7"#) && part.contains("roomCreated"))
        #expect(!part.contains("private"), "no service signs tokens")
    }

    @Test func `only gateways get keys`() throws {
        for kind in ServiceKind.allCases { #expect(try Self.part(kind).contains("shared-key") == (kind == .gateway)) }
    }

    @Test func `only services that send requests to a backend get its secret`() throws {
        for kind in ServiceKind.allCases {
            #expect(try Self.part(kind).contains(Self.secret) == (kind == .roomDirectory))
            let partWithBeforeHook = try Self.part(kind, before: #","before":{"gift":"refuse"}"#)
            #expect(partWithBeforeHook.contains(Self.secret) == (kind == .roomDirectory || kind == .gateway))
        }
    }

    @Test func `data that is no apps file is refused`() {
        #expect(throws: ClusterError.self) {
            try AppsFileParts.part(of: Data("[]".utf8), for: .gateway, name: "apps.json")
        }
    }
}

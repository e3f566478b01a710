// SPDX-License-Identifier: Apache-2.0
import ClusterKit
import Foundation
import Testing

/// Tests of the part of the apps file that each service gets: keys and secrets go only to services that need them.
@Suite struct AppsFilePartsTests {
    /// The secret with which services sign their requests to the app's backend.
    private static let secret = "secret-of-backend"

    /// An apps file; `beforeHook` is a JSON member that makes services ask the backend before calls, or empty.
    private static func file(beforeHook: String) -> Data {
        let keys =
            #"[{"kid":"a","alg":"HS256","k":"shared-key"},{"kid":"b","alg":"ES256","x":"X","y":"Y","d":"private"}]"#
        let hooks = #"{"url":"https://a/","secret":"\#(Self.secret)","events":["roomCreated"]\#(beforeHook)}"#
        return Data(#"{"apps":{"demo":{"keys":\#(keys),"policy":{"maxAdmins":7},"hooks":\#(hooks)}}}"#.utf8)
    }

    /// The part of the file that a service of this kind gets.
    private static func part(_ kind: ServiceKind, beforeHook: String = "") throws -> String {
        let data = try AppsFileParts.part(of: Self.file(beforeHook: beforeHook), for: kind, name: "apps.json")
        return String(decoding: data, as: UTF8.self)
    }

    @Test(arguments: ServiceKind.allCases)
    func `every service gets the policy and the names of the events`(kind: ServiceKind) throws {
        let part = try Self.part(kind)
        #expect(part.contains(#""maxAdmins":7"#) && part.contains("roomCreated"))
        #expect(!part.contains("private"), "no service may get a private key, because none signs tokens")
    }

    @Test func `only gateways get keys`() throws {
        for kind in ServiceKind.allCases { #expect(try Self.part(kind).contains("shared-key") == (kind == .gateway)) }
    }

    @Test func `only services that send requests to the app's backend get the secret`() throws {
        // A room-directory reports events to the backend. A gateway asks the backend only if there is a hook before
        // calls.
        for kind in ServiceKind.allCases {
            #expect(try Self.part(kind).contains(Self.secret) == (kind == .roomDirectory))
            let partWithBeforeHook = try Self.part(kind, beforeHook: #","before":{"gift":"refuse"}"#)
            #expect(partWithBeforeHook.contains(Self.secret) == (kind == .roomDirectory || kind == .gateway))
        }
    }

    @Test func `data that is not an apps file is rejected`() {
        #expect(throws: ClusterError.self) {
            try AppsFileParts.part(of: Data("[]".utf8), for: .gateway, name: "apps.json")
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
import ClusterKit
import Foundation
import TestSupport
import Testing

/// Tests of the session key that a local cluster makes for its gateways.
@Suite struct SessionKeyFileTests {
    private let folder: ScratchFolder

    init() throws { self.folder = try ScratchFolder() }

    @Test func `a cluster makes a random key that only its owner can read, and keeps it`() throws {
        let path = self.folder.path + "/session.key"
        let arguments = try SessionKeyFile.prepareArguments(
            at: path, environment: ["LIVEPLAZA_SESSION_KEY": ""], extraArguments: ["--ring-seconds", "1"])
        #expect(arguments == ["--session-key-file", path])
        let key = try String(contentsOfFile: path, encoding: .utf8)
        // 32 bytes in base64url without padding.
        #expect(key.wholeMatch(of: /[A-Za-z0-9_-]{43}/) != nil)
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        #expect(try SessionKeyFile.prepareArguments(at: path, environment: [:], extraArguments: []) == arguments)
        #expect(try String(contentsOfFile: path, encoding: .utf8) == key)
        let otherPath = self.folder.path + "/other.key"
        _ = try SessionKeyFile.prepareArguments(at: otherPath, environment: [:], extraArguments: [])
        #expect(try String(contentsOfFile: otherPath, encoding: .utf8) != key)
    }

    @Test func `a cluster makes no key if its user gives one`() throws {
        let path = self.folder.path + "/session.key"
        for (environment, extraArguments) in [
            (["LIVEPLAZA_SESSION_KEY": "a secret of the user"], []), (["LIVEPLAZA_SESSION_KEY_FILE": "key"], []),
            ([:], ["--session-key-file", "key"]), ([:], ["--session-key-file=key"]),
        ] as [([String: String], [String])] {
            let arguments = try SessionKeyFile.prepareArguments(
                at: path, environment: environment, extraArguments: extraArguments)
            #expect(arguments.isEmpty)
        }
        #expect(!FileManager.default.fileExists(atPath: path))
    }
}

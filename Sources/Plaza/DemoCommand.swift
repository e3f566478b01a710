// SPDX-License-Identifier: Apache-2.0
import Foundation
import LoadKit
import Settings

/// `plaza demo`: a short live evening with real clients, told and checked step by step.
enum DemoCommand: Subcommand {
    static let name = "demo"
    static let summary = "plays a short live evening against a running cluster and checks what each side sees"

    static func run(_ arguments: [String], environment: [String: String]) async throws -> Int32 {
        var reader = SettingsReader(
            program: "plaza demo",
            summary: "plays a short live evening against a running cluster with real clients: lives are listed and "
                + "joined, barrage flies, one is put out, two hosts connect and battle. Prints what each side sees, and "
                + "exits 1 at the first thing that is not as it should be.",
            arguments: arguments, environment: environment)
        let isLoop = reader.flag(
            "loop", help: "begin again, until it is stopped; an evening that fails is told and followed by the next")
        let access = try ClusterAccess.read(&reader)
        repeat {
            let failure = await Self.play(access)
            if let failure { Subcommands.complain("plaza demo: \(failure)") }
            guard isLoop else { return failure == nil ? 0 : 1 }
            try await Task.sleep(for: .seconds(failure == nil ? 1 : 5))
        } while true
    }

    /// One evening; gives what went wrong.
    private static func play(_ access: ClusterAccess) async -> String? {
        let name = "demo-" + String(UInt32.random(in: .min ... .max), radix: 36)
        let setting = Evening.Setting(
            addresses: access.gateways, name: name, token: { access.token($0, isServer: $1) }, say: Subcommands.say)
        // Through an existential error: the optimizer of Swift 6.3.1 crashes on a typed one that is caught here.
        let play: () async throws -> Void = { try await Evening(setting).play() }
        do {
            try await play()
            Subcommands.say("The evening was as it should be.")
            return nil
        } catch {
            return "\(error)"
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
import Foundation
import LoadKit
import Settings

/// `plaza demo`: plays the demo scenario with real clients, and prints and checks each step.
enum DemoCommand: Subcommand {
    static let name = "demo"
    static let summary = "plays a short live evening against a running cluster and checks what each side sees"
    static let help =
        "plays a short live evening against a running cluster with real clients: viewers list and join "
        + "lives and send barrage, a viewer is kicked, two hosts connect and battle. Prints what each side "
        + "sees, and exits 1 at the first difference from what is expected."

    static func run(_ reader: inout SettingsReader) async throws -> Int32 {
        let isLoop = reader.flag(
            "loop", help: "repeat the demo until it is stopped; a failure is printed, and the next evening begins")
        let access = try ClusterAccess.read(&reader)
        repeat {
            let failure = await Self.play(access)
            if let failure { Subcommands.complain("plaza demo: \(failure)") }
            guard isLoop else { return failure == nil ? 0 : 1 }
            try await Task.sleep(for: .seconds(failure == nil ? 1 : 5))
        } while true
    }

    /// Plays the scenario once.
    ///
    /// - Returns: the failure in words; nil if there was none.
    private static func play(_ access: ClusterAccess) async -> String? {
        let name = "demo-" + String(UInt32.random(in: .min ... .max), radix: 36)
        let setting = Scenario.Setting(
            addresses: access.gateways, name: name, token: { access.token($0, isServer: $1) }, say: Subcommands.say)
        // The optimizer of Swift 6.3.1 crashes when a typed error is caught here, so the error is existential.
        let play: () async throws -> Void = { try await Scenario(setting).play() }
        do {
            try await play()
            Subcommands.say("Every step went as expected.")
            return nil
        } catch {
            return "\(error)"
        }
    }
}

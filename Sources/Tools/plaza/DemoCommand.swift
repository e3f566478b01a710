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
        + "sees, and exits 1 at the first difference from what is expected. With --evening it checks nothing and "
        + "keeps four lives busy, to look at in the pages: guests on seats, a few messages a second, gifts of a "
        + "category that it adds to the app, and a battle of one to two minutes again and again. Whoever applies for "
        + "a seat in them is accepted, and in the battles of other lives each gift scores its price. At its end it "
        + "ends its lives; if it was killed, the next one continues them."

    static func run(_ reader: inout SettingsReader) async throws -> Int32 {
        let isLoop = reader.flag(
            "loop", help: "repeat the demo until it is stopped; a failure is printed, and the next evening begins")
        let isEvening = reader.flag("evening", help: "keep four lives busy until Ctrl-C, for whoever opens the pages")
        let minutes = reader.int(
            "minutes", default: 0, range: 0...100_000, help: "minutes that the evening lasts; 0: until it is stopped")
        let seed = reader.int(
            "seed", default: 1, range: 0...Int(Int32.max), help: "the evening's seed: who does what and when")
        let access = try ClusterAccess.read(&reader)
        if isEvening {
            return try await Self.playEvening(
                access, for: minutes == 0 ? nil : .seconds(60 * minutes), seed: UInt64(seed))
        }
        repeat {
            let failure = await Self.play(access)
            if let failure { Subcommands.printDiagnostic("plaza demo: \(failure)") }
            guard isLoop else { return failure == nil ? 0 : 1 }
            try await Task.sleep(for: .seconds(failure == nil ? 1 : 5))
        } while true
    }

    /// Plays the evening until it is over or a signal stops it.
    private static func playEvening(_ access: ClusterAccess, for duration: Duration?, seed: UInt64) async throws
        -> Int32
    {
        let setting = Scenario.Setting(
            addresses: access.gateways, name: String(UInt32.random(in: .min ... .max), radix: 36),
            token: { access.token($0, isServer: $1) }, say: Subcommands.printLine)
        let evening = try EveningRunner(setting, seed: seed)
        let signals = InterruptSignals()
        let playing = Task { await evening.play(for: duration) }
        let stopping = Task {
            _ = await signals.nextReason()
            playing.cancel()
        }
        await playing.value
        stopping.cancel()
        Subcommands.printLine("The evening is over.")
        return 0
    }

    /// Plays the scenario once.
    ///
    /// - Returns: the failure in words; nil if there was none.
    private static func play(_ access: ClusterAccess) async -> String? {
        let name = "demo-" + String(UInt32.random(in: .min ... .max), radix: 36)
        let setting = Scenario.Setting(
            addresses: access.gateways, name: name, token: { access.token($0, isServer: $1) },
            say: Subcommands.printLine)
        // The optimizer of Swift 6.3.1 crashes when a typed error is caught here. Therefore the closure throws any
        // error.
        let play: () async throws -> Void = { try await Scenario(setting).play() }
        do {
            try await play()
            Subcommands.printLine("Every step went as expected.")
            return nil
        } catch {
            return "\(error)"
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
import ChildProcess
import Concurrency
import Foundation
import KafkaClient
import MachineKit
import PlazaModel
import ServiceShell
import TestSupport
import Testing

/// Inputs that end the process.
///
/// All tests use the same group, so they run one at a time.
@Suite(.serialized, .timeLimit(.minutes(3)), .enabled(if: LiveKafka.isAvailable, "set KAFKA_HOME"))
struct DeadlyInputTests {
    /// Runs processes, and restarts each one that dies, as a supervisor does.
    private final class Supervised: Sendable {
        private struct State {
            var isStopping = false
            var deaths = 0
            var pids: [String: Int32] = [:]
        }

        private let state = ConditionVariable(State())
        private let threads: [DedicatedThread]

        /// How many processes have died.
        var deaths: Int { self.state.current.deaths }

        init(_ instances: [String], _ settings: KafkaSettings) {
            let program = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
                .appendingPathComponent("TallyService").path
            let state = self.state
            self.threads = instances.map { instance in
                DedicatedThread("supervisor") {
                    while !state.current.isStopping {
                        let process = try? TestProcess(
                            [program, settings.brokers, instance, "full", "\(ShellHarness.partitions)"],
                            environment: ["SWIFT_BACKTRACE": "enable=no"], errors: .nothing)
                        guard let process else {
                            Issue.record("\(program) cannot be started")
                            return
                        }
                        state.update { $0.pids[instance] = process.pid }
                        _ = process.end()
                        state.update { state in
                            state.pids[instance] = nil
                            state.deaths += 1
                        }
                        DedicatedThread.sleep(for: .milliseconds(100))
                    }
                }
            }
        }

        func stop() {
            let pids = self.state.update { state in
                state.isStopping = true
                return state.pids.values
            }
            for pid in pids { kill(pid, SIGKILL) }
            for thread in self.threads { thread.join() }
        }
    }

    @Test(arguments: [["one"], ["one", "two"]], ["deadly", "deadly alarm"])
    func `I16 an input or a due row that ends its owner is set aside, and service is back within 15 s`(
        instances: [String], text: String
    ) async throws {
        try await runOnDedicatedThread {
            // The test has its own broker, because its inputs must not end the shells of other tests.
            let kafka = try LiveKafka()
            defer { withExtendedLifetime(kafka) {} }
            let harness = try ShellHarness(.full, on: TopicBroker(kafka, clientID: "deadly"))
            let lives = MachineShellTests.lives("deadly", 12)
            let services = Supervised(instances, harness.settings)
            defer { services.stop() }
            for live in lives { try harness.say("before", in: live) }
            try harness.flush()
            _ = try harness.feed(of: Set(lives)) { $0.count == lives.count }
            for live in lives { try harness.say("with", in: live) }
            try harness.say(text, in: lives[0])
            for live in lives { try harness.say("after", in: live) }
            try harness.flush()
            let began = MonotonicClock.now
            let letters = try harness.records(of: .deadLetters, in: nil) { !$0.isEmpty }
            #expect(letters.count == 1)
            #expect(letters.allSatisfy { String(decoding: $0.value ?? [], as: UTF8.self).contains(text) })
            for live in lives { try harness.say("later", in: live) }
            try harness.flush()
            let numbers = try harness.feed(of: Set(lives)) { found in
                lives.dropFirst().allSatisfy { found[$0]?.contains(4) ?? false }
            }
            let outage = MonotonicClock.now - began
            for live in lives.dropFirst() { #expect(numbers[live] == [1, 2, 3, 4]) }
            #expect(services.deaths >= 3)
            print("\(instances.count) instances, \(text): back after \(outage.count) ms, \(services.deaths) deaths")
            #expect(outage < .seconds(15))
        }
    }
}

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
    private final class SupervisedProcesses: Sendable {
        private struct State {
            var isStopping = false
            var deathCount = 0
            var pids: [String: Int32] = [:]
        }

        private let state = ConditionVariable(State())
        private let threads: [DedicatedThread]

        /// How many processes have died.
        var deathCount: Int { self.state.current.deathCount }

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
                            state.deathCount += 1
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
    func `I16 an input or a due row that ends its owner is set aside, and the other lives are served again within 15 s`(
        instances: [String], text: String
    ) async throws {
        try await runOnDedicatedThread {
            // The test has its own broker, because its inputs must not end the shells of other tests.
            let kafka = try LiveKafka()
            defer { withExtendedLifetime(kafka) {} }
            let harness = try ShellHarness(.full, on: TopicBroker(kafka, clientID: "deadly"))
            let lives = MachineShellTests.lives("deadly", count: 12)
            let services = SupervisedProcesses(instances, harness.settings)
            defer { services.stop() }
            for live in lives { try harness.sendText("before", in: live) }
            try harness.flush()
            _ = try harness.readFeedNumbers(of: Set(lives)) { $0.count == lives.count }
            for live in lives { try harness.sendText("with", in: live) }
            try harness.sendText(text, in: lives[0])
            for live in lives { try harness.sendText("after", in: live) }
            try harness.flush()
            let start = MonotonicClock.now
            let deadLetters = try harness.readRecords(of: .deadLetters, in: nil) { !$0.isEmpty }
            #expect(deadLetters.count == 1)
            #expect(deadLetters.allSatisfy { String(decoding: $0.value ?? [], as: UTF8.self).contains(text) })
            // The fourth text of each live; the feed numbers a live's items from 1.
            for live in lives { try harness.sendText("later", in: live) }
            try harness.flush()
            let numbers = try harness.readFeedNumbers(of: Set(lives)) { found in
                lives.dropFirst().allSatisfy { found[$0]?.contains(4) ?? false }
            }
            let outage = MonotonicClock.now - start
            for live in lives.dropFirst() { #expect(numbers[live] == [1, 2, 3, 4]) }
            #expect(services.deathCount >= 3)
            print("\(instances.count) instances, \(text): back after \(outage.count) ms, \(services.deathCount) deaths")
            #expect(outage < .seconds(15))
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
import Concurrency
import KafkaClient
import Observability
import TestSupport
import Testing

@testable import ServiceShell

@Suite(.serialized) struct GroupSessionTimeoutTests {
    /// The lines that a log wrote.
    private final class Lines: Sendable {
        private let lines = Locked<[String]>([])
        var all: [String] { self.lines.withLock { $0 } }
        var log: Log {
            let sink: Log.Sink = { [lines] line in
                lines.withLock { $0.append(String(decoding: line, as: UTF8.self)) }
            }
            return Log(service: "test", level: .warning, sink: sink)
        }
    }

    private static let refusal = KafkaError(.sessionRefused, "", codeName: "INVALID_SESSION_TIMEOUT")

    @Test func `a refused session is followed by the brokers' default, and the setting is named once`() {
        let lines = Lines()
        let session = GroupSessionTimeout(first: .seconds(2))
        #expect(session.raiseIfRejected(Self.refusal, requested: .seconds(2), log: lines.log))
        #expect(session.timeout == .seconds(6))
        // Another consumer of the process that had asked for the same learns of the step, and takes none of its own.
        #expect(session.raiseIfRejected(Self.refusal, requested: .seconds(2), log: lines.log))
        #expect(session.timeout == .seconds(6))
        #expect(lines.all.count == 1)
        #expect(lines.all.allSatisfy { $0.contains("group.min.session.timeout.ms") && $0.contains("6000 ms") })
    }

    @Test func `refusals end at the longest session, which is then a failure like others`() {
        let lines = Lines()
        let session = GroupSessionTimeout(first: .seconds(2))
        var asked: [Duration] = [.seconds(2)]
        while asked.count < 20,
            session.raiseIfRejected(Self.refusal, requested: session.timeout, log: lines.log)
        {
            asked.append(session.timeout)
        }
        #expect(asked == GroupSessionTimeout.steps)
        #expect(session.timeout == GroupSessionTimeout.steps.last)
        #expect(lines.all.count == GroupSessionTimeout.steps.count - 1)
    }

    @Test func `no other failure makes the session longer`() {
        let lines = Lines()
        let session = GroupSessionTimeout(first: .seconds(2))
        for kind in [KafkaError.Kind.timedOut, .brokerDown, .fenced, .other] {
            #expect(!session.raiseIfRejected(KafkaError(kind, ""), requested: .seconds(2), log: lines.log))
        }
        #expect(session.timeout == .seconds(2) && lines.all.isEmpty)
    }

    @Test(.timeLimit(.minutes(2)), .enabled(if: LiveKafka.isAvailable, "set KAFKA_HOME"))
    func `a shell works on a broker with Kafka's own least session, and one warning says what to set there`() throws {
        let kafka = try LiveKafka(settings: ["group.min.session.timeout.ms": "6000"])
        let harness = try ShellHarness(
            .full, on: TopicBroker(kafka, clientID: "shell-test"))
        let live = MachineShellTests.lives("stock", 1)[0]
        let lines = Lines()
        let shell = harness.start("one", log: lines.log)
        try harness.say("x", in: live)
        try harness.flush()
        let numbers = try harness.feed(of: [live]) { ($0[live]?.count ?? 0) >= 1 }
        #expect(numbers[live] == [1])
        #expect(shell.shell.isReady)
        #expect(shell.stop())
        #expect(lines.all.count == 1, "\(lines.all)")
        #expect(lines.all.first?.contains("group.min.session.timeout.ms") == true)
    }
}

// SPDX-License-Identifier: Apache-2.0
import Concurrency
import KafkaClient
import Observability
import PlazaModel
import TestSupport
import Testing

@testable import ServiceShell

@Suite(.serialized) struct GroupSessionTests {
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
        let session = GroupSession(first: 2000)
        #expect(session.takesStep(after: Self.refusal, asked: 2000, log: lines.log))
        #expect(session.milliseconds == 6000)
        // Another consumer of the process that had asked for the same learns of the step, and takes none of its own.
        #expect(session.takesStep(after: Self.refusal, asked: 2000, log: lines.log))
        #expect(session.milliseconds == 6000)
        #expect(lines.all.count == 1)
        #expect(lines.all.allSatisfy { $0.contains("group.min.session.timeout.ms") && $0.contains("6000 ms") })
    }

    @Test func `refusals end at the longest session, which is then a failure like others`() {
        let lines = Lines()
        let session = GroupSession(first: 2000)
        var asked = [2000]
        while asked.count < 20,
            session.takesStep(after: Self.refusal, asked: session.milliseconds, log: lines.log)
        {
            asked.append(session.milliseconds)
        }
        #expect(asked == GroupSession.steps)
        #expect(session.milliseconds == GroupSession.steps.last)
        #expect(lines.all.count == GroupSession.steps.count - 1)
    }

    @Test func `no other failure makes the session longer`() {
        let lines = Lines()
        let session = GroupSession(first: 2000)
        for kind in [KafkaError.Kind.timedOut, .brokerDown, .fenced, .other] {
            #expect(!session.takesStep(after: KafkaError(kind, ""), asked: 2000, log: lines.log))
        }
        #expect(session.milliseconds == 2000 && lines.all.isEmpty)
    }

    @Test(.timeLimit(.minutes(2)), .enabled(if: LiveKafka.isAvailable, "set KAFKA_HOME"))
    func `a shell works on a broker with Kafka's own least session, and one warning says what to set there`() throws {
        let kafka = try LiveKafka(settings: ["group.min.session.timeout.ms": "6000"])
        let harness = try ShellHarness(
            .full, on: TopicBroker(kafka, clientID: "shell-test", partitions: ShellHarness.partitions))
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

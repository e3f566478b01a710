// SPDX-License-Identifier: Apache-2.0
import Concurrency
import KafkaClient
import Observability
import TestSupport
import Testing

@testable import ServiceShell

/// Tests of `GroupSessionTimeout`, which finds the shortest session timeout of consumers that the brokers accept.
///
/// In these tests it requests 2 s first. After each rejection it raises the timeout: to 6, 10, 30, and then 60 s.
@Suite(.serialized) struct GroupSessionTimeoutTests {
    /// The error with which a broker rejects a timeout below its `group.min.session.timeout.ms`.
    private static let rejection = KafkaError(.sessionTimeoutRejected, "", codeName: "INVALID_SESSION_TIMEOUT")

    @Test func `after a rejection the timeout is raised from 2 s to 6 s, and one warning names the brokers' setting`() {
        let lines = LogLines()
        let sessionTimeout = GroupSessionTimeout(first: .seconds(2))
        #expect(sessionTimeout.raiseIfRejected(Self.rejection, requested: .seconds(2), log: lines.log))
        #expect(sessionTimeout.timeout == .seconds(6))
        // The request of another consumer for 2 s is rejected, too. This consumer must use the timeout of 6 s, which is
        // not raised again.
        #expect(sessionTimeout.raiseIfRejected(Self.rejection, requested: .seconds(2), log: lines.log))
        #expect(sessionTimeout.timeout == .seconds(6))
        #expect(lines.all.count == 1)
        #expect(lines.all.allSatisfy { $0.contains("group.min.session.timeout.ms") && $0.contains("6000 ms") })
    }

    @Test func `the longest timeout is not raised, so its rejection is an error`() {
        let lines = LogLines()
        let sessionTimeout = GroupSessionTimeout(first: .seconds(2))
        var requested: [Duration] = [.seconds(2)]
        // `requested.count < 20` ends the loop if the timeout is raised without end.
        while requested.count < 20,
            sessionTimeout.raiseIfRejected(Self.rejection, requested: sessionTimeout.timeout, log: lines.log)
        {
            requested.append(sessionTimeout.timeout)
        }
        #expect(requested == GroupSessionTimeout.steps)
        #expect(sessionTimeout.timeout == GroupSessionTimeout.steps.last)
        #expect(lines.all.count == GroupSessionTimeout.steps.count - 1)
    }

    @Test func `errors that are not a rejection of the timeout do not raise it`() {
        let lines = LogLines()
        let sessionTimeout = GroupSessionTimeout(first: .seconds(2))
        for kind in [KafkaError.Kind.timedOut, .brokerDown, .fenced, .other] {
            #expect(!sessionTimeout.raiseIfRejected(KafkaError(kind, ""), requested: .seconds(2), log: lines.log))
        }
        #expect(sessionTimeout.timeout == .seconds(2) && lines.all.isEmpty)
    }

    @Test(.timeLimit(.minutes(2)), .enabled(if: RealKafka.isAvailable, "set KAFKA_HOME"))
    func `a shell works with a broker that accepts timeouts from 6 s on, and one warning names the broker's setting`()
        throws
    {
        let kafka = try RealKafka(settings: ["group.min.session.timeout.ms": "6000"])
        let harness = try ShellHarness(
            .full, on: TopicBroker(kafka, clientID: "shell-test"))
        let live = MachineShellTests.newLive("default-timeout")
        let lines = LogLines()
        let shell = harness.startShell("one", log: lines.log)
        try harness.sendText("x", in: live)
        try harness.flush()
        let numbers = try harness.waitForItems(1, in: live)
        #expect(numbers == [1], "the text is the first item of the feed")
        #expect(shell.machineShell.isReady)
        #expect(shell.stop())
        #expect(lines.all.count == 1, "\(lines.all)")
        #expect(lines.all.first?.contains("group.min.session.timeout.ms") == true)
    }
}

// SPDX-License-Identifier: Apache-2.0
import Concurrency
import KafkaClient
import MachineKit
import PlazaModel
import TestSupport
import Testing

@testable import ServiceShell

/// A shell whose sessions do not progress says so, ends them, and ends itself after the third in a minute.
@Suite(.serialized) struct StuckShellTests {
    @Test(.timeLimit(.minutes(1)), .enabled(if: LiveKafka.isAvailable, "set KAFKA_HOME"))
    func `a shell of which no append is answered ends after three sessions, and the next shell continues`() throws {
        let harness = try ShellHarness(.full)
        let live = MachineShellTests.lives("unanswered", 1)[0]
        let shell = harness.start("one", appendTimeout: { .zero })
        // A session commits its first batch in a transaction, and appends the second one.
        for number in 1...6 {
            try harness.sendTextAndWait("\(number)", in: live)
            if number < 6 { _ = try harness.readFeedNumbers(of: [live]) { ($0[live]?.count ?? 0) >= number || shell.hasEnded } }
        }
        #expect(shell.waitUntilEnded(timeout: .seconds(20)))
        let next = harness.start("two")
        let numbers = try harness.readFeedNumbers(of: [live]) { ($0[live]?.count ?? 0) >= 6 }
        #expect(numbers[live] == [1, 2, 3, 4, 5, 6])
        #expect(next.stop())
    }

    @Test(.timeLimit(.minutes(2)))
    func `a shell that cannot read a partition with work is not live, and begins a new session`() throws {
        let topics = try TopicBroker(isReal: false, clientID: "shell-test")
        let broker = try #require(topics.embedded)
        let harness = try ShellHarness(.embedded, on: topics)
        let live = MachineShellTests.lives("unreadable", 1)[0]
        let lines = LogLines()
        let shell = harness.start("one", log: lines.log)
        try harness.sendTextAndWait("1", in: live)
        _ = try harness.readFeedNumbers(of: [live]) { ($0[live]?.count ?? 0) >= 1 }
        let fault = RequestFault(kind: .fetch, code: .topicAuthorizationFailed)
        try fault.inject(into: broker, count: 100_000, delay: .zero)
        try harness.sendTextAndWait("2", in: live)
        #expect(shell.waitUntilNotLive(timeout: .seconds(20)))
        #expect(lines.waitUntilContains("No progress for 10 s", timeout: .seconds(10)))
        shell.shell.stop()
    }

    @Test(.timeLimit(.minutes(1)))
    func `a shell that cannot read its partitions stays live while they have no work`() throws {
        let topics = try TopicBroker(isReal: false, clientID: "shell-test")
        let broker = try #require(topics.embedded)
        let harness = try ShellHarness(.embedded, on: topics)
        let live = MachineShellTests.lives("readable", 1)[0]
        let shell = harness.start("one")
        try harness.sendTextAndWait("1", in: live)
        _ = try harness.readFeedNumbers(of: [live]) { ($0[live]?.count ?? 0) >= 1 }
        let fault = RequestFault(kind: .fetch, code: .topicAuthorizationFailed)
        try fault.inject(into: broker, count: 36, delay: .zero)
        #expect(!shell.waitUntilEnded(timeout: .seconds(15)))
        #expect(shell.shell.isLive)
        try harness.sendTextAndWait("2", in: live)
        let numbers = try harness.readFeedNumbers(of: [live]) { ($0[live]?.max() ?? 0) >= 2 }
        #expect(MachineShellTests.withoutRepeats(numbers[live] ?? []) == [1, 2])
        #expect(shell.stop())
    }
}

// SPDX-License-Identifier: Apache-2.0
import Concurrency
import KafkaClient
import MachineKit
import PlazaModel
import TestSupport
import Testing

@testable import ServiceShell

/// A shell whose sessions make no progress reports it, begins a new session, and ends after the third one in a minute.
///
/// Each text of a live becomes an item of the live's feed; the items are numbered from 1.
@Suite(.serialized) struct StuckShellTests {
    @Test(.timeLimit(.minutes(1)), .enabled(if: LiveKafka.isAvailable, "set KAFKA_HOME"))
    func `a shell whose appends are never answered in time ends after three sessions, and the next shell continues`()
        throws
    {
        let harness = try ShellHarness(.full)
        let live = MachineShellTests.lives("unanswered", count: 1)[0]
        let shell = harness.start("one", appendTimeout: { .zero })
        // A session commits its first batch in a transaction, and appends the second one.
        // After the third session the shell has ended, so the test does not wait for the sixth text.
        for number in 1...6 {
            try harness.sendTextAndWait("\(number)", in: live)
            if number < 6 {
                _ = try harness.readFeedNumbers(of: [live]) { ($0[live]?.count ?? 0) >= number || shell.hasEnded }
            }
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
        let live = MachineShellTests.lives("unreadable", count: 1)[0]
        let lines = LogLines()
        let shell = harness.start("one", log: lines.log)
        try harness.sendTextAndWait("1", in: live)
        _ = try harness.readFeedNumbers(of: [live]) { ($0[live]?.count ?? 0) >= 1 }
        let fault = RequestFault(kind: .fetch, code: .topicAuthorizationFailed)
        // All further fetches fail.
        try fault.inject(into: broker, count: 100_000, delay: .zero)
        try harness.sendTextAndWait("2", in: live)
        #expect(shell.waitUntilNotLive(timeout: .seconds(20)))
        // The shell logs this error when it ends the session and begins another.
        #expect(lines.waitUntilContains("No progress for 10 s", timeout: .seconds(10)))
        // Whether the shell ends in time is not tested here, because its fetches still fail.
        shell.shell.stop()
    }

    @Test(.timeLimit(.minutes(1)))
    func `a shell that cannot read its partitions stays live while they have no work`() throws {
        let topics = try TopicBroker(isReal: false, clientID: "shell-test")
        let broker = try #require(topics.embedded)
        let harness = try ShellHarness(.embedded, on: topics)
        let live = MachineShellTests.lives("readable", count: 1)[0]
        let shell = harness.start("one")
        try harness.sendTextAndWait("1", in: live)
        _ = try harness.readFeedNumbers(of: [live]) { ($0[live]?.count ?? 0) >= 1 }
        let fault = RequestFault(kind: .fetch, code: .topicAuthorizationFailed)
        // The next 36 fetches fail.
        try fault.inject(into: broker, count: 36, delay: .zero)
        #expect(!shell.waitUntilEnded(timeout: .seconds(15)))
        #expect(shell.shell.isLive)
        try harness.sendTextAndWait("2", in: live)
        let numbers = try harness.readFeedNumbers(of: [live]) { ($0[live]?.max() ?? 0) >= 2 }
        #expect(MachineShellTests.withoutRepeats(numbers[live] ?? []) == [1, 2])
        #expect(shell.stop())
    }
}

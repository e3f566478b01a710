// SPDX-License-Identifier: Apache-2.0
import Concurrency
import KafkaClient
import MachineKit
import Observability
import PlazaModel
import TestSupport
import Testing

@testable import ServiceShell

/// Tests of a shell whose sessions make no progress: it reports that, begins a new session, and ends after the third
/// one in a minute.
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
        // A session commits its first batch in a transaction, and appends the second one, which fails. Three sessions
        // thus take six texts. After the third session the shell has ended, so the test does not wait for the sixth
        // text.
        for number in 1...6 {
            try harness.sendTextAndWait("\(number)", in: live)
            if number < 6 {
                _ = try harness.readFeedNumbers(of: [live]) { ($0[live]?.count ?? 0) >= number || shell.hasEnded }
            }
        }
        #expect(shell.waitUntilEnded(timeout: .seconds(20)))
        let nextShell = harness.start("two")
        let numbers = try harness.readFeedNumbers(of: [live]) { ($0[live]?.count ?? 0) >= 6 }
        #expect(numbers[live] == [1, 2, 3, 4, 5, 6])
        #expect(nextShell.stop())
    }

    /// A shell that has processed the first text of a live, and whose next fetches then fail.
    private struct UnreadableInbox {
        let harness: ShellHarness
        let live: LiveKey
        let shell: RunningShell

        init(_ name: String, failingFetches: Int, log: Log = .none) throws {
            let topicBroker = try TopicBroker(isReal: false, clientID: "shell-test")
            let broker = try #require(topicBroker.embedded)
            let live = MachineShellTests.lives(name, count: 1)[0]
            self.live = live
            self.harness = try ShellHarness(.embedded, on: topicBroker)
            self.shell = self.harness.start("one", log: log)
            try self.harness.sendTextAndWait("1", in: live)
            _ = try self.harness.readFeedNumbers(of: [live]) { ($0[live]?.count ?? 0) >= 1 }
            let fault = RequestFault(kind: .fetch, code: .topicAuthorizationFailed)
            try fault.inject(into: broker, count: failingFetches, delay: .zero)
        }
    }

    @Test(.timeLimit(.minutes(2)))
    func `a shell that cannot read a partition begins a new session if it has work there, and stays live if not`()
        async
    {
        await ConcurrentCase.run([
            ConcurrentCase("without work") { try await runOnDedicatedThread { try Self.expectLiveWithoutWork() } },
            ConcurrentCase("with work") { try await runOnDedicatedThread { try Self.expectNewSessionWithWork() } },
        ])
    }

    private static func expectNewSessionWithWork() throws {
        let lines = LogLines()
        // All further fetches fail.
        let inbox = try UnreadableInbox("unreadable", failingFetches: 100_000, log: lines.log)
        let shell = inbox.shell
        try inbox.harness.sendTextAndWait("2", in: inbox.live)
        #expect(shell.waitUntilNotLive(timeout: .seconds(20)))
        // The shell logs this error when it ends the session and begins another.
        #expect(lines.waitUntilContains("No progress for 10 s", timeout: .seconds(10)))
        // Whether the shell ends in time is not tested here, because its fetches still fail.
        shell.machineShell.stop()
    }

    private static func expectLiveWithoutWork() throws {
        // The client pauses about 0.5 s after a failed fetch, so 36 of them last longer than the 15 s below.
        let inbox = try UnreadableInbox("readable", failingFetches: 36)
        let (harness, live, shell) = (inbox.harness, inbox.live, inbox.shell)
        #expect(!shell.waitUntilEnded(timeout: .seconds(15)))
        #expect(shell.machineShell.isLive)
        try harness.sendTextAndWait("2", in: live)
        let numbers = try harness.readFeedNumbers(of: [live]) { ($0[live]?.max() ?? 0) >= 2 }
        #expect(MachineShellTests.withoutRepeats(numbers[live] ?? []) == [1, 2])
        #expect(shell.stop())
    }
}

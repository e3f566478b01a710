// SPDX-License-Identifier: Apache-2.0
import Concurrency
import KafkaClient
import MachineKit
import Observability
import PlazaModel
import TestSupport
import Testing

@testable import ServiceShell

/// Tests of a shell (the loop that consumes inputs, decides and commits) whose sessions make no progress.
///
/// A session lasts from the shell's connection to the broker until an error. The shell reports that it makes no
/// progress, begins a new session, and ends after the third such session within a minute. Each text of a live becomes
/// an item of the live's feed, and the items are numbered from 1.
@Suite(.serialized) struct StuckShellTests {
    @Test(.timeLimit(.minutes(1)), .enabled(if: RealKafka.isAvailable, "set KAFKA_HOME"))
    func `a shell whose appends are never answered in time ends after three sessions, and the next shell continues`()
        throws
    {
        let harness = try ShellHarness(.full)
        let live = MachineShellTests.newLive("unanswered")
        let shell = harness.startShell("one", appendTimeout: { .zero })
        // Each text is a batch. A session commits its first batch in a transaction. It appends the second batch, does
        // not learn within the timeout of 0 whether this has succeeded, and ends. Therefore three sessions take six
        // texts. The third session ends the shell, so the test does not wait for the item of the sixth text.
        for number in 1...6 {
            try harness.sendTextAndWait("\(number)", in: live)
            if number < 6 {
                _ = try harness.readItemNumbers(of: [live]) { ($0[live]?.count ?? 0) >= number || shell.hasEnded }
            }
        }
        #expect(shell.waitUntilEnded(timeout: .seconds(20)))
        let nextShell = harness.startShell("two")
        let numbers = try harness.waitForItems(6, in: live)
        #expect(numbers == [1, 2, 3, 4, 5, 6])
        #expect(nextShell.stop())
    }

    /// A shell that has processed the text "1" of a live, and whose next `failingFetches` fetches fail.
    private struct FailingFetchFixture {
        let harness: ShellHarness
        let live: LiveKey
        let shell: RunningShell

        init(_ name: String, failingFetches: Int, log: Log = .none) throws {
            let topicBroker = try TopicBroker(isReal: false, clientID: "shell-test")
            let broker = try #require(topicBroker.embedded)
            let live = MachineShellTests.newLive(name)
            self.live = live
            self.harness = try ShellHarness(.embedded, on: topicBroker)
            self.shell = self.harness.startShell("one", log: log)
            try self.harness.sendTextAndWait("1", in: live)
            try self.harness.waitForItems(1, in: live)
            let fault = RequestFault(kind: .fetch, code: .topicAuthorizationFailed)
            try fault.inject(into: broker, count: failingFetches, delay: .zero)
        }
    }

    @Test(.timeLimit(.minutes(2)))
    func `a shell that cannot read a partition begins a new session if it has work there, and stays live if not`()
        async
    {
        await ConcurrentCase.run([
            ConcurrentCase("without work in the partition") {
                try await runOnDedicatedThread { try Self.expectShellStaysLiveWithoutWork() }
            },
            ConcurrentCase("with work in the partition") {
                try await runOnDedicatedThread { try Self.expectNewSessionWithWork() }
            },
        ])
    }

    private static func expectNewSessionWithWork() throws {
        let lines = LogLines()
        // This is more than the number of fetches during the test, so all of them fail.
        let fixture = try FailingFetchFixture("unreadable", failingFetches: 100_000, log: lines.log)
        let shell = fixture.shell
        try fixture.harness.sendTextAndWait("2", in: fixture.live)
        #expect(shell.waitUntilNotLive(timeout: .seconds(20)))
        // The shell logs this error when it ends the session and begins another.
        #expect(lines.waitUntilContains("No progress for 10 s", timeout: .seconds(10)))
        // The test does not wait for the shell's end, because the fetches still fail.
        shell.machineShell.stop()
    }

    private static func expectShellStaysLiveWithoutWork() throws {
        // The client pauses about 0.5 s after each failed fetch, so 36 fetches fail for about 18 s.
        let fixture = try FailingFetchFixture("readable", failingFetches: 36)
        let (harness, live, shell) = (fixture.harness, fixture.live, fixture.shell)
        // The text "1" was processed, so there is no work while the fetches fail.
        #expect(!shell.waitUntilEnded(timeout: .seconds(15)))
        #expect(shell.machineShell.isLive)
        // This text is read when the fetches succeed again.
        try harness.sendTextAndWait("2", in: live)
        let numbers = try harness.readItemNumbers(of: [live]) { ($0[live]?.max() ?? 0) >= 2 }
        #expect(MachineShellTests.withoutRepeats(numbers[live] ?? []) == [1, 2])
        #expect(shell.stop())
    }
}

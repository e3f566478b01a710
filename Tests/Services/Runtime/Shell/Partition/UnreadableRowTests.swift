// SPDX-License-Identifier: Apache-2.0
import KafkaClient
import Observability
import PlazaModel
import Testing

@testable import ServiceShell

/// Tests of a partition of a state topic with a row that the machine cannot read.
///
/// A row is a record of a state topic, here the state of one live. The machine is `TallyMachine`: each text of a live
/// becomes an item of the live's feed, and the live's row counts the items from 1.
@Suite(.serialized) struct UnreadableRowTests {
    @Test(.timeLimit(.minutes(1)))
    func `a partition with an unreadable row is served without this row, and reported until it is replaced`() throws {
        let harness = try ShellHarness(.embedded)
        let live = try #require(MachineShellTests.newLives("unreadable", count: 1).first)
        try harness.writeRow(Array("{nonsense".utf8), of: live)
        let shell = harness.startShell("one")
        try harness.sendText("a", in: live)
        try harness.flush()
        #expect(try harness.waitForItems(1, in: live) == [1], "the live begins anew")
        let partition = harness.partition(of: live, .barrageInbox).partition
        #expect(
            shell.machineShell.degradations
                == ["barrage serves partition \(partition) without 1 of its rows, which it cannot read"])
        #expect(shell.machineShell.isReady && shell.machineShell.isLive)
        let malformed = shell.metrics.counter(MetricNames.Shell.malformed, help: "", labels: ["machine": "barrage"])
        #expect(malformed.value == 1)
        #expect(shell.stop())
        #expect(shell.machineShell.degradations.isEmpty, "another instance may have the partition now")

        // The live's first item has replaced the row.
        let nextShell = harness.startShell("two")
        try harness.sendText("b", in: live)
        try harness.flush()
        #expect(try harness.waitForItems(2, in: live) == [1, 2])
        #expect(nextShell.machineShell.degradations.isEmpty)
        #expect(nextShell.stop())
    }
}

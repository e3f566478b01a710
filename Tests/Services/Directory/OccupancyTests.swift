// SPDX-License-Identifier: Apache-2.0
import MachineKit
import MachineTestSupport
import PlazaModel
import Testing

@testable import DirectoryCore

/// What follows from a live's occupancy: its status, and its automatic dismissal.
///
/// Presence, the machine that knows who is in a live, reports the occupancy. The owner is `left` if it has left or
/// never joined, and `offline` if its heartbeats have stopped.
@Suite struct OccupancyTests {
    /// Rules: R3.30.
    @Test func `a live is suspended while its owner is away, and the change is published to viewers`() throws {
        var directory = DirectoryHarness.withLive()
        var info = try #require(directory.liveRow).info
        #expect(info.status == .running)
        // Inputs 1 and 2 have created the live (epoch 2). This report is input 3 and changes nothing; the next report
        // is input 4, so the changed live has revision 4.
        #expect(directory.send(.occupancy(live: live, owner: .present, isEmpty: false)) == [])
        info.status = .suspended
        #expect(
            directory.send(.occupancy(live: live, owner: .offline, isEmpty: true)) == [
                .live(LiveRecord(app: app, info: info, epoch: 2, revision: 4)),
                .barrage(BarrageInput(key, .publish(content: .infoChanged(info: info, revision: 4)))),
            ])
        // A live that is suspended stays so when its owner, who was offline, is reported as `left`.
        #expect(directory.send(.occupancy(live: live, owner: .left, isEmpty: true)) == [])
        _ = directory.send(.occupancy(live: live, owner: .present, isEmpty: false))
        #expect(directory.liveRow?.info.status == .running)
        // A late report about a live that has ended has no effect.
        _ = directory.sendWithFollowUps(.end(live: live, caller: user("alice", call: 2)))
        #expect(directory.send(.occupancy(live: live, owner: .left, isEmpty: true)) == [])
    }

    /// A directory in which `caller` has created alice's live, in an app with a dismissal policy.
    private func directory(
        under dismissal: DismissalPolicy, createdBy caller: Caller = user("alice", call: 1)
    ) -> DirectoryHarness {
        var directory = DirectoryHarness()
        directory.machine = DirectoryMachine(policies: Policies([app: AppPolicy(dismissal: dismissal)]))
        _ = directory.sendWithFollowUps(.create(live: live, changes: LiveChanges(), owner: alice, caller: caller))
        return directory
    }

    /// The endings that the connection machine gets.
    private func endings(_ effects: [Effect]) -> [Ending] {
        effects.compactMap {
            guard case .connection(let input) = $0, case .ended(_, let ending) = input.command else { return nil }
            return ending
        }
    }

    /// Rules: R3.60.
    @Test func `I1 a live without users is ended after the time in the app's policy`() throws {
        var directory = self.directory(under: DismissalPolicy(afterNoUsersSeconds: 60))
        let creation = directory.now
        // The live stays empty for 59 seconds, then its owner joins.
        #expect(directory.advance(.seconds(59)) == [])
        _ = directory.send(.occupancy(live: live, owner: .present, isEmpty: false))
        #expect(directory.advance(.seconds(600)) == [])
        _ = directory.send(.occupancy(live: live, owner: .left, isEmpty: true))
        #expect(directory.advance(.seconds(30)) == [])
        // The live is reported as empty once more, which does not restart the time: 30 s + 29,999 ms + 1 ms = 60 s.
        _ = directory.send(.occupancy(live: live, owner: .left, isEmpty: true))
        #expect(directory.advance(Milliseconds(29_999)) == [])
        let effects = directory.advance(Milliseconds(1))
        let ending = Ending(
            reason: .endedByServer, caller: nil, epoch: 2, createdAt: creation, endedAt: directory.now)
        #expect(self.endings(effects) == [ending])
        #expect(directory.liveRow?.ended == .endedByServer)
        // The owner's claim is released, and the last machine that handles the end reports `closed`.
        _ = directory.send(.release(owner: "alice", live: live, thenReply: nil))
        _ = directory.send(.closed(live: live, epoch: 2))
        directory.expectInvariants()
        // The row of an ended live is removed after five minutes.
        #expect(directory.advance(.seconds(300)) == [.liveRemoved(key)])
    }

    @Test func `a live that nobody ever joined is ended too`() {
        var directory = self.directory(under: DismissalPolicy(afterNoUsersSeconds: 60))
        #expect(self.endings(directory.advance(.seconds(60))).count == 1)
    }

    /// Rules: R3.61.
    @Test func `a live whose owner left, or is offline, is ended after the policy's time for such an owner`() {
        let policy = DismissalPolicy(afterOwnerLeaveSeconds: 10, afterOwnerOfflineSeconds: 100)
        var directory = self.directory(under: policy)
        _ = directory.send(.occupancy(live: live, owner: .left, isEmpty: false))
        #expect(directory.advance(.seconds(9)) == [])
        _ = directory.send(.occupancy(live: live, owner: .present, isEmpty: false))
        _ = directory.send(.occupancy(live: live, owner: .offline, isEmpty: false))
        #expect(directory.advance(.seconds(99)) == [])
        #expect(self.endings(directory.advance(.seconds(1))).map(\.reason) == [.endedByServer])
        // In another directory with the same policy, the owner leaves instead.
        var directoryAfterLeave = self.directory(under: policy)
        _ = directoryAfterLeave.send(.occupancy(live: live, owner: .left, isEmpty: false))
        #expect(self.endings(directoryAfterLeave.advance(.seconds(10))).count == 1)
    }

    @Test func `a scheduled live is not ended under any policy until somebody has joined it`() {
        let policy = DismissalPolicy(
            afterNoUsersSeconds: 10, afterOwnerLeaveSeconds: 10, afterOwnerOfflineSeconds: 10)
        var directory = self.directory(under: policy, createdBy: server(call: 1))
        #expect(directory.advance(.seconds(100_000)) == [])
        // A viewer joins and leaves. Only then the policy's time for a live without users begins. The owner is reported
        // as `left`, because it has never joined.
        _ = directory.send(.occupancy(live: live, owner: .left, isEmpty: false))
        #expect(directory.advance(.seconds(100)) == [])
        _ = directory.send(.occupancy(live: live, owner: .left, isEmpty: true))
        #expect(self.endings(directory.advance(.seconds(10))).count == 1)
    }

    /// Rules: R3.59.
    @Test func `without a dismissal policy an empty live stays`() {
        var directory = DirectoryHarness.withLive()
        _ = directory.send(.occupancy(live: live, owner: .left, isEmpty: true))
        #expect(directory.advance(.seconds(1_000_000)) == [])
        #expect(directory.liveRow?.ended == nil)
    }

    @Test func `a live is not ended if the policy is removed before the policy's time has passed`() {
        var directory = self.directory(under: DismissalPolicy(afterNoUsersSeconds: 60))
        directory.machine = DirectoryMachine(policies: Policies())
        #expect(directory.advance(.seconds(60)) == [])
        #expect(directory.liveRow?.ended == nil)
        #expect(directory.liveRow?.dismissAt == nil)
    }
}

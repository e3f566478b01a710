// SPDX-License-Identifier: Apache-2.0
import CoreKit
import PlazaModel
import Testing

@testable import DirectoryCore

/// What follows from who is in a live: its status, and its end by itself.
@Suite struct OccupancyTests {
    @Test func `a live runs while its owner is here and is suspended while it is away, told to its viewers`() throws {
        var directory = DirectoryHarness.running()
        var info = try #require(directory.room).info
        #expect(info.status == .running)
        #expect(directory.send(.occupancy(live: live, owner: .present, isEmpty: false)) == [])
        info.status = .suspended
        #expect(
            directory.send(.occupancy(live: live, owner: .offline, isEmpty: true)) == [
                .room(RoomRecord(app: app, info: info, epoch: 2, revision: 4)),
                .barrage(BarrageInput(key, .tell(content: .infoChanged(info: info)))),
            ])
        #expect(directory.send(.occupancy(live: live, owner: .left, isEmpty: true)) == [])
        _ = directory.send(.occupancy(live: live, owner: .present, isEmpty: false))
        #expect(directory.room?.info.status == .running)
        _ = directory.settle(.end(live: live, caller: user("alice", 2)))
        #expect(directory.send(.occupancy(live: live, owner: .left, isEmpty: true)) == [])
    }

    /// Alice's live under a policy.
    private func running(_ dismissal: DismissalPolicy, by caller: Caller = user("alice", 1)) -> DirectoryHarness {
        var directory = DirectoryHarness()
        directory.machine = DirectoryMachine(policies: Policies([app: AppPolicy(dismissal: dismissal)]))
        _ = directory.settle(.create(live: live, changes: LiveChanges(), owner: alice, caller: caller))
        return directory
    }

    private func ended(_ effects: [Effect]) -> [Ending] {
        effects.compactMap {
            guard case .connection(let input) = $0, case .ended(_, let ending) = input.command else { return nil }
            return ending
        }
    }

    @Test func `I1 a live ends by itself when nobody has been in it for as long as the app says`() throws {
        var directory = self.running(DismissalPolicy(afterNoUsersSeconds: 60))
        let created = directory.now
        // Nobody has come yet, and then somebody does.
        #expect(directory.pass(.seconds(59)) == [])
        _ = directory.send(.occupancy(live: live, owner: .present, isEmpty: false))
        #expect(directory.pass(.seconds(600)) == [])
        _ = directory.send(.occupancy(live: live, owner: .left, isEmpty: true))
        #expect(directory.pass(.seconds(30)) == [])
        // Still nobody: told again, but since then.
        _ = directory.send(.occupancy(live: live, owner: .left, isEmpty: true))
        #expect(directory.pass(Milliseconds(29_999)) == [])
        let effects = directory.pass(Milliseconds(1))
        let ending = Ending(
            reason: .endedByServer, caller: nil, epoch: 2, createdAt: created, endedAt: directory.now)
        #expect(self.ended(effects) == [ending])
        #expect(directory.room?.ended == .endedByServer)
        _ = directory.send(.release(owner: "alice", live: live, thenReply: nil))
        _ = directory.send(.closed(live: live, epoch: 2))
        directory.expectSound()
        // The row goes later as that of any ended live.
        #expect(directory.pass(.seconds(300)) == [.roomGone(key)])
    }

    @Test func `a live that nobody ever entered ends by itself too`() {
        var directory = self.running(DismissalPolicy(afterNoUsersSeconds: 60))
        #expect(self.ended(directory.pass(.seconds(60))).count == 1)
    }

    @Test func `a live ends by itself when its owner has left, or is lost, for as long as the app says`() {
        let policy = DismissalPolicy(afterOwnerLeaveSeconds: 10, afterOwnerOfflineSeconds: 100)
        var directory = self.running(policy)
        _ = directory.send(.occupancy(live: live, owner: .left, isEmpty: false))
        #expect(directory.pass(.seconds(9)) == [])
        _ = directory.send(.occupancy(live: live, owner: .present, isEmpty: false))
        _ = directory.send(.occupancy(live: live, owner: .offline, isEmpty: false))
        #expect(directory.pass(.seconds(99)) == [])
        #expect(self.ended(directory.pass(.seconds(1))).map(\.reason) == [.endedByServer])
        var left = self.running(policy)
        _ = left.send(.occupancy(live: live, owner: .left, isEmpty: false))
        #expect(self.ended(left.pass(.seconds(10))).count == 1)
    }

    @Test func `a scheduled live waits for its owner, whatever the app says`() {
        let policy = DismissalPolicy(
            afterNoUsersSeconds: 10, afterOwnerLeaveSeconds: 10, afterOwnerOfflineSeconds: 10)
        var directory = self.running(policy, by: server(1))
        #expect(directory.pass(.seconds(100_000)) == [])
        // A viewer comes and goes: from then on it counts as empty.
        _ = directory.send(.occupancy(live: live, owner: .left, isEmpty: false))
        #expect(directory.pass(.seconds(100)) == [])
        _ = directory.send(.occupancy(live: live, owner: .left, isEmpty: true))
        #expect(self.ended(directory.pass(.seconds(10))).count == 1)
    }

    @Test func `without a rule of the app a live stays when all are gone`() {
        var directory = DirectoryHarness.running()
        _ = directory.send(.occupancy(live: live, owner: .left, isEmpty: true))
        #expect(directory.pass(.seconds(1_000_000)) == [])
        #expect(directory.room?.ended == nil)
    }

    @Test func `a rule that is gone when the time has come ends nothing`() {
        var directory = self.running(DismissalPolicy(afterNoUsersSeconds: 60))
        directory.machine = DirectoryMachine(policies: Policies())
        #expect(directory.pass(.seconds(60)) == [])
        #expect(directory.room?.ended == nil)
        #expect(directory.room?.dismissAt == nil)
    }
}

// SPDX-License-Identifier: Apache-2.0
import LoadKit
import MachineKit
import PlazaModel
import ProtocolClient
import Testing

/// Tests of the updates that a scenario's client keeps: those that a step did not wait for stay for later steps.
///
/// A leave tip is the feed item that says that a user has left. A step takes an update with `take(from: &index)`: the
/// search begins at `index`, and sets `index` to where the step's next search begins.
@Suite struct PendingUpdatesTests {
    private static func entry(_ number: Int64, _ content: FeedContent) -> FeedEntry {
        FeedEntry(n: number, at: Timestamp(milliseconds: 0), content: content)
    }

    private static func left(_ user: UserID) -> FeedContent { .audienceLeft(user: UserInfo(userID: user)) }

    /// The user of the first leave tip in an update; nil if the update has no leave tip.
    private static func leftUser(_ update: ClientUpdate) -> UserID? {
        guard case .feed(let entries, _) = update else { return nil }
        for entry in entries { if case .audienceLeft(let user) = entry.content { return user.userID } }
        return nil
    }

    @Test func `each leave tip of a frame is found once, even if two tips name the same user`() {
        var pending = PendingUpdates()
        let tips = [Self.left("bob"), Self.left("bob"), Self.left("eve")]
        let entries = tips.enumerated().map { Self.entry(Int64($0.offset) + 1, $0.element) }
        // No update was dropped.
        #expect(pending.add(.feed(entries, epoch: 1)) == 0)
        var users: [UserID] = []
        // The fourth search finds nothing.
        for _ in 0..<4 {
            var index = 0
            if let user = pending.take(from: &index, Self.leftUser) { users.append(user) }
        }
        #expect(users == ["bob", "bob", "eve"])
    }

    @Test func `an update that a step passes over stays for later steps, and the step does not look at it again`() {
        var pending = PendingUpdates()
        let joined = FeedContent.audienceJoined(user: UserInfo(userID: "ann"))
        _ = pending.add(.feed([Self.entry(1, joined), Self.entry(2, Self.left("bob"))], epoch: 1))
        var index = 0
        #expect(pending.take(from: &index, Self.leftUser) == "bob")
        // The step's next search begins after the join.
        #expect(index == 1)
        _ = pending.add(.feed([Self.entry(3, Self.left("bob"))], epoch: 1))
        #expect(pending.take(from: &index, Self.leftUser) == "bob")
        // Another step, which takes any update, finds the join.
        index = 0
        #expect(pending.take(from: &index) { $0 } == .feed([Self.entry(1, joined)], epoch: 1))
    }

    @Test func `beyond the capacity the oldest updates are dropped, and their number is returned`() {
        var pending = PendingUpdates()
        let entries = (1...Int64(PendingUpdates.maxCount) + 2).map { Self.entry($0, Self.left("bob")) }
        #expect(pending.add(.feed(entries, epoch: 1)) == 2)
        // Entries 0 and 1 were dropped.
        var index = 0
        #expect(pending.take(from: &index) { $0 } == .feed([entries[2]], epoch: 1))
    }
}

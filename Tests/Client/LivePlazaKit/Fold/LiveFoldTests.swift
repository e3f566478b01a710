// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel
import Testing

@testable import LivePlazaKit

/// A fold makes the states and events of a live's stores from feed items, and from snapshots that the client reads.
@Suite struct LiveFoldTests {
    private var fold = LiveFold(liveID: LiveID("concert"), selfID: UserID("bob"))

    private static func item(_ number: Int64, _ content: FeedContent) -> FoldInput {
        .item(FeedEntry(n: number, at: Timestamp(milliseconds: number * 1000), content: content))
    }

    private static func user(_ id: String) -> UserInfo { UserInfo(userID: UserID(id)) }

    private static func message(_ number: Int64) -> FoldInput {
        self.item(number, .text(sender: self.user("alice"), text: "message \(number)", extensionInfo: nil))
    }

    private static func audiencePage(_ users: [String]) -> Snapshot {
        let members = users.map { AudienceMember(user: self.user($0), joinedAt: Timestamp(milliseconds: 0)) }
        return .audience(AudiencePage(members: members, cursor: "", count: members.count))
    }

    private var audienceIDs: [String] { self.fold.states.audience.audienceList.map(\.userID) }

    @Test mutating func `a viewer who joins while the audience is read is in the list, and is announced once`() {
        self.fold.snapshotRequested(.audience)
        let events = self.fold.apply(Self.item(1, .audienceJoined(user: Self.user("carol"))))
        #expect(events.count == 1)
        let eventsOfRead = self.fold.snapshotRead(Self.audiencePage(["dave"]))
        #expect(eventsOfRead.isEmpty)
        #expect(self.audienceIDs == ["dave", "carol"])
    }

    @Test mutating func `a viewer who leaves while the audience is read is not in the list`() {
        self.fold.snapshotRequested(.audience)
        _ = self.fold.apply(Self.item(1, .audienceLeft(user: Self.user("dave"))))
        _ = self.fold.snapshotRead(Self.audiencePage(["dave", "erin"]))
        #expect(self.audienceIDs == ["erin"])
    }

    @Test mutating func `feed items from before a failed read are not applied to a later read`() {
        self.fold.snapshotRequested(.audience)
        _ = self.fold.apply(Self.item(1, .audienceJoined(user: Self.user("carol"))))
        self.fold.snapshotFailed(.audience)
        _ = self.fold.snapshotRead(Self.audiencePage(["dave"]))
        #expect(self.audienceIDs == ["dave"])
    }

    @Test mutating func `messages of the history come before newer messages, and the oldest messages are dropped`() {
        // The history, 1 and 2, arrives after two newer messages.
        for number: Int64 in [3, 4, 1, 2] { _ = self.fold.apply(Self.message(number)) }
        #expect(self.fold.states.barrage.messageList.map(\.sequence) == [1, 2, 3, 4])
        for number in 5...Int64(BarrageState.maxMessages + 2) { _ = self.fold.apply(Self.message(number)) }
        #expect(self.fold.states.barrage.messageList.count == BarrageState.maxMessages)
        #expect(self.fold.states.barrage.messageList.first?.sequence == 3)
    }

    @Test mutating func `a muted user may not send messages until the mute ends`() {
        let mute = FeedContent.messageDisabled(user: Self.user("bob"), isDisable: true, until: nil)
        _ = self.fold.apply(Self.item(1, mute))
        #expect(!self.fold.states.barrage.allowSendMessage)
        let unmute = FeedContent.messageDisabled(user: Self.user("bob"), isDisable: false, until: nil)
        _ = self.fold.apply(Self.item(2, unmute))
        #expect(self.fold.states.barrage.allowSendMessage)
    }
}

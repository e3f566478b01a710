// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel
import Testing

@testable import LivePlazaKit

/// How a fold makes the states and events of a live's stores.
///
/// Its inputs are feed items, and snapshots: parts of the live, such as the audience, that the client reads. Items that
/// arrive between the request for a snapshot and its result are applied to the snapshot again.
@Suite struct LiveFoldTests {
    /// The fold of the live `concert` at the client of the user `bob`.
    private var fold = LiveFold(liveID: LiveID("concert"), selfID: UserID("bob"))

    /// The feed item of this number.
    private static func item(_ number: Int64, _ content: FeedContent) -> FoldInput {
        .item(FeedEntry(n: number, at: Timestamp(milliseconds: number * 1000), content: content))
    }

    private static func user(_ id: String) -> UserInfo { UserInfo(userID: UserID(id)) }

    /// The feed item of this number with a chat message.
    private static func message(_ number: Int64) -> FoldInput {
        self.item(number, .text(sender: self.user("alice"), text: "message \(number)", extensionInfo: nil))
    }

    /// A snapshot of the audience with these users.
    private static func audiencePage(_ users: [String]) -> Snapshot {
        let members = users.map { AudienceMember(user: self.user($0), joinedAt: Timestamp(milliseconds: 0)) }
        return .audience(AudiencePage(members: members, cursor: "", count: members.count))
    }

    private var audienceIDs: [String] { self.fold.states.audience.audienceList.map(\.userID) }

    @Test mutating func `an info that was read does not undo a later change that was shown already`() {
        func details(_ notice: String, revision: Int64, viewers: Int) -> Snapshot {
            let info = PlazaModel.LiveInfo(liveID: "concert", liveOwner: Self.user("alice")) { $0.notice = notice }
            let count = LiveCount(
                live: "concert", count: 1, totalViewers: viewers, stale: false, at: Timestamp(milliseconds: 1))
            return .details(LiveDetails(info: info, epoch: 7, revision: revision, audience: count, stage: nil))
        }
        _ = self.fold.snapshotRead(details("old", revision: 3, viewers: 1))
        let changed = PlazaModel.LiveInfo(liveID: "concert", liveOwner: Self.user("alice")) { $0.notice = "new" }
        _ = self.fold.apply(Self.item(1, .infoChanged(info: changed, revision: 5)))
        // The gateway that answers has not read the change yet.
        _ = self.fold.snapshotRead(details("old", revision: 3, viewers: 9))
        #expect(self.fold.states.live.info.notice == "new")
        #expect(self.fold.states.live.info.totalViewerCount == 9)
        _ = self.fold.snapshotRead(details("newest", revision: 6, viewers: 9))
        #expect(self.fold.states.live.info.notice == "newest")
    }

    @Test mutating func `a viewer who joins while the audience is read is listed, and is announced once`() {
        self.fold.snapshotRequested(.audience)
        let events = self.fold.apply(Self.item(1, .audienceJoined(user: Self.user("carol"))))
        #expect(events.count == 1)
        // The snapshot does not have Carol yet.
        let eventsOfSnapshot = self.fold.snapshotRead(Self.audiencePage(["dave"]))
        #expect(eventsOfSnapshot.isEmpty)
        #expect(self.audienceIDs == ["dave", "carol"])
    }

    @Test mutating func `a viewer who leaves while the audience is read is not listed`() {
        self.fold.snapshotRequested(.audience)
        _ = self.fold.apply(Self.item(1, .audienceLeft(user: Self.user("dave"))))
        // The snapshot still has Dave.
        _ = self.fold.snapshotRead(Self.audiencePage(["dave", "erin"]))
        #expect(self.audienceIDs == ["erin"])
    }

    @Test mutating func `items that arrived during a failed read are not applied to the result of a later read`() {
        self.fold.snapshotRequested(.audience)
        _ = self.fold.apply(Self.item(1, .audienceJoined(user: Self.user("carol"))))
        self.fold.snapshotFailed(.audience)
        _ = self.fold.snapshotRead(Self.audiencePage(["dave"]))
        #expect(self.audienceIDs == ["dave"])
    }

    @Test mutating func `messages of the history come before newer messages, and the oldest messages are dropped`() {
        // The messages 1 and 2 are history, and arrive after the newer messages 3 and 4.
        for number: Int64 in [3, 4, 1, 2] { _ = self.fold.apply(Self.message(number)) }
        #expect(self.fold.states.barrage.messageList.map(\.sequence) == [1, 2, 3, 4])
        // Two more messages than the store keeps.
        for number in 5...Int64(BarrageState.maxMessages + 2) { _ = self.fold.apply(Self.message(number)) }
        #expect(self.fold.states.barrage.messageList.count == BarrageState.maxMessages)
        #expect(self.fold.states.barrage.messageList.first?.sequence == 3)
    }

    @Test mutating func `nobody speaks any more after missed items, until an item says so again`() {
        let speakers = [Speaker(user: UserID("carol"), level: 60)]
        _ = self.fold.apply(Self.item(1, .speaking(users: speakers)))
        #expect(self.fold.states.seat.speakingUsers == ["carol": 60])
        _ = self.fold.apply(.local(.itemsMissed))
        #expect(self.fold.states.seat.speakingUsers.isEmpty)
        _ = self.fold.apply(Self.item(5, .speaking(users: speakers)))
        #expect(self.fold.states.seat.speakingUsers == ["carol": 60])
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

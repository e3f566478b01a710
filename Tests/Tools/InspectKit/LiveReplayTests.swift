// SPDX-License-Identifier: Apache-2.0
import InspectKit
import MachineKit
import PlazaModel
import PlazaWire
import Testing

/// The records of a live, encoded as the services encode them.
struct InspectFixture {
    static let live = LiveKey("demo", "concert")
    /// How long a viewer without heartbeats stays in the live.
    static let lease = Milliseconds.seconds(90)
    /// The end of the window, which begins a minute earlier unless a test says otherwise.
    static let now = Timestamp(milliseconds: 1_700_000_600_000)

    private(set) var entries: [TopicEntry] = []
    private var offset: Int64 = 100

    /// The time `seconds` after the beginning of the window's last minute.
    static func at(_ seconds: Int64) -> Timestamp { Self.now - .seconds(60 - seconds) }

    /// The caller of a user's call, which is the session's request number `counter`.
    ///
    /// The ticket is nil in the call by which the user joins.
    static func caller(_ user: UserID, _ counter: Int64, ticket: Int64? = 1) -> Caller {
        Caller(
            user: UserInfo(userID: user), role: .user,
            request: RequestID(session: SessionID("s-\(user.text)"), counter: counter), replyTo: "gateway-1",
            ticket: ticket.map { Ticket($0) })
    }

    /// Adds the record that an effect becomes.
    ///
    /// - Returns: the record's offset.
    @discardableResult
    mutating func add(_ effect: Effect, at time: Timestamp) -> Int64 {
        let record = TopicRecord(effect)
        self.offset += 1
        self.entries.append(
            TopicEntry(
                record.topic, offset: self.offset, time: time, key: record.key, value: record.value,
                headers: Dictionary(record.headers.map { ($0.name, $0.value) }) { first, _ in first }))
        return self.offset
    }

    mutating func addCall(_ command: BarrageCommand, at time: Timestamp) {
        self.add(.barrage(BarrageInput(Self.live, command)), at: time)
    }

    mutating func addPresenceCommand(_ command: AudienceCommand, at time: Timestamp) {
        self.add(.audience(AudienceInput(Self.live, command)), at: time)
    }

    /// Adds a feed item with this number in epoch 77.
    mutating func addItem(_ number: Int64, _ content: FeedContent, at time: Timestamp) {
        let position = FeedPosition(epoch: 77, number: number)
        self.add(.feed(FeedItem(key: Self.live, position: position, at: time, content: content)), at: time)
    }

    mutating func addReply(to caller: Caller, _ outcome: Outcome, at time: Timestamp) {
        self.add(.reply(Reply(to: caller, app: "demo", outcome)), at: time)
    }

    mutating func append(_ entry: TopicEntry) { self.entries.append(entry) }

    /// The result of `plaza inspect` for the records in a window of time.
    func replay(_ window: ClosedRange<Timestamp> = Self.at(0)...Self.now) -> LiveReplay.Result {
        LiveReplay.run(Self.live, window: window, lease: Self.lease, entries: self.entries)
    }
}

/// Tests of the lines that `plaza inspect` shows for the records of a live.
///
/// A line is a feed item with its call, or a call that led to no item. Its scene is the state of the live at that time:
/// present users, seats, battle. `text(maxNames:)` names at most `maxNames` of the present users.
@Suite struct LiveReplayTests {
    private typealias Fixture = InspectFixture
    private static let alice = UserInfo(userID: "alice")

    @Test func `the line of an admitted message shows its author, position, class, call and delay`() throws {
        var fixture = Fixture()
        let caller = Fixture.caller("alice", 4)
        fixture.addPresenceCommand(.join(caller: Fixture.caller("alice", 1, ticket: nil)), at: Fixture.at(1))
        fixture.addCall(.sendText(text: "hello", extensionInfo: nil, caller: caller), at: Fixture.at(2))
        fixture.addItem(12, .text(sender: Self.alice, text: "hello", extensionInfo: nil), at: Fixture.at(3))
        fixture.addReply(
            to: caller, .success(result: .sent(position: FeedPosition(epoch: 77, number: 12))), at: Fixture.at(3))
        let line = try #require(fixture.replay().lines.first)
        #expect(fixture.replay().lines.count == 1)
        #expect(line.user == "alice" && line.feedClass == .barrage && line.content == "\"hello\"")
        #expect(line.position == FeedPosition(epoch: 77, number: 12) && line.delay == .seconds(1))
        // The call is the second record of the fixture, whose offsets begin at 101.
        #expect(line.callLocation == "barrage.inbox 0:102" && line.request?.counter == 4)
        #expect(line.scene.present == ["alice"])
        #expect(line.text(maxNames: 5).contains("77.12       barrage   alice  text  \"hello\""))
        #expect(line.text(maxNames: 5).contains("admitted after 1000 ms [barrage.inbox 0:102]; present 1 (alice)"))
        #expect(line.json.members["verdict"] == "admitted" && line.json.members["delayMilliseconds"] == 1000)
    }

    @Test func `the line of a message that the budget dropped or a mute rejected shows the reason`() throws {
        var fixture = Fixture()
        let (alice, bob) = (Fixture.caller("alice", 4), Fixture.caller("bob", 9))
        fixture.addCall(.sendText(text: "one", extensionInfo: nil, caller: alice), at: Fixture.at(2))
        fixture.addCall(.sendText(text: "two", extensionInfo: nil, caller: bob), at: Fixture.at(3))
        fixture.addReply(
            to: alice, .failure(error: ReplyError(.droppedByBudget, "the feed is full")), at: Fixture.at(3))
        fixture.addReply(to: bob, .failure(error: ReplyError(.userMuted, "you are muted")), at: Fixture.at(4))
        let lines = fixture.replay().lines
        try #require(lines.count == 2)
        #expect(lines[0].answer.verdict == .dropped && lines[0].position == nil)
        #expect(lines[0].text(maxNames: 0).contains("dropped: 60105 droppedByBudget, the feed is full after 1000 ms"))
        #expect(lines[1].text(maxNames: 0).contains("rejected: -2381 userMuted, you are muted"))
        #expect(lines[1].json.members["codeName"] == "userMuted" && lines[1].json.members["class"] == "barrage")
    }

    @Test func `the line of a message shows whether the gateway or the app's backend rejected it`() {
        var fixture = Fixture()
        fixture.addCall(.refused(why: .giftsOff, caller: Fixture.caller("alice", 1)), at: Fixture.at(1))
        fixture.addCall(
            .forbidden(
                error: ReplyError(.sensitiveWords, "no links"), isGift: true, caller: Fixture.caller("alice", 2)),
            at: Fixture.at(2))
        let lines = fixture.replay().lines
        #expect(lines.map(\.answer.why) == ["the gateway found: giftsOff", "the app's backend: no links"])
        #expect(lines.map(\.answer.code) == [.giftsOffInLive, .sensitiveWords])
        #expect(lines.map(\.feedClass) == [.barrage, .gift])
    }

    @Test func `without the replies, the feed's items show which messages were admitted`() {
        var fixture = Fixture()
        // The messages are an hour old, and the broker keeps replies for only ten minutes.
        let start = Fixture.now - .seconds(3600)
        for counter in 1...3 {
            fixture.addCall(
                .sendText(text: "again", extensionInfo: nil, caller: Fixture.caller("alice", Int64(counter))),
                at: start + .seconds(Int64(counter)))
        }
        // The feed has two of the three messages.
        fixture.addItem(1, .text(sender: Self.alice, text: "again", extensionInfo: nil), at: start + .seconds(1))
        fixture.addItem(2, .text(sender: Self.alice, text: "again", extensionInfo: nil), at: start + .seconds(2))
        let lines = fixture.replay(start...Fixture.now).lines
        #expect(lines.map(\.request?.counter) == [1, 2, 3])
        #expect(lines.map { $0.position?.number } == [1, 2, nil])
        #expect(lines.last?.answer.verdict == .unknown)
        #expect(lines.last?.answer.why.hasPrefix("not in the feed") == true)
    }

    @Test func `a call just before the window's end counts as unanswered, or as set aside if it is a dead letter`() {
        var fixture = Fixture()
        let caller = Fixture.caller("alice", 1)
        fixture.addCall(.sendText(text: "now", extensionInfo: nil, caller: caller), at: Fixture.now - .seconds(2))
        #expect(fixture.replay().lines.map(\.answer.why) == ["not answered yet"])
        // The dead letter of the call. The fixture's first record has the offset 101.
        let origin = DeadLetterOrigin(
            topic: "barrage.inbox", partition: 0, offset: 101, machine: "barrage", reason: "it traps")
        fixture.append(
            TopicEntry(
                .deadLetters, offset: 0, time: Fixture.now, key: "demo/concert", value: nil,
                headers: Dictionary(origin.headers.map { ($0.name, $0.value) }) { first, _ in first }))
        #expect(fixture.replay().lines.map(\.answer.verdict) == [.setAside])
        #expect(fixture.replay().lines.first?.answer.why == "it traps")
    }

    @Test func `only lines of the window are shown, and earlier records count for the scenes of these lines`() throws {
        var fixture = Fixture()
        // The window is the last 60 s, so this time is a minute before its beginning.
        let beforeWindow = Fixture.now - .seconds(120)
        let seat = Seat(
            index: 2, occupant: SeatUser(user: UserInfo(userID: "bob"), role: .generalUser, live: "concert"))
        let battle = BattleView(
            id: "b-6", extensionInfo: "", durationSeconds: 60, startTime: beforeWindow, endTime: Fixture.now,
            sides: [
                BattleSide(live: "concert", host: Self.alice, score: 30),
                BattleSide(live: "duet", host: UserInfo(userID: "bob"), score: 12, hasLeft: true),
            ])
        fixture.add(
            .stage(StageRecord(app: "demo", live: "concert", epoch: 77, revision: 5, seats: [seat], battle: battle)),
            at: beforeWindow)
        fixture.add(
            .count(CountRecord(app: "demo", live: "concert", epoch: 77, count: 3, totalViewers: 8, at: beforeWindow)),
            at: beforeWindow)
        fixture.addItem(1, .adminSet(user: "carol"), at: beforeWindow)
        fixture.addItem(2, .adminSet(user: "bob"), at: Fixture.at(10))
        let lines = fixture.replay().lines
        try #require(lines.count == 1)
        #expect(lines[0].user == "bob" && lines[0].feedClass == .control)
        // `present` counts joins and heartbeats, of which there are none; `shown` is the published count.
        #expect(
            lines[0].scene.text(maxNames: 5)
                == "present 0, shown 3; seats 2:bob; battle b-6 concert 30 : duet 12 (left)")
        #expect(lines[0].scene.json.members["battle"]?.members["id"] == "b-6")
    }

    @Test func `the records of other lives and other apps give no line`() {
        var fixture = Fixture()
        let otherLive = LiveKey("demo", "duet")
        fixture.add(
            .feed(
                FeedItem(
                    key: otherLive, position: FeedPosition(epoch: 77, number: 1), at: Fixture.now,
                    content: .tips(isDegraded: true))), at: Fixture.now)
        fixture.add(
            .barrage(BarrageInput(LiveKey("shop", "concert"), .summary(caller: Fixture.caller("x", 1)))),
            at: Fixture.now)
        #expect(fixture.replay().lines == [], "demo/duet and shop/concert are not demo/concert")
    }

    @Test func `control characters in texts of users are escaped`() {
        var fixture = Fixture()
        fixture.addItem(
            1, .text(sender: Self.alice, text: "a\u{1b}[2Jb\u{202e}c\u{9b}d", extensionInfo: nil), at: Fixture.now)
        #expect(fixture.replay().lines.map(\.content) == [#""a\u{1b}[2Jb\u{202e}c\u{9b}d""#])
    }

    @Test func `times are shown as the time of day in UTC`() {
        #expect(ClockText.time(Timestamp(milliseconds: 1_700_000_000_007)) == "22:13:20.007")
        #expect(ClockText.time(Timestamp(milliseconds: 0)) == "00:00:00.000")
    }
}

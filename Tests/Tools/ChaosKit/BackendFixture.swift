// SPDX-License-Identifier: Apache-2.0
import ChaosKit
import MachineKit
import PlazaModel

/// A small history in which the app's backend got what it must; tests change it to break a promise.
enum BackendFixture {
    private typealias History = HistoryFixture

    static let live = HistoryFixture.live
    static let carol = UserInfo(userID: "carol")

    /// The time of item and event number `number`.
    private static func at(_ number: Int64) -> Timestamp { Timestamp(milliseconds: 3_600_000 + number) }

    /// The history of `HistoryFixture` with seven more items before the live's end, and the events of the live at the
    /// backend, each once.
    ///
    /// The new items 4 to 10: Carol joins, the topic becomes `a`, Bob sends five roses, Carol takes a seat and leaves
    /// it, the topic becomes `b`, and Carol leaves the live.
    static func history() -> RoundHistory {
        var history = HistoryFixture.history()
        let end = LiveStatistics(totalGiftsSent: 5, totalGiftCoins: 15, totalMessageCount: 2)
        let steps = [
            History.text(1, "one"), History.text(2, "two"), History.endedBattle(3, score: 7),
            History.item(4, .audienceJoined(user: Self.carol)),
            History.item(5, .metadataChanged(set: ["topic": "a"], removed: [], revision: 1)),
            History.item(6, .gift(sender: History.bob, gift: History.rose, count: 5, receivers: [])),
            Self.stage(7, seat: Self.carol), Self.stage(8, seat: nil),
            History.item(9, .metadataChanged(set: ["topic": "b"], removed: [], revision: 2)),
            History.item(10, .audienceLeft(user: Self.carol)),
            History.item(11, .liveEnded(reason: .endedByHost, statistics: end)),
        ]
        history.feeds = ["alice", "eve"].map { FeedHistory(client: $0, live: Self.live, steps: steps) }
        history.calls.append(
            CallRecord(client: "bob", live: Self.live, .message("5 × rose of bob"), .acknowledged(number: 6)))
        history.calls.append(
            CallRecord(client: "host", live: Self.live, .metadata(key: "topic", value: "a"), .acknowledged()))
        history.calls.append(
            CallRecord(client: "host", live: Self.live, .metadata(key: "topic", value: "b"), .acknowledged()))
        history.battleReads = [BattleRead(battle: History.battle, hasEnded: true, scores: [Self.live: 7])]
        let side = BattleSide(live: Self.live, host: History.bob, score: 7)
        let contents: [WebhookContent] = [
            .roomCreated(info: LiveInfo(liveID: Self.live, liveOwner: History.bob), by: History.bob.userID),
            .battleCreated(
                battle: History.battle, from: side, to: [], durationMilliseconds: 9000, timeoutMilliseconds: 0,
                needResponse: false, extensionInfo: ""),
            .battleStarted(
                battle: History.battle, from: side, to: [], createdAt: Self.at(0), startTime: Self.at(0),
                endTime: Self.at(9)),
            .battleEnded(
                battle: History.battle, from: side, to: [], createdAt: Self.at(0), startTime: Self.at(0),
                endTime: Self.at(9), kind: .timeOver),
            .memberState(isOnline: true, cause: .enter, users: [Self.carol]),
            .metadataSet(values: ["topic": "a"], by: History.bob.userID),
            .seatsChanged(seats: [Self.seat(Self.carol)]), .seatsChanged(seats: [Self.seat(nil)]),
            .metadataSet(values: ["topic": "b"], by: History.bob.userID),
            .memberState(isOnline: false, cause: .leave, users: [Self.carol]),
            .roomEnded(info: nil, reason: .endedByHost, statistics: end),
        ]
        var requests = contents.enumerated().map { index, content in Self.event(Int64(index), content) }
        requests.insert(Self.question("q-5", count: 5), at: 6)
        history.backend = BackendHistory(requests: requests, log: Self.log(of: requests))
        return history
    }

    /// The findings after a change that breaks a promise.
    static func findings(_ breakPromise: (inout RoundHistory) -> Void) -> [String] {
        var history = Self.history()
        breakPromise(&history)
        return HistoryChecker.findings(in: history).map(\.description)
    }

    /// The request with event `offset` of partition 3, which arrived `offset` milliseconds after 01:00.
    static func event(
        _ offset: Int64, _ content: WebhookContent, _ answer: BackendRequest.Answer = .accepted
    ) -> BackendRequest {
        let event = WebhookEvent(LiveKey("demo", Self.live), at: Self.at(offset), content)
        return BackendRequest(
            .event(EventPlace(partition: 3, offset: offset), event), answer, at: Self.at(offset))
    }

    /// The question whether Bob may send `count` roses; with nil as `coins`, for the right price of 3 coins each.
    static func question(
        _ id: String, count: Int, coins: Int64? = nil, _ answer: BackendRequest.Answer = .accepted
    ) -> BackendRequest {
        let question = GiftQuestion(
            id: id, live: Self.live, sender: History.bob.userID, gift: History.rose.giftID, count: count,
            coins: coins ?? Int64(3 * count))
        return BackendRequest(.question(question), answer, at: Self.at(6))
    }

    /// A log of Kafka that has exactly the events of these requests.
    private static func log(of requests: [BackendRequest]) -> [BackendHistory.LoggedEvent] {
        requests.compactMap { request in
            guard case .event(let place, let event) = request.content else { return nil }
            return BackendHistory.LoggedEvent(place: place, event: event)
        }
    }

    private static func seat(_ user: UserInfo?) -> Seat {
        Seat(index: 0, occupant: user.map { SeatUser(user: $0, role: .generalUser, live: Self.live) })
    }

    /// A stage with one seat, after the battle has ended.
    private static func stage(_ number: Int64, seat user: UserInfo?) -> FeedHistory.Step {
        let record = StageRecord(
            app: "demo", live: Self.live, epoch: 1, revision: number, seats: [Self.seat(user)], battle: nil)
        return History.item(number, .stage(record: record, events: []))
    }
}

extension RoundHistory {
    /// The backend's requests.
    var backendRequests: [BackendRequest] {
        get { self.backend?.requests ?? [] }
        set { self.backend?.requests = newValue }
    }

    /// The events for the backend in Kafka's log.
    var loggedEvents: [BackendHistory.LoggedEvent] {
        get { self.backend?.log ?? [] }
        set { self.backend?.log = newValue }
    }

    /// The index of the first request with this event.
    func index(ofEvent offset: Int64) -> Int {
        self.backendRequests.firstIndex { request in
            if case .event(let place, _) = request.content { place.offset == offset } else { false }
        } ?? self.backendRequests.endIndex
    }

    /// Removes an event from the backend and from Kafka, as if a machine had not written it.
    mutating func removeEvent(_ offset: Int64) {
        self.backendRequests.remove(at: self.index(ofEvent: offset))
        self.loggedEvents.removeAll { $0.place.offset == offset }
    }

    /// Replaces the content of an event at the backend and in Kafka, as if a machine had written another one.
    mutating func replaceEvent(_ offset: Int64, by content: WebhookContent) {
        let request = BackendFixture.event(offset, content)
        self.backendRequests[self.index(ofEvent: offset)] = request
        guard case .event(let place, let event) = request.content else {
            preconditionFailure("the fixture has made no event: \(request)")
        }
        self.loggedEvents.removeAll { $0.place == place }
        self.loggedEvents.append(.init(place: place, event: event))
    }

    /// Replaces the content of event `target` by that of event `source`, as if a machine had written it twice.
    mutating func copyEvent(_ source: Int64, to target: Int64) {
        let request = self.backendRequests[self.index(ofEvent: source)]
        guard case .event(_, let event) = request.content else { preconditionFailure("no event: \(request)") }
        self.replaceEvent(target, by: event.content)
    }
}

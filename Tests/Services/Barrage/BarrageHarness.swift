// SPDX-License-Identifier: Apache-2.0
import MachineKit
import MachineTestSupport
import PlazaModel
import Testing

@testable import BarrageCore

let app: AppID = "demo"
let live: LiveID = "show"
let key = LiveKey(app, live)
/// The epoch of the live that `BarrageHarness` opens.
let epoch: Int64 = 7

/// A fan-out (the machine that writes the feeds) with one partition, to which tests send inputs directly.
typealias BarrageHarness = MachineHarness<BarrageMachine>

extension BarrageHarness {
    /// A fan-out in which the live `show` of the owner alice is open.
    ///
    /// - Parameters:
    ///   - budget: The feed items per second. Texts may use nine tenths of them (36 of 40), tips six tenths (24 of 40).
    ///   - messagesPerUserPerSecond: How many messages a user may send per second; the default is above every budget.
    ///   - hasWebhooks: Whether the app has a backend that gets webhook events.
    ///   - settings: The app's word list and gift catalogue.
    init(
        budget: Int = 40, messagesPerUserPerSecond: Int = 10_000, hasWebhooks: Bool = false,
        settings: AppSettings = AppSettings()
    ) {
        var policy = AppPolicy(feedBudget: budget, messagesPerUserPerSecond: messagesPerUserPerSecond)
        policy.hasWebhooks = hasWebhooks
        self.init(BarrageMachine(policies: Policies([app: policy])))
        self.machine.updateSettings(AppTable([AppRecord(app: app, revision: 1, settings: settings)]))
        _ = self.send(.opened(epoch: epoch, owner: "alice"))
    }

    /// Handles the due rows, then one input, and commits; returns the effects.
    mutating func send(_ command: BarrageCommand, to key: LiveKey = key) -> [Effect] {
        self.send(BarrageInput(key, command))
    }

    /// Advances the time; returns the effects of the rows that fell due.
    mutating func advance(milliseconds: Int64) -> [Effect] { self.advance(Milliseconds(milliseconds)) }

    /// Sends a text; returns the outcome in the reply.
    mutating func sendText(_ caller: Caller, _ text: String = "hi") -> Outcome? {
        self.send(.sendText(text: text, extensionInfo: nil, caller: caller)).outcome
    }

    /// Publishes a tip, the join of a viewer; returns whether the tip entered the feed.
    mutating func publishTip() -> Bool {
        let content = FeedContent.audienceJoined(user: UserInfo(userID: "gina"))
        return self.send(.publish(content: content)).items.contains { $0.content == content }
    }

    /// Publishes a control item, which announces bob as an admin; returns whether the item entered the feed.
    mutating func publishControl() -> Bool { !self.send(.publish(content: .adminSet(user: "bob"))).isEmpty }

    /// The row of the live's feed.
    var feed: FeedRow? {
        if case .feed(let row)? = self.rows[.feed(key)] { row.value } else { nil }
    }
}

/// The caller of call number `counter` in the user's only session; `user("bob", call: 2)` is bob in his call 2.
///
/// A call with the number of an earlier call is a repetition of that call. By default the caller has joined the live;
/// without a ticket (nil) the caller has not.
func user(_ id: UserID, call counter: Int64, ticket: Int64? = 100) -> Caller {
    Caller(
        user: UserInfo(userID: id), role: .user, request: RequestID(session: SessionID("s-\(id)"), counter: counter),
        replyTo: "gateway-1", ticket: ticket.map { Ticket($0) })
}

/// The caller of call number `counter` of the app's server.
func server(call counter: Int64) -> Caller {
    Caller(
        user: UserInfo(userID: "backend"), role: .server,
        request: RequestID(session: "s-backend", counter: counter), replyTo: "gateway-1")
}

extension [Effect] {
    /// The outcome in the reply; nil unless there is exactly one reply.
    var outcome: Outcome? {
        let outcomes = self.compactMap { if case .reply(let reply) = $0 { reply.outcome } else { nil } }
        return outcomes.count == 1 ? outcomes[0] : nil
    }

    /// The contents of the feed items among the effects.
    var contents: [FeedContent] { self.items.map(\.content) }
    /// The feed items among the effects.
    var items: [FeedItem] { self.compactMap { if case .feed(let item) = $0 { item } else { nil } } }
}

extension Outcome? {
    /// The code of an error.
    var code: ReplyCode? { if case .failure(let error)? = self { error.code } else { nil } }
    /// The retry hint of an error, in milliseconds.
    var retryAfter: Int64? { if case .failure(let error)? = self { error.retryAfter } else { nil } }
    /// The statistics in the result of a summary or an end.
    var statistics: LiveStatistics? {
        if case .success(.statistics(let statistics, _))? = self { statistics } else { nil }
    }
    /// The time of the statistics in the result of a summary.
    var summaryTime: Timestamp? { if case .success(.statistics(_, let at))? = self { at } else { nil } }
    /// Whether the call succeeded and its item has a position in the feed.
    var wasSent: Bool { if case .success(.sent)? = self { true } else { false } }
}

/// The ending of a live with the epoch `liveEpoch`, which lasted 600 s.
///
/// `caller` ended the live and gets the reply. Without a caller, the app's dismissal policy ended the live.
func ending(of liveEpoch: Int64 = epoch, for caller: Caller? = nil) -> Ending {
    Ending(
        reason: caller?.role == .user ? .endedByHost : .endedByServer, caller: caller, epoch: liveEpoch,
        createdAt: Timestamp(milliseconds: 400_000), endedAt: Timestamp(milliseconds: 1_000_000))
}

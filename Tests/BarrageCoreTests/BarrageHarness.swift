// SPDX-License-Identifier: Apache-2.0
import CoreKit
import PlazaModel
import Testing

@testable import BarrageCore

let app: AppID = "demo"
let live: LiveID = "show"
let key = LiveKey(app, live)
let epoch: Int64 = 7

/// One partition of the fan-out, fed by hand.
struct BarrageHarness {
    var machine: BarrageMachine
    var rows = BarrageRows()
    var now = Timestamp(milliseconds: 1_000_000)
    var offset: Int64 = 0

    /// A fan-out with alice's live open.
    init(budget: Int = 40, rate: Int = 10_000, hasWebhooks: Bool = false, settings: AppSettings = AppSettings()) {
        var policy = AppPolicy(feedBudget: budget, messagesPerUserPerSecond: rate)
        policy.hasWebhooks = hasWebhooks
        self.machine = BarrageMachine(policies: Policies([app: policy]))
        self.machine.take(AppTable([AppRecord(app: app, revision: 1, settings: settings)]))
        _ = self.send(.opened(epoch: epoch, owner: "alice"))
    }

    /// Feeds one input and gives what follows, after all that fell due before it.
    mutating func send(_ command: BarrageCommand, to key: LiveKey = key) -> [Effect] {
        var effects: [Effect] = []
        self.offset += 1
        let moment = Moment(now: self.now, offset: self.offset)
        self.machine.handleDue(in: &self.rows, at: moment, into: &effects)
        self.machine.handle(BarrageInput(key, command), in: &self.rows, at: moment, into: &effects)
        return effects
    }

    /// Lets time pass; gives what fell due.
    mutating func pass(_ milliseconds: Int64) -> [Effect] {
        self.now = self.now + Milliseconds(milliseconds)
        var effects: [Effect] = []
        self.machine.handleDue(in: &self.rows, at: Moment(now: self.now, offset: self.offset), into: &effects)
        return effects
    }

    /// Sends a text; gives its reply.
    mutating func text(_ caller: Caller, _ text: String = "hi") -> Outcome? {
        self.send(.sendText(text: text, extensionInfo: nil, caller: caller)).outcome
    }

    /// Tells a tip; whether it entered.
    mutating func tip() -> Bool {
        let content = FeedContent.audienceJoined(user: UserInfo(userID: "guest"))
        return self.send(.tell(content: content)).items.contains { $0.content == content }
    }

    /// Tells a control item; whether it entered.
    mutating func control() -> Bool { !self.send(.tell(content: .adminSet(user: "bob"))).isEmpty }

    var feed: FeedRow? {
        if case .feed(let row)? = self.rows[.feed(key)] { row.value } else { nil }
    }

    func expectSound(sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(self.machine.checkInvariants(self.rows) == [], sourceLocation: sourceLocation)
    }
}

/// A caller with a session of its own; a ticket as if it had joined.
func user(_ id: UserID, _ counter: Int64, ticket: Int64? = 100) -> Caller {
    Caller(
        user: UserInfo(userID: id), role: .user, request: RequestID(session: SessionID("s-\(id)"), counter: counter),
        replyTo: "gateway-1", ticket: ticket.map { Ticket($0) })
}

/// The app's own server.
func server(_ counter: Int64) -> Caller {
    Caller(
        user: UserInfo(userID: "backend"), role: .server,
        request: RequestID(session: "s-backend", counter: counter), replyTo: "gateway-1")
}

extension [Effect] {
    /// The one reply among them.
    var outcome: Outcome? {
        let outcomes = self.compactMap { if case .reply(let reply) = $0 { reply.outcome } else { nil } }
        return outcomes.count == 1 ? outcomes[0] : nil
    }

    /// What the items say that they write to feeds.
    var contents: [FeedContent] { self.items.map(\.content) }
    /// The items that they write to feeds.
    var items: [FeedItem] { self.compactMap { if case .feed(let item) = $0 { item } else { nil } } }
}

extension Outcome? {
    /// The code of a refusal.
    var code: ReplyCode? { if case .failure(let error)? = self { error.code } else { nil } }
    /// The hint of a refusal.
    var retryAfter: Int64? { if case .failure(let error)? = self { error.retryAfter } else { nil } }
    /// What a summary or an end gave.
    var statistics: LiveStatistics? {
        if case .success(.statistics(let statistics))? = self { statistics } else { nil }
    }
    /// Whether a message entered.
    var wasSent: Bool { if case .success(.sent)? = self { true } else { false } }
}

/// An end without a caller, of an incarnation that is no older than `epoch`.
func ending(_ epoch: Int64 = 7, _ caller: Caller? = nil) -> Ending {
    Ending(
        reason: .endedByHost, caller: caller, epoch: epoch, createdAt: Timestamp(milliseconds: 400_000),
        endedAt: Timestamp(milliseconds: 1_000_000))
}

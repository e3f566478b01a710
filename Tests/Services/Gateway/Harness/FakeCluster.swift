// SPDX-License-Identifier: Apache-2.0
import Concurrency
import GatewayCore
import MachineKit
import Observability
import PlazaModel
import PlazaWire
import Tokens
import Webhooks

@testable import Gateway

/// An in-memory cluster behind a real gateway.
///
/// The cluster receives the gateway's records, and writes feeds. It replies as the machines do, which decide commands
/// in the other four services.
final class FakeCluster: RecordSink, FeedSource {
    /// The state of the cluster, which tests read and change: what it has received and written, and how it behaves.
    struct State: Sendable {
        /// The records of each feed partition; a record's offset is its index.
        var feeds: [Int: [FeedRecord]] = [:]
        /// All replay requests of the gateway: requests to read missed feed items again for a client that resumes.
        var replayRequests: [ReplayRequest] = []
        /// Whether replay requests are answered immediately.
        var answersReplays = true
        /// The replay requests that are not answered yet.
        var replayQueue = ReplayQueue()
        /// The records that the gateway wrote.
        var records: [TopicRecord] = []
        /// The ticket of the last join, by which presence knows a user's membership; a test's first join gets 101.
        var lastTicket: Int64 = 100
        /// The number of the last item in the feed of each live.
        var lastNumber: [LiveKey: Int64] = [:]
        /// The lowest valid ticket of each kicked user.
        var floors: [UserKey: Ticket] = [:]
        /// The outcomes that each machine has recorded, by the machine's inbox and the id of the request.
        var outcomes: [PlazaTopic: [RequestID: Outcome]] = [:]
        /// The lives that presence does not know any more.
        var unknownLives: Set<LiveKey> = []
        /// Whether the machines reply to calls.
        var answersCalls = true
        /// Whether a feed partition counts as read up to its end as soon as the gateway begins to follow (read) it.
        var loadsPartitionsAtOnce = true
        /// The error with which the cluster rejects all records of the gateway; nil if the cluster accepts them.
        var sinkRejection: SinkRejection?
        /// The feed partitions that the gateway follows, in the order of its requests.
        var followedPartitions: [Int] = []
        /// The token of each record in `records`.
        ///
        /// A token is a number by which the gateway finds the record's call; 0 if the record belongs to no call.
        var recordTokens: [UInt64] = []
        /// The writer to a broker that gets the gateway's records instead of `records`; nil in most tests.
        var inboxes: InboxWriter?
    }

    static let app = AppID("demo")
    /// The number of partitions of each topic.
    static let partitionCount = 4
    /// The epoch of every live.
    ///
    /// A live that is created again with the same id gets another epoch. The feed token `10.5.4` means epoch 10, item
    /// 5, record offset 4; a token may lack the offset.
    static let epoch: Int64 = 10
    let gateway: Gateway
    let registry = MetricsRegistry()
    let state = Locked(State())
    /// The notice topic, which several gateways may share.
    let notices: NoticeTopic
    /// Wakes up a waiting test when the gateway writes a record or makes a request.
    let activity = WakeSignal()
    /// The feeds on a broker; nil if the feeds are in memory.
    private let brokerFeeds: BrokerFeeds?

    /// Creates a gateway and the cluster behind it.
    ///
    /// - Parameters:
    ///   - notices: The notice topic.
    ///   - feeds: The broker of the feeds; nil: the feeds are in memory.
    ///   - webhookClient: The client that asks the apps' backends whether messages and gifts are allowed.
    ///   - change: Changes the gateway's settings.
    /// - Throws: If the gateway cannot listen, or the broker cannot be used.
    init(
        notices: NoticeTopic = NoticeTopic(), feeds: BrokerFeeds.Broker? = nil, webhookClient: WebhookClient? = nil,
        _ change: (inout GatewaySettings) -> Void = { _ in }
    ) throws {
        self.notices = notices
        var settings = GatewaySettings(id: "gateway-1", shards: 2, partitions: Self.partitionCount)
        change(&settings)
        self.gateway = Gateway(
            settings, authenticator: try AppTokenAuthenticator(apps: Tokens.appsFile), webhookClient: webhookClient,
            registry: self.registry)
        self.brokerFeeds = try feeds.map { [gateway, registry] in try BrokerFeeds($0, gateway, registry) }
        self.notices.add(self.gateway)
        // The gateway fills its tables, such as the list of lives, from topics. There are no such topics here, so the
        // tables count as read up to their ends.
        self.gateway.tablesFilled()
        try self.gateway.start(
            sink: self, source: self.brokerFeeds?.feeds ?? self, replaySource: self.brokerFeeds?.replay ?? self)
    }

    deinit {
        self.gateway.stopImmediately()
        self.brokerFeeds?.stop()
    }

    /// The message in the reply to a call that the gateway has rejected by itself, without asking the app's backend.
    static let gatewayRejectionMessage = "rejected by the gateway"
    /// The reply to each request for an audience list; its time is arbitrary.
    static let emptyAudiencePage = CallResult.audience(
        page: AudiencePage(members: [], cursor: "", count: 0, at: Timestamp(milliseconds: 5)))
    /// The reply to each request for a live's summary; its values are arbitrary.
    static let summaryResult = CallResult.statistics(
        statistics: LiveStatistics(totalMessageCount: 3), at: Timestamp(milliseconds: 6))

    /// The key of a live of the test app.
    static func key(_ live: String) -> LiveKey { LiveKey(Self.app, LiveID(live)) }

    // MARK: Called by the gateway

    func write(_ record: TopicRecord, token: UInt64) throws(SinkRejection) {
        if let inboxes = self.state.withLock({ $0.inboxes }) { return try inboxes.write(record, token: token) }
        let (rejection, answersCalls) = self.state.withLock { state in
            if state.sinkRejection == nil {
                state.records.append(record)
                state.recordTokens.append(token)
            }
            return (state.sinkRejection, state.answersCalls)
        }
        if let rejection { throw rejection }
        self.activity.wakeUp()
        if answersCalls { self.answer(record) }
    }

    func follow(_ partition: Int, request: Int64) {
        let loadsAtOnce = self.state.withLock { state in
            state.followedPartitions.append(partition)
            return state.loadsPartitionsAtOnce
        }
        self.activity.wakeUp()
        if loadsAtOnce { self.markLoaded(partition) }
    }

    /// Tells the gateway that a feed partition has been read up to its end.
    func markLoaded(_ partition: Int) {
        let end = self.state.withLock { Int64($0.feeds[partition]?.count ?? 0) }
        self.gateway.feeds.partitionLoaded(partition, endOffset: end)
    }

    /// Does nothing, because the cluster also passes on the items of partitions that the gateway does not follow.
    func unfollow(_ partition: Int, request: Int64) {}

    // MARK: The machines

    /// Answers the command in a record in place of the machine that consumes the record's topic.
    ///
    /// A command is ignored if no test needs its answer.
    func answer(_ record: TopicRecord) {
        switch record.topic {
        case .audienceInbox:
            guard let input = record.audienceInput else { return }
            switch input.command {
            case .join(let caller): self.reply(caller, at: .audienceInbox) { self.join(input.key, caller) }
            case .leave(let caller):
                // A caller without a ticket is not in a live.
                self.reply(caller) {
                    caller.ticket == nil
                        ? .failure(error: ReplyError(.notInRoom, "you are not in the live")) : .success(result: .done)
                }
            case .profile(let caller): self.reply(caller) { .success(result: .done) }
            case .list(_, _, let caller): self.reply(caller) { .success(result: Self.emptyAudiencePage) }
            default: break
            }
        case .barrageInbox:
            guard let input = record.barrageInput else { return }
            switch input.command {
            case .sendText(let text, _, let caller):
                self.reply(caller) {
                    let content = FeedContent.text(sender: caller.user, text: text, extensionInfo: nil)
                    return .success(result: .sent(position: self.publish(input.key, content)))
                }
            case .sendGift(_, _, _, let caller), .sendCustom(_, _, let caller):
                self.reply(caller) { .success(result: .done) }
            // A call that the gateway itself has rejected.
            case .refused(let rejection, let caller):
                self.reply(caller) { .failure(error: ReplyError(rejection.code, Self.gatewayRejectionMessage)) }
            // A call that the app's backend has rejected.
            case .forbidden(let error, _, let caller): self.reply(caller) { .failure(error: error) }
            case .sendLikes(_, let caller): self.reply(caller) { .success(result: .done) }
            case .summary(let caller): self.reply(caller) { .success(result: Self.summaryResult) }
            default: break
            }
        case .userNotices:
            guard let notice = record.decoded(as: Notice.self) else { return }
            self.notices.write(notice)
        case .directoryInbox:
            guard let input = record.directoryInput else { return }
            switch input.command {
            case .create(let live, _, let owner, let caller):
                self.reply(caller, at: .directoryInbox) { self.create(live.text, owner: owner) }
            case .ban(_, _, _, _, let caller): self.reply(caller) { .success(result: .done) }
            default: break
            }
        default: break
        }
    }

    /// Replies with success to the caller of every record that the gateway has written.
    func answerAll() {
        for record in self.state.withLock({ $0.records }) where record.topic != .userNotices {
            guard let command = record.decoded(as: AnyCommand.self) else { continue }
            for caller in command.callers { self.reply(caller) { .success(result: .done) } }
        }
    }

    /// Decodes only the caller from an input of any machine: `{"command":{"NAME":{"caller":…}}}`.
    private struct AnyCommand: Decodable {
        struct Parameters: Decodable { var caller: Caller? }
        var command: [String: Parameters]
        var callers: [Caller] { self.command.values.compactMap(\.caller) }
    }

    /// Replies to a caller; a repeated call gets the same reply (I15 in docs/RULES.md, idempotent calls).
    ///
    /// The outcome is recorded under `machine`, the inbox of a machine, and the call's request id. A create and the
    /// join that belongs to it have the same request id. So their outcomes are recorded under two inboxes, those of the
    /// directory and of presence. All other outcomes are recorded under the default inbox, because no two of their
    /// calls have the same request id.
    func reply(_ caller: Caller, at machine: PlazaTopic = .barrageInbox, _ makeOutcome: () -> Outcome) {
        let recorded = self.state.withLock { $0.outcomes[machine]?[caller.request] }
        let outcome = recorded ?? makeOutcome()
        self.state.withLock { $0.outcomes[machine, default: [:]][caller.request] = outcome }
        self.gateway.received(Reply(to: caller, app: Self.app, outcome))
    }

    private func join(_ key: LiveKey, _ caller: Caller) -> Outcome {
        self.state.withLock { state in
            if state.unknownLives.contains(key) {
                return .failure(error: ReplyError(.noSuchRoomOnEntry, "there is no such live"))
            }
            let floor = state.floors[UserKey(key.app, caller.userID)]
            if let ticket = caller.ticket, let floor, ticket < floor {
                return .failure(error: ReplyError(.staleTicket, "kicked"))
            }
            state.lastTicket += 1
            return .success(
                result: .joined(ticket: Ticket(state.lastTicket), epoch: Self.epoch, confirmed: true))
        }
    }

    /// Gives the gateway the directory's record of a new live; returns the outcome that the create call gets.
    @discardableResult func create(_ live: String, owner: UserInfo = UserInfo(userID: "anna")) -> Outcome {
        let info = LiveInfo(liveID: LiveID(live), liveOwner: owner)
        self.gateway.received(LiveRecord(app: Self.app, info: info, epoch: Self.epoch, revision: 1))
        return .success(result: .live(info: info, epoch: Self.epoch))
    }

    /// Writes the next item to a feed and returns its position; the item's time is arbitrary.
    @discardableResult func publish(_ key: LiveKey, _ content: FeedContent) -> FeedPosition {
        let number = self.state.withLock { state in
            state.lastNumber[key, default: 0] += 1
            return state.lastNumber[key] ?? 0
        }
        let position = FeedPosition(epoch: Self.epoch, number: number)
        self.write(FeedItem(key: key, position: position, at: Timestamp(milliseconds: number), content: content))
        return position
    }

    /// Writes an item to its feed.
    ///
    /// If the feeds are in memory, the item is also passed to the gateway. The gateway reads feeds on a broker itself.
    func write(_ item: FeedItem) {
        if let brokerFeeds { return brokerFeeds.write(item) }
        let record = self.appendUncached(item)
        let partition = PlazaTopic.partition(of: item.key.text, among: FakeCluster.partitionCount)
        self.gateway.feeds.received([record], partition: partition, endOffset: (record.item.offset ?? 0) + 1)
    }

    /// Appends an item to the feed partition in memory without passing it to the gateway.
    ///
    /// - Returns: the record.
    @discardableResult func appendUncached(_ item: FeedItem) -> FeedRecord {
        let record = TopicRecord(.feed(item))
        guard let headers = FeedHeaders({ name in record.headers.first { $0.name == name }?.value }),
            let value = record.value
        else { preconditionFailure("the record of an item has no value or lacks headers: \(record)") }
        let partition = PlazaTopic.partition(of: item.key.text, among: FakeCluster.partitionCount)
        return self.state.withLock { state in
            let offset = Int64(state.feeds[partition]?.count ?? 0)
            let encoded = EncodedFeedItem(
                number: headers.position.number, feedClass: headers.feedClass, isEnd: headers.isEnd,
                readAt: MonotonicClock.now, offset: offset, bytes: value)
            let feedRecord = FeedRecord(key: item.key, epoch: headers.position.epoch, item: encoded)
            state.feeds[partition, default: []].append(feedRecord)
            return feedRecord
        }
    }

    /// Writes a text message of anna, the owner of most lives, as the next item of a feed.
    func publishText(_ key: LiveKey, _ text: String = "hello") {
        self.publish(key, .text(sender: UserInfo(userID: "anna"), text: text, extensionInfo: nil))
    }

    // MARK: For tests

    /// Waits for the gateway's next record or request; returns false after the deadline.
    func waitForActivity(before deadline: MonotonicTime) -> Bool {
        self.activity.wait(timeout: .milliseconds((deadline - MonotonicClock.now).count))
    }

    /// Waits until a record for which `find` returns a value has been written, and returns the value.
    ///
    /// The records of the whole test are searched, from the first one on.
    func waitForRecord<Value>(_ find: (TopicRecord) -> Value?) throws -> Value {
        let deadline = MonotonicClock.now + .seconds(10)
        while true {
            if let found = self.state.withLock({ state in state.records }).lazy.compactMap(find).first { return found }
            guard self.waitForActivity(before: deadline) else {
                throw WireClient.Failure(description: "no such record within 10 s")
            }
        }
    }

    /// Waits until the gateway follows at least one feed partition.
    func waitForFollowedPartition() throws {
        let deadline = MonotonicClock.now + .seconds(10)
        while self.state.withLock({ $0.followedPartitions.isEmpty }) {
            guard self.waitForActivity(before: deadline) else {
                throw WireClient.Failure(description: "no partition was followed within 10 s")
            }
        }
    }

    /// Returns the number of records that satisfy the predicate.
    func recordCount(_ condition: (TopicRecord) -> Bool) -> Int {
        self.state.withLock { $0.records }.filter(condition).count
    }

    /// Returns the sum of a metric's samples; if `label` is given, only of the samples with this value of a label.
    ///
    /// Traps if no metric has this name, because the name may be misspelt, or if the metric is not a number.
    func metric(_ name: String, label: String? = nil) -> Int {
        guard let family = self.registry.snapshot().first(where: { $0.name == name }) else {
            preconditionFailure("the gateway has no metric \(name)")
        }
        let samples = family.samples.filter { sample in
            label == nil || sample.labels.pairs.contains { $0.value == label }
        }
        return samples.reduce(0) { sum, sample in
            guard case .number(let value) = sample.value else { preconditionFailure("\(name) is no number") }
            return sum + Int(value)
        }
    }

    /// Returns how often the gateway has counted a refusal for a reason, from its metrics.
    func refusalCount(_ reason: RefusalReason) -> Int {
        self.metric(MetricNames.Gateway.refusals, label: reason.rawValue)
    }
}

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

/// An in-memory cluster behind a gateway: receives its records, replies as the machines do, and writes feeds.
final class FakeCluster: RecordSink, FeedSource {
    /// What the cluster has received and written, and how it behaves; tests read and change it.
    struct State: Sendable {
        /// The records of each feed partition; a record's offset is its index.
        var feeds: [Int: [FeedRecord]] = [:]
        /// The replay requests that were received.
        var replayRequests: [ReplayRequest] = []
        /// Whether replay requests are answered immediately.
        var answersReplays = true
        /// The replay requests that are not answered yet.
        var replayQueue = ReplayQueue()
        /// The records that the gateway wrote.
        var records: [TopicRecord] = []
        /// The ticket of the last join; the first join of a test gets ticket 101.
        var lastTicket: Int64 = 100
        /// The number of the last item in the feed of each live.
        var lastNumber: [LiveKey: Int64] = [:]
        /// The lowest tickets that kicked users may still use.
        var floors: [UserKey: Ticket] = [:]
        /// The outcomes of each machine, by its inbox.
        var outcomes: [PlazaTopic: [RequestID: Outcome]] = [:]
        /// The lives that presence does not know any more.
        var unknownLives: Set<LiveKey> = []
        /// Whether the machines reply to calls.
        var answersCalls = true
        /// Whether a partition counts as read up to its end as soon as the gateway follows it.
        var loadsPartitionsAtOnce = true
        /// The error with which the sink rejects all records.
        var sinkRefusal: SinkRefusal?
        /// The feed partitions that the gateway follows, in the order of its requests.
        var followedPartitions: [Int] = []
        /// The token of each record in `records`, by which the gateway finds the record's call; 0 if it has none.
        var recordTokens: [UInt64] = []
        /// Writes the gateway's records to a broker, for tests in which a broker is between the gateway and the
        /// machines; if it is set, `records` stays empty.
        var inboxes: InboxWriter?
    }

    static let app = AppID("demo")
    /// The number of partitions of each topic.
    static let partitionCount = 4
    /// The epoch of every live.
    ///
    /// The feed token `10.5.4` thus means epoch 10, item 5, record offset 4; a token may lack the offset.
    static let epoch: Int64 = 10
    let gateway: Gateway
    let registry = MetricsRegistry()
    let state = Locked(State())
    /// The notice topic, which several gateways may share.
    let notices: NoticeTopic
    /// Wakes up a waiting test when the gateway writes a record or makes a request.
    let activity = WakeSignal()
    /// The feeds on a broker, for tests that use one.
    private let brokerFeeds: BrokerFeeds?

    /// Creates a gateway and the cluster behind it.
    ///
    /// - Parameters:
    ///   - notices: The notice topic.
    ///   - feeds: The broker of the feeds; nil: the feeds are in memory.
    ///   - webhookClient: Asks the apps' backends before messages and gifts.
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
            settings, authenticator: try AppKeyAuthenticator(apps: Tokens.apps), webhookClient: webhookClient,
            registry: self.registry)
        self.brokerFeeds = try feeds.map { [gateway, registry] in try BrokerFeeds($0, gateway, registry) }
        self.notices.add(self.gateway)
        self.gateway.tablesFilled()
        try self.gateway.start(
            sink: self, source: self.brokerFeeds?.feeds ?? self, replaySource: self.brokerFeeds?.replay ?? self)
    }

    deinit {
        self.gateway.stopImmediately()
        self.brokerFeeds?.stop()
    }

    /// The message in the reply to a call that the gateway has rejected by itself, without asking the app's backend.
    static let gatewayRejectionMessage = "refused unasked"
    /// The reply to each request for an audience list; its time is arbitrary.
    static let emptyPage = CallResult.audience(
        page: AudiencePage(members: [], cursor: "", count: 0, at: Timestamp(milliseconds: 5)))
    /// The reply to each request for a live's summary; its values are arbitrary.
    static let summaryResult = CallResult.statistics(
        statistics: LiveStatistics(totalMessageCount: 3), at: Timestamp(milliseconds: 6))

    /// The key of a live of the test app.
    static func key(_ live: String) -> LiveKey { LiveKey(Self.app, LiveID(live)) }

    // MARK: Called by the gateway

    func write(_ record: TopicRecord, token: UInt64) throws(SinkRefusal) {
        if let inboxes = self.state.withLock({ $0.inboxes }) { return try inboxes.write(record, token: token) }
        let (refusal, answersCalls) = self.state.withLock { state in
            if state.sinkRefusal == nil {
                state.records.append(record)
                state.recordTokens.append(token)
            }
            return (state.sinkRefusal, state.answersCalls)
        }
        if let refusal { throw refusal }
        self.activity.wakeUp()
        if answersCalls { self.answer(record) }
    }

    func follow(_ partition: Int) {
        let loadsAtOnce = self.state.withLock { state in
            state.followedPartitions.append(partition)
            return state.loadsPartitionsAtOnce
        }
        self.activity.wakeUp()
        if loadsAtOnce { self.markLoaded(partition) }
    }

    /// Marks a partition as read up to its end.
    func markLoaded(_ partition: Int) {
        let end = self.state.withLock { Int64($0.feeds[partition]?.count ?? 0) }
        self.gateway.feeds.partitionLoaded(partition, endOffset: end)
    }

    /// Does nothing: the cluster passes on the items of unfollowed partitions, too.
    func unfollow(_ partition: Int) {}

    // MARK: The machines

    /// Answers the command in a record as its machine does; commands that no test needs answered are ignored.
    func answer(_ record: TopicRecord) {
        guard let value = record.value else { return }
        switch record.topic {
        case .audienceInbox:
            guard let input = try? Wire.decode(AudienceInput.self, from: value) else { return }
            switch input.command {
            case .join(let caller): self.reply(caller, at: .audienceInbox) { self.join(input.key, caller) }
            case .leave(let caller):
                // A caller without a ticket is in no live.
                self.reply(caller) {
                    caller.ticket == nil
                        ? .failure(error: ReplyError(.notInRoom, "you are not in the live")) : .success(result: .done)
                }
            case .profile(let caller): self.reply(caller) { .success(result: .done) }
            case .list(_, _, let caller): self.reply(caller) { .success(result: Self.emptyPage) }
            default: break
            }
        case .barrageInbox:
            guard let input = try? Wire.decode(BarrageInput.self, from: value) else { return }
            switch input.command {
            case .sendText(let text, _, let caller):
                self.reply(caller) {
                    let content = FeedContent.text(sender: caller.user, text: text, extensionInfo: nil)
                    return .success(result: .sent(position: self.publish(input.key, content)))
                }
            case .sendGift(_, _, _, let caller), .sendCustom(_, _, let caller):
                self.reply(caller) { .success(result: .done) }
            // The gateway's own rejection of a call; `forbidden` is the one of the app's backend.
            case .refused(let rejection, let caller):
                self.reply(caller) { .failure(error: ReplyError(rejection.code, Self.gatewayRejectionMessage)) }
            case .forbidden(let error, _, let caller): self.reply(caller) { .failure(error: error) }
            case .sendLikes(_, let caller): self.reply(caller) { .success(result: .done) }
            case .summary(let caller): self.reply(caller) { .success(result: Self.summaryResult) }
            default: break
            }
        case .userNotices:
            guard let notice = try? Wire.decode(Notice.self, from: value) else { return }
            self.notices.write(notice)
        case .directoryInbox:
            guard let input = try? Wire.decode(DirectoryInput.self, from: value) else { return }
            switch input.command {
            case .create(let live, _, let owner, let caller):
                self.reply(caller, at: .directoryInbox) { self.create(live.text, owner: owner) }
            case .ban(_, _, _, _, let caller): self.reply(caller) { .success(result: .done) }
            default: break
            }
        default: break
        }
    }

    /// Replies with success to every caller whose record was received; each gets one reply.
    func answerAll() {
        for record in self.state.withLock({ $0.records }) {
            guard let value = record.value, let command = try? Wire.decode(AnyCommand.self, from: value) else {
                continue
            }
            for caller in command.callers { self.reply(caller) { .success(result: .done) } }
        }
    }

    /// Decodes only the caller of a record of any inbox: `{"command":{"NAME":{"caller":…}}}`.
    private struct AnyCommand: Decodable {
        struct Parameters: Decodable { var caller: Caller? }
        var command: [String: Parameters]
        var callers: [Caller] { self.command.values.compactMap(\.caller) }
    }

    /// Replies to a caller; a repeated call gets the same reply (I15, idempotent calls).
    ///
    /// `machine` names the record of outcomes that is used, by the inbox of a machine. A create and the join that
    /// belongs to it have the same request id, so the directory and presence must record their outcomes apart. The
    /// outcomes of all other calls share the default record, whichever machine decides them.
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

    /// Creates a live in the directory's table; returns the outcome of the create call.
    @discardableResult func create(_ live: String, owner: UserInfo = UserInfo(userID: "anna")) -> Outcome {
        let info = LiveInfo(liveID: LiveID(live), liveOwner: owner)
        self.gateway.received(LiveRecord(app: Self.app, info: info, epoch: Self.epoch, revision: 1))
        return .success(result: .live(info: info, epoch: Self.epoch))
    }

    /// Writes the next item to a feed; its time is arbitrary.
    @discardableResult func publish(_ key: LiveKey, _ content: FeedContent) -> FeedPosition {
        let number = self.state.withLock { state in
            state.lastNumber[key, default: 0] += 1
            return state.lastNumber[key] ?? 0
        }
        let position = FeedPosition(epoch: Self.epoch, number: number)
        self.write(FeedItem(key: key, position: position, at: Timestamp(milliseconds: number), content: content))
        return position
    }

    /// Writes a feed record; without a broker, passes it to the gateway as the feed thread does.
    func write(_ item: FeedItem) {
        if let brokerFeeds { return brokerFeeds.write(item) }
        guard let record = self.appendUncached(item) else { return }
        let partition = PlazaTopic.partition(of: item.key.text, among: FakeCluster.partitionCount)
        self.gateway.feeds.received([record], partition: partition, endOffset: (record.item.offset ?? 0) + 1)
    }

    /// Appends an item to the feed partition in memory without passing it to the gateway; nil if it has no headers.
    func appendUncached(_ item: FeedItem) -> FeedRecord? {
        let record = TopicRecord(.feed(item))
        guard let headers = FeedHeaders({ name in record.headers.first { $0.name == name }?.value }),
            let value = record.value
        else { return nil }
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

    /// Writes a text message of anna to a feed.
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

    /// Waits until the gateway follows a feed partition.
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

    /// Returns the sum of a metric over all its labels; 0 if there is no such metric.
    func metric(_ name: String) -> Int {
        let family = self.registry.snapshot().first { $0.name == name }
        return (family?.samples ?? []).reduce(0) { sum, sample in
            if case .number(let value) = sample.value { sum + Int(value) } else { sum }
        }
    }

    /// Returns the number of refusals for a reason, from the metrics.
    func refusalCount(_ reason: RefusalReason) -> Int {
        let family = self.registry.snapshot().first { $0.name == "gateway_refusals_total" }
        let sample = family?.samples.first { $0.labels.pairs.contains { $0.value == reason.rawValue } }
        if case .number(let value)? = sample?.value { return Int(value) }
        return 0
    }

    /// Connects a client and makes its login; returns the client and the outcome, which may be a failure.
    ///
    /// A client that continues a session needs a `firstID` above the ids of its earlier calls: a call with the id of an
    /// earlier call is a repetition of that call. `receiveBuffer` is the size of its socket's receive buffer in bytes.
    func client(
        _ user: String, session: String? = nil, resume: ResumePoint? = nil, notices: String? = nil, firstID: Int64 = 1,
        receiveBuffer: Int32? = nil, role: TokenRole = .user
    ) throws -> (client: WireClient, login: Outcome) {
        let client = try WireClient(port: self.gateway.port, firstID: firstID, receiveBuffer: receiveBuffer)
        let params = LoginParams(
            token: Tokens.token(user, role: role), session: session, resume: resume, notices: notices)
        return (client, try client.call("login", String(decoding: Wire.encode(params), as: UTF8.self)))
    }

    /// Returns a client that has joined a live.
    func viewer(_ user: String, of live: String, session: String? = nil, receiveBuffer: Int32? = nil) throws
        -> WireClient
    {
        let (client, _) = try self.client(user, session: session, receiveBuffer: receiveBuffer)
        guard case .success(.joined) = try client.call("live.join", "{\"live\":\"\(live)\"}") else {
            throw WireClient.Failure(description: "\(user) could not join \(live)")
        }
        return client
    }

    /// Valid tokens of the two test apps.
    enum Tokens {
        /// The JSON file with the apps' keys.
        static let apps = Array(
            """
            {"apps":{"demo":{"keys":[{"kid":"k1","alg":"HS256","k":"\(key)"}]},
            "other":{"keys":[{"kid":"k2","alg":"HS256","k":"\(otherKey)"}]}}}
            """.utf8)
        static let key = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"
        static let otherKey = "ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8"

        /// A token that expires in `secondsFromNow`; empty if it cannot be signed, so that the login fails.
        static func token(
            _ user: String, app: String = "demo", role: TokenRole = .user, name: String? = nil,
            secondsFromNow: Int64 = 600
        ) -> String {
            let claims = TokenClaims(
                app: app, user: user, expires: WallClock.milliseconds() / 1000 + secondsFromNow, role: role, name: name
            )
            guard let keyring = try? AppKeyring(json: Self.apps), let key = keyring.signingKey(for: app),
                let token = try? TokenSigner.sign(claims, with: key)
            else { return "" }
            return token
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
import Concurrency
import CoreKit
import Dispatch
import GatewayCore
import Observability
import PlazaModel
import PlazaWire
import Tokens
import Webhooks

@testable import Gateway

/// All that stands behind a gateway, in memory: takes its records, answers as the machines do, writes feeds.
final class FakeCluster: RecordSink, FeedSource {
    struct State: Sendable {
        /// The feed partitions, as Kafka keeps them.
        var feeds: [Int: [FeedRecord]] = [:]
        /// Questions about the past that were asked, and whether they are answered at once.
        var questions: [ReplayRequest] = []
        var answersPast = true
        var past = ReplayQueue()
        var records: [TopicRecord] = []
        var lastTicket: Int64 = 100
        var lastNumber: [LiveKey: Int64] = [:]
        var floors: [UserKey: Ticket] = [:]
        var outcomes: [RequestID: Outcome] = [:]
        var answers = true
        var loadsAtOnce = true
        var refusal: SinkRefusal?
        var followed: [Int] = []
        var tokens: [UInt64] = []
        /// Takes records instead, where a test wants a broker between the gateway and the machines.
        var inboxes: InboxWriter?
    }

    static let app = AppID("demo")
    static let epoch: Int64 = 10
    let gateway: Gateway
    let registry = MetricsRegistry()
    let state = Locked(State())
    /// The topic of notices, which several gateways may share.
    let notices: NoticeTopic
    let arrived = DispatchSemaphore(value: 0)
    /// Feeds on a broker, where a test wants that.
    private let live: LiveFeeds?

    /// A gateway with all that stands behind it.
    ///
    /// - Parameters:
    ///   - notices: the topic of notices.
    ///   - feeds: where feeds are written and read: in memory, or on a broker.
    ///   - asker: asks the apps' backends before messages and gifts, where a test wants that.
    ///   - change: what the gateway is told.
    /// - Throws: when it cannot listen, or the broker cannot be used.
    init(
        notices: NoticeTopic = NoticeTopic(), feeds: LiveFeeds.Broker? = nil, asker: HookAsker? = nil,
        _ change: (inout GatewaySettings) -> Void = { _ in }
    ) throws {
        self.notices = notices
        var settings = GatewaySettings(id: "gateway-1", shards: 2, partitions: 4)
        change(&settings)
        self.gateway = Gateway(
            settings, gate: try AppsGate(apps: Tokens.apps), asker: asker, registry: self.registry)
        self.live = try feeds.map { [gateway, registry] in try LiveFeeds($0, gateway, registry) }
        self.notices.add(self.gateway)
        self.gateway.tablesFilled()
        try self.gateway.start(sink: self, source: self.live?.feeds ?? self, past: self.live?.past ?? self)
    }

    deinit {
        self.gateway.cut()
        self.live?.stop()
    }

    static func key(_ live: String) -> LiveKey { LiveKey(Self.app, LiveID(live)) }

    // MARK: what the gateway calls

    func write(_ record: TopicRecord, token: UInt64) throws(SinkRefusal) {
        if let inboxes = self.state.withLock({ $0.inboxes }) { return try inboxes.write(record, token: token) }
        let (refusal, answers) = self.state.withLock { state in
            if state.refusal == nil {
                state.records.append(record)
                state.tokens.append(token)
            }
            return (state.refusal, state.answers)
        }
        if let refusal { throw refusal }
        self.arrived.signal()
        if answers { self.answer(record) }
    }

    func follow(_ partition: Int) {
        let isAtOnce = self.state.withLock { state in
            state.followed.append(partition)
            return state.loadsAtOnce
        }
        self.arrived.signal()
        if isAtOnce { self.load(partition) }
    }

    /// Lets the gateway read a partition: what it keeps of it is the test's business.
    func load(_ partition: Int) {
        let end = self.state.withLock { Int64($0.feeds[partition]?.count ?? 0) }
        self.gateway.feeds.loaded(partition: partition, end: end)
    }

    func unfollow(_ partition: Int) {}

    // MARK: the machines

    func answer(_ record: TopicRecord) {
        guard let value = record.value else { return }
        switch record.topic {
        case .audienceInbox:
            guard let input = try? Wire.decode(AudienceInput.self, from: value) else { return }
            switch input.command {
            case .join(let caller): self.reply(caller) { self.join(input.key, caller) }
            case .leave(let caller), .profile(let caller): self.reply(caller) { .success(result: .done) }
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
            case .refused(let why, let caller):
                self.reply(caller) { .failure(error: ReplyError(why.code, "refused unasked")) }
            case .forbidden(let error, _, let caller): self.reply(caller) { .failure(error: error) }
            case .sendLikes(_, let caller): self.reply(caller) { .success(result: .done) }
            default: break
            }
        case .userNotices:
            guard let notice = try? Wire.decode(Notice.self, from: value) else { return }
            self.notices.write(notice)
        case .directoryInbox:
            guard let input = try? Wire.decode(DirectoryInput.self, from: value),
                case .create(let live, _, let owner, let caller) = input.command
            else { return }
            self.reply(caller) { self.create(live.text, owner: owner) }
        default: break
        }
    }

    /// Answers every caller whose record has come with success; each gets its answer once.
    func answerAll() {
        for record in self.state.withLock({ $0.records }) {
            guard let value = record.value, let found = try? Wire.decode(AnyCommand.self, from: value) else { continue }
            for caller in found.callers { self.reply(caller) { .success(result: .done) } }
        }
    }

    /// A record of any inbox, as far as its caller goes.
    private struct AnyCommand: Decodable {
        struct Called: Decodable { var caller: Caller? }
        var command: [String: Called]
        var callers: [Caller] { self.command.values.compactMap(\.caller) }
    }

    /// Answers a caller; a call that was answered before gets the same answer (I15).
    func reply(_ caller: Caller, _ make: () -> Outcome) {
        let known = self.state.withLock { $0.outcomes[caller.request] }
        let outcome = known ?? make()
        self.state.withLock { $0.outcomes[caller.request] = outcome }
        self.gateway.received(Reply(to: caller, app: Self.app, outcome))
    }

    private func join(_ key: LiveKey, _ caller: Caller) -> Outcome {
        self.state.withLock { state in
            let floor = state.floors[UserKey(key.app, caller.userID)]
            if let old = caller.ticket, let floor, old < floor {
                return .failure(error: ReplyError(.staleTicket, "kicked"))
            }
            state.lastTicket += 1
            return .success(
                result: .joined(ticket: Ticket(state.lastTicket), epoch: Self.epoch, confirmed: true))
        }
    }

    @discardableResult func create(_ live: String, owner: UserInfo = UserInfo(userID: "anna")) -> Outcome {
        let info = LiveInfo(liveID: LiveID(live), liveOwner: owner)
        self.gateway.received(RoomRecord(app: Self.app, info: info, epoch: Self.epoch, revision: 1))
        return .success(result: .live(info: info, epoch: Self.epoch))
    }

    /// Writes an item into a feed.
    @discardableResult func publish(_ key: LiveKey, _ content: FeedContent) -> FeedPosition {
        let number = self.state.withLock { state in
            state.lastNumber[key, default: 0] += 1
            return state.lastNumber[key] ?? 0
        }
        let position = FeedPosition(epoch: Self.epoch, number: number)
        self.write(FeedItem(key: key, position: position, at: Timestamp(milliseconds: number), content: content))
        return position
    }

    /// Writes a feed record, and without a broker gives it to the gateway as its feed thread does.
    func write(_ item: FeedItem) {
        if let live { return live.write(item) }
        guard let feed = self.keep(item) else { return }
        let partition = PlazaTopic.partition(of: item.key.text, among: 4)
        self.gateway.feeds.received([feed], partition: partition, end: (feed.piece.offset ?? 0) + 1)
    }

    /// Writes a feed record that the gateway does not read.
    func keep(_ item: FeedItem) -> FeedRecord? {
        let record = TopicRecord(.feed(item))
        guard let headers = FeedHeaders({ name in record.headers.first { $0.name == name }?.value }),
            let value = record.value
        else { return nil }
        let partition = PlazaTopic.partition(of: item.key.text, among: 4)
        return self.state.withLock { state in
            let offset = Int64(state.feeds[partition]?.count ?? 0)
            let piece = FeedPiece(
                number: headers.position.number, feedClass: headers.feedClass, isEnd: headers.isEnd,
                at: MonotonicClock.now, offset: offset, bytes: value)
            let feed = FeedRecord(key: item.key, epoch: headers.position.epoch, piece: piece)
            state.feeds[partition, default: []].append(feed)
            return feed
        }
    }

    func text(_ key: LiveKey, _ text: String = "hello") {
        self.publish(key, .text(sender: UserInfo(userID: "anna"), text: text, extensionInfo: nil))
    }

    // MARK: what tests ask

    /// Waits until a record that fits has been written, and gives it.
    func record<Value>(_ find: (TopicRecord) -> Value?) throws -> Value {
        let deadline = DispatchTime.now() + 10
        while true {
            if let found = self.state.withLock({ state in state.records }).lazy.compactMap(find).first { return found }
            guard self.arrived.wait(timeout: deadline) == .success else {
                throw WireClient.Failure(description: "no such record within 10 s")
            }
        }
    }

    /// Waits until the gateway wants a feed partition.
    func followed() throws {
        let deadline = DispatchTime.now() + 10
        while self.state.withLock({ $0.followed.isEmpty }) {
            guard self.arrived.wait(timeout: deadline) == .success else {
                throw WireClient.Failure(description: "no partition was wanted within 10 s")
            }
        }
    }

    /// How many records fit.
    func count(_ fits: (TopicRecord) -> Bool) -> Int { self.state.withLock { $0.records }.filter(fits).count }

    /// The sum of a metric over all its labels.
    func metric(_ name: String) -> Int {
        let family = self.registry.snapshot().first { $0.name == name }
        return (family?.samples ?? []).reduce(0) { sum, sample in
            if case .number(let value) = sample.value { sum + Int(value) } else { sum }
        }
    }

    /// A client that has logged in.
    func client(
        _ user: String, session: String? = nil, resume: ResumePoint? = nil, notices: String? = nil, firstID: Int64 = 1,
        receiveBuffer: Int32? = nil, role: TokenRole = .user
    ) throws -> (WireClient, Outcome) {
        let client = try WireClient(port: self.gateway.port, firstID: firstID, receiveBuffer: receiveBuffer)
        let params = LoginParams(
            token: Tokens.token(user, role: role), session: session, resume: resume, notices: notices)
        return (client, try client.call("login", String(decoding: Wire.encode(params), as: UTF8.self)))
    }

    /// A client that is in a live.
    func viewer(_ user: String, of live: String, session: String? = nil, receiveBuffer: Int32? = nil) throws
        -> WireClient
    {
        let (client, _) = try self.client(user, session: session, receiveBuffer: receiveBuffer)
        guard case .success(.joined) = try client.call("live.join", "{\"live\":\"\(live)\"}") else {
            throw WireClient.Failure(description: "\(user) could not join \(live)")
        }
        return client
    }

    /// Real tokens of a made-up app.
    enum Tokens {
        static let apps = Array(
            """
            {"apps":{"demo":{"keys":[{"kid":"k1","alg":"HS256","k":"\(key)"}]},
            "other":{"keys":[{"kid":"k2","alg":"HS256","k":"\(otherKey)"}]}}}
            """.utf8)
        static let key = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"
        static let otherKey = "ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8"

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

/// The topic of notices: gives each its offset, and all gateways each notice, in one order.
final class NoticeTopic: Sendable {
    private struct State: Sendable {
        var gateways: [WeakGateway] = []
        var lastOffset: Int64 = 100
        var isHolding = false
        var held: [Notice] = []
    }

    private struct WeakGateway: Sendable {
        weak var gateway: Gateway?
    }

    private let state = Locked(State())

    func add(_ gateway: Gateway) { self.state.withLock { $0.gateways.append(WeakGateway(gateway: gateway)) } }

    /// Keeps what is written from now on, or writes what was kept, in an order of the test's choice.
    func hold(_ isHolding: Bool, reversed: Bool = false) {
        let held = self.state.withLock { state in
            state.isHolding = isHolding
            defer { state.held = [] }
            return state.held
        }
        for notice in reversed ? held.reversed() : held { self.write(notice) }
    }

    /// How many are kept.
    var heldCount: Int { self.state.withLock { $0.held.count } }

    /// Loses what is kept.
    func loseHeld() { self.state.withLock { $0.held = [] } }

    func write(_ notice: Notice) {
        // Under the lock, so that all hear them in the order of their offsets.
        self.state.withLock { state in
            guard !state.isHolding else { return state.held.append(notice) }
            state.lastOffset += 1
            let partition = PlazaTopic.partition(of: notice.to.text, among: 4)
            for entry in state.gateways {
                entry.gateway?.received(notice, partition: partition, offset: state.lastOffset)
            }
        }
    }
}

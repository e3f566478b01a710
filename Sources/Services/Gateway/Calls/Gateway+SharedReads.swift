// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import GatewayCore
internal import MachineKit
internal import Observability
internal import PlazaModel
internal import PlazaWire

/// A client's call that waits for a shared answer.
struct WaitingRead: Sendable {
    var shard: Int
    var session: SessionID
    /// The connection of the session that made the call.
    var generation: UInt32
    var id: Int64
    var method: String
    /// The live that the caller must be in; nil: any or none.
    var live: LiveID?
    /// When the call was received, in monotonic microseconds.
    var began: Int64
}

/// One answer for several calls, encoded once.
struct SharedAnswer: Sendable {
    let outcome: Outcome
    /// `{"result":{…}}` of a success.
    private let json: [UInt8]

    init(_ outcome: Outcome) {
        self.outcome = outcome
        self.json = if case .success = outcome { outcome.json } else { [] }
    }

    /// The reply to the call with this id: `{"reply":{"id":7,"result":{…}}}`; nil if the answer is an error.
    func reply(_ id: Int64) -> [UInt8]? {
        if self.json.isEmpty { return nil }
        var bytes = Array("{\"reply\":{\"id\":\(id),".utf8)
        bytes.reserveCapacity(bytes.count + self.json.count)
        bytes += self.json.dropFirst()
        bytes.append(UInt8(ascii: "}"))
        return bytes
    }
}

/// Asks services for the answers that several clients wait for (R1.20).
///
/// The gateway asks as the app's server would over HTTP, so an answer cannot depend on one of the clients. It has
/// checked them itself: they are logged in, and in the live if the call requires that.
extension Gateway {
    /// Asks the service of a read; the answer is posted to the shards whose calls wait for it.
    func ask(_ read: SharedRead) {
        self.metrics.sharedAsks.add()
        var random = SystemRandomNumberGenerator()
        let method = read.kind.method
        let session = self.settings.sessionNamer.nameOfRequest(
            UserKey(read.key.app, Self.asker), role: .server,
            key: "\(random.next() as UInt64)-\(random.next() as UInt64)", call: method)
        let caller = Caller(
            user: UserInfo(userID: Self.asker), role: .server,
            request: RequestID(session: session, counter: ShardHTTPCalls.requestCounter), replyTo: self.settings.id)
        let effect: Effect =
            switch read.kind {
            case .audience:
                .audience(AudienceInput(read.key, .list(cursor: "", count: Limits.audiencePage, caller: caller)))
            case .summary: .barrage(BarrageInput(read.key, .summary(caller: caller)))
            }
        self.begin(
            HTTPCall(session: session, method: method, record: TopicRecord(effect), isCounted: false) {
                [weak self] outcome in self?.answered(read, outcome)
            })
    }

    /// Asks for the reads whose time has come, and fails the calls that waited too long; called ten times a second.
    func sweepSharedReads(at now: MonotonicTime) {
        let (asks, overdue) = self.sharedReads.withLock { $0.sweep(at: now) }
        for read in asks { self.ask(read) }
        if overdue.isEmpty { return }
        let error = ReplyError(.timedOut, "no answer in time; send the call again with the same id", retryAfter: 500)
        self.post(SharedAnswer(.failure(error: error)), to: overdue)
    }

    private func answered(_ read: SharedRead, _ outcome: Outcome) {
        let (waiters, asks) = self.sharedReads.withLock { $0.answered(read, at: MonotonicClock.now) }
        if asks { self.ask(read) }
        if !waiters.isEmpty { self.post(SharedAnswer(outcome), to: waiters) }
    }

    private func post(_ answer: SharedAnswer, to waiters: [WaitingRead]) {
        for (shard, calls) in Dictionary(grouping: waiters, by: \.shard) {
            self.post(shard, [.sharedAnswer(answer, calls)])
        }
    }

    /// The name that shared asks have in records; a token's user can have it, too, but gains nothing by that.
    private static let asker = UserID("gateway")
}

extension SharedRead.Kind {
    fileprivate var method: String {
        switch self {
        case .audience: "audience.list"
        case .summary: "live.summary"
        }
    }
}

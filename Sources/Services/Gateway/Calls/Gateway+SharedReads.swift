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
    /// Identifies the session's connection that made the call.
    var generation: UInt32
    /// The call's number in its session.
    var id: Int64
    var method: String
    /// The live that the caller must be in; nil if the caller need not be in a live.
    var requiredLive: LiveID?
    /// Runs since the call was received.
    var stopwatch: Stopwatch
}

/// One answer for several calls, encoded once.
struct SharedAnswer: Sendable {
    let outcome: Outcome
    /// `{"result":{…}}`; empty if the outcome is an error.
    private let json: [UInt8]

    init(_ outcome: Outcome) {
        self.outcome = outcome
        self.json = if case .success = outcome { outcome.json } else { [] }
    }

    /// Returns the reply to the call with this id: `{"reply":{"id":7,"result":{…}}}`; nil if the answer is an error.
    func reply(_ id: Int64) -> [UInt8]? {
        if self.json.isEmpty { return nil }
        // These bytes replace the opening brace of `json`; the closing brace of `json` ends the inner object.
        var bytes = Array("{\"reply\":{\"id\":\(id),".utf8)
        bytes.reserveCapacity(bytes.count + self.json.count)
        bytes += self.json.dropFirst()
        bytes.append(UInt8(ascii: "}"))
        return bytes
    }
}

/// Sends one request to a service for each shared read; all calls that wait for the read get its answer (R1.20).
///
/// The answer must not depend on which client asks. So the gateway makes the request in the role of the app's server,
/// as it does for HTTP requests. The gateway has checked the clients itself: they are logged in, and in the live if the
/// call requires that.
extension Gateway {
    /// Sends a read's request to its service; the answer is posted to the shards whose calls wait for it.
    func sendRequest(for read: SharedRead) {
        self.metrics.sharedReadRequests.add()
        var random = SystemRandomNumberGenerator()
        let method = read.kind.method
        // The random key gives each request a session of its own, so that no earlier answer is repeated.
        let session = self.settings.sessionNamer.nameOfRequest(
            UserKey(read.key.app, Self.requestUser), role: .server,
            key: "\(random.next() as UInt64)-\(random.next() as UInt64)", call: method)
        let caller = Caller(
            user: UserInfo(userID: Self.requestUser), role: .server,
            request: RequestID(session: session, counter: ShardHTTPCalls.requestCounter), replyTo: self.settings.id)
        let effect: Effect =
            switch read.kind {
            case .audience:
                .audience(AudienceInput(read.key, .list(cursor: "", count: Limits.audiencePage, caller: caller)))
            case .summary: .barrage(BarrageInput(read.key, .summary(caller: caller)))
            }
        self.begin(
            HTTPCall(
                session: session, app: read.key.app, method: method, record: TopicRecord(effect), isInMetrics: false
            ) { [weak self] outcome in self?.requestEnded(read, outcome)
            })
    }

    /// Sends the requests that the rate allows now, and fails the calls that waited too long.
    ///
    /// Called ten times a second.
    func sweepSharedReads(at now: MonotonicTime) {
        let (readsToRequest, overdue) = self.sharedReads.withLock { $0.sweep(at: now) }
        for read in readsToRequest { self.sendRequest(for: read) }
        if overdue.isEmpty { return }
        let error = ReplyError(.timedOut, "no answer in time; send the call again with the same id", retryAfter: 500)
        self.post(SharedAnswer(.failure(error: error)), to: overdue)
    }

    private func requestEnded(_ read: SharedRead, _ outcome: Outcome) {
        let (calls, mustRequestAgain) = self.sharedReads.withLock { $0.requestEnded(read, at: MonotonicClock.now) }
        // Calls that came while the request was open need a later answer.
        if mustRequestAgain { self.sendRequest(for: read) }
        if !calls.isEmpty { self.post(SharedAnswer(outcome), to: calls) }
    }

    private func post(_ answer: SharedAnswer, to calls: [WaitingRead]) {
        for (shard, callsOfShard) in Dictionary(grouping: calls, by: \.shard) {
            self.post(shard, [.sharedAnswer(answer, callsOfShard)])
        }
    }

    /// The user id of the caller in the gateway's own requests.
    ///
    /// A client whose token has the same user id gets no rights by it.
    private static let requestUser = UserID("gateway")
}

extension SharedRead.Kind {
    fileprivate var method: String {
        switch self {
        case .audience: "audience.list"
        case .summary: "live.summary"
        }
    }
}

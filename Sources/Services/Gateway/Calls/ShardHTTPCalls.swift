// SPDX-License-Identifier: Apache-2.0
internal import GatewayCore
internal import MachineKit
internal import Observability
internal import PlazaModel

/// Tracks the open calls that were made over HTTP.
///
/// Each request is a session with a single call, which has the same deadline and resend interval as a WebSocket call.
/// Each `retryAfter` is in milliseconds.
final class ShardHTTPCalls {
    private unowned let shard: Shard
    private var openRequests: [SessionID: OpenRequest] = [:]

    /// The largest number of HTTP calls that may be open at once on this shard.
    private static let maxOpenRequests = 10_000
    /// The number of the only call in an HTTP request's session.
    static let requestCounter: Int64 = 1

    /// An HTTP call whose reply is pending.
    private struct OpenRequest {
        /// The request's only call.
        var calls: OpenCalls<SentRecord>
        /// Whether the metrics count the call.
        var isInMetrics: Bool
        /// One closure for each HTTP request with the same idempotency key; each is called once with the reply.
        var completions: [@Sendable (Outcome) -> Void]
    }

    init(_ shard: Shard) { self.shard = shard }

    /// Forwards a request to its machine, the service that decides the call.
    func begin(_ call: HTTPCall) {
        if self.openRequests[call.session] != nil {
            // A request with the same idempotency key and call is open already: one reply answers both.
            guard (self.openRequests[call.session]?.completions.count ?? 0) < OpenCalls<SentRecord>.limit else {
                return call.complete(.failure(error: ReplyError(.overloaded, "repeated too often", retryAfter: 500)))
            }
            self.openRequests[call.session]?.completions.append(call.complete)
            return
        }
        do throws(ReplyError) {
            guard !self.shard.drain.isDraining else {
                throw ReplyError(.unavailable, "the gateway stops", retryAfter: 1000)
            }
            guard self.openRequests.count < Self.maxOpenRequests else {
                throw ReplyError(.overloaded, "too many requests wait", retryAfter: 500)
            }
            try self.shard.gateway.admission.admitForwardedCall(of: call.user, in: call.app)
            let sent = try self.shard.calls.send(call.record, call.method)
            var calls = OpenCalls<SentRecord>()
            calls.register(Self.requestCounter, .plain, sent, at: self.shard.now)
            self.openRequests[call.session] = OpenRequest(
                calls: calls, isInMetrics: call.isInMetrics, completions: [call.complete])
        } catch {
            if call.isInMetrics {
                self.shard.gateway.metrics.callAnswered(call.method, .failure(error: error), microseconds: 0)
            }
            call.complete(.failure(error: error))
        }
    }

    /// Completes the request to which a machine has replied.
    func replyReceived(_ reply: Reply) {
        guard self.openRequests[reply.request.session] != nil else {
            return self.shard.gateway.metrics.lateReplies.add()
        }
        self.finish(reply.request.session, reply.outcome)
    }

    /// Fails the requests whose records, identified by `tokens`, were lost.
    func recordsLost(_ tokens: Set<UInt64>) {
        let error = ReplyError(.unavailable, "the broker did not take the call", retryAfter: 1000)
        let lostRequests = self.openRequests.filter { entry in
            entry.value.calls.firstID { tokens.contains($0.token) } != nil
        }
        for session in lostRequests.keys.sorted() { self.finish(session, .failure(error: error)) }
    }

    /// Fails the requests whose deadline has passed, and resends the records of the others.
    func sweep(at now: MonotonicTime) {
        if self.openRequests.isEmpty { return }
        let canResend = self.shard.gateway.isBrokerHealthy
        for session in Array(self.openRequests.keys) {
            if let call = self.openRequests[session]?.calls.removeOverdue(at: now).first {
                let error = ReplyError(.timedOut, "no answer in time; send the same request again", retryAfter: 500)
                self.finish(session, .failure(error: error), ended: call)
            } else if canResend {
                self.shard.calls.resend(self.openRequests[session]?.calls.takeRecordsToResend(at: now) ?? [])
            }
        }
    }

    /// Fails all open requests when the gateway shuts down.
    func failAll() {
        for session in self.openRequests.keys.sorted() {
            self.finish(session, .failure(error: ReplyError(.unavailable, "the gateway stops", retryAfter: 1000)))
        }
    }

    /// Completes a request with its outcome, and records the call in the metrics.
    ///
    /// - Parameters:
    ///   - session: The request's session.
    ///   - outcome: The outcome of the call.
    ///   - ended: The call, if it was already removed from the open calls.
    private func finish(_ session: SessionID, _ outcome: Outcome, ended: OpenCalls<SentRecord>.Call? = nil) {
        guard var request = self.openRequests.removeValue(forKey: session) else { return }
        if let call = ended ?? request.calls.remove(Self.requestCounter) {
            if request.isInMetrics {
                let milliseconds = (self.shard.now - call.startedAt).count
                self.shard.gateway.metrics.callAnswered(
                    call.record.method, outcome, microseconds: milliseconds * 1000)
            }
            call.record.span?.end(call.record.method, outcome, self.shard.gateway.settings.tracer)
        }
        for complete in request.completions { complete(outcome) }
    }
}

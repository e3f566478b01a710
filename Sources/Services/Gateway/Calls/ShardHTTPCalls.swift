// SPDX-License-Identifier: Apache-2.0
internal import GatewayCore
internal import MachineKit
internal import Observability
internal import PlazaModel

/// Tracks the open calls that were made over HTTP.
///
/// Each request is a session with a single call, which has the same deadline and retries as WebSocket calls.
final class ShardHTTPCalls {
    private unowned let shard: Shard
    private var open: [SessionID: OpenRequest] = [:]

    /// The largest number of HTTP calls that may be open at once.
    private static let limit = 10_000
    /// The number of the only call in an HTTP request's session.
    static let requestCounter: Int64 = 1

    /// An HTTP call whose reply is pending.
    private struct OpenRequest {
        var calls: OpenCalls<SentRecord>
        var isCounted: Bool
        var completes: [@Sendable (Outcome) -> Void]
    }

    init(_ shard: Shard) { self.shard = shard }

    /// Forwards a request to the machine that must answer it.
    func begin(_ call: HTTPCall) {
        if self.open[call.session] != nil {
            // A request with the same idempotency key is already open: both get its reply.
            guard self.open[call.session]?.completes.count ?? 0 < OpenCalls<SentRecord>.limit else {
                return call.complete(.failure(error: ReplyError(.overloaded, "repeated too often", retryAfter: 500)))
            }
            self.open[call.session]?.completes.append(call.complete)
            return
        }
        do throws(ReplyError) {
            guard !self.shard.drain.isDraining else {
                throw ReplyError(.unavailable, "the gateway stops", retryAfter: 1000)
            }
            guard self.open.count < Self.limit else {
                throw ReplyError(.overloaded, "too many requests wait", retryAfter: 500)
            }
            let sent = try self.shard.calls.send(call.record, call.method)
            var calls = OpenCalls<SentRecord>()
            calls.began(Self.requestCounter, .plain, sent, at: self.shard.now)
            self.open[call.session] = OpenRequest(
                calls: calls, isCounted: call.isCounted, completes: [call.complete])
        } catch {
            if call.isCounted {
                self.shard.gateway.metrics.called(call.method, .failure(error: error), microseconds: 0)
            }
            call.complete(.failure(error: error))
        }
    }

    /// Completes the request to which a machine has replied.
    func replyReceived(_ reply: Reply) {
        guard self.open[reply.request.session] != nil else { return self.shard.gateway.metrics.lateReplies.add() }
        self.finish(reply.request.session, reply.outcome)
    }

    /// Fails the requests whose records, identified by `tokens`, were lost.
    func recordsLost(_ tokens: Set<UInt64>) {
        let error = ReplyError(.unavailable, "the broker did not take the call", retryAfter: 1000)
        let lost = self.open.filter { $0.value.calls.first { tokens.contains($0.token) } != nil }
        for session in lost.keys.sorted() { self.finish(session, .failure(error: error)) }
    }

    /// Fails the requests whose deadline has passed, and resends the records of the others.
    func sweep(at now: MonotonicTime) {
        if self.open.isEmpty { return }
        let canResend = self.shard.gateway.isBrokerThere
        for session in Array(self.open.keys) {
            if let call = self.open[session]?.calls.removeOverdue(at: now).first {
                let error = ReplyError(.timedOut, "no answer in time; send the same request again", retryAfter: 500)
                self.finish(session, .failure(error: error), ended: call)
            } else if canResend {
                self.shard.calls.resend(self.open[session]?.calls.takeDueForResend(at: now) ?? [])
            }
        }
    }

    /// Fails all open requests when the gateway shuts down.
    func failAll() {
        for session in self.open.keys.sorted() {
            self.finish(session, .failure(error: ReplyError(.unavailable, "the gateway stops", retryAfter: 1000)))
        }
    }

    /// Completes a request with its outcome, and records the call in the metrics.
    private func finish(_ session: SessionID, _ outcome: Outcome, ended: OpenCalls<SentRecord>.Call? = nil) {
        guard var request = self.open.removeValue(forKey: session) else { return }
        if let call = ended ?? request.calls.remove(Self.requestCounter) {
            if request.isCounted {
                self.shard.gateway.metrics.called(
                    call.record.method, outcome, microseconds: (self.shard.now - call.began).count * 1000)
            }
            call.record.span?.end(call.record.method, outcome, self.shard.gateway.settings.tracer)
        }
        for complete in request.completes { complete(outcome) }
    }
}

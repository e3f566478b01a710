// SPDX-License-Identifier: Apache-2.0
internal import CoreKit
internal import EventLoop
internal import GatewayCore
internal import Observability
internal import PlazaModel
internal import PlazaWire

/// Calls over HTTP: each is a session of one call, with the same deadline and the same retries as any other.
extension Shard {
    /// A request that a machine must answer.
    func begin(_ call: RequestCall) {
        if self.requests[call.session] != nil {
            // The same idempotency key while the first request is open: both get the one answer.
            guard self.requests[call.session]?.completes.count ?? 0 < OpenCalls<SentRecord>.limit else {
                return call.complete(.failure(error: ReplyError(.overloaded, "repeated too often", retryAfter: 500)))
            }
            self.requests[call.session]?.completes.append(call.complete)
            return
        }
        do throws(ReplyError) {
            guard !self.isDraining else { throw ReplyError(.unavailable, "the gateway stops", retryAfter: 1000) }
            guard self.requests.count < Self.requestLimit else {
                throw ReplyError(.overloaded, "too many requests wait", retryAfter: 500)
            }
            let sent = try self.write(call.record, call.method)
            var calls = OpenCalls<SentRecord>()
            calls.began(Self.requestCounter, .plain, sent, at: self.now)
            self.requests[call.session] = OpenRequest(calls: calls, completes: [call.complete])
        } catch {
            self.gateway.metrics.called(call.method, .failure(error: error), microseconds: 0)
            call.complete(.failure(error: error))
        }
    }

    /// A machine's answer to a request.
    func requestAnswered(_ reply: Reply) {
        guard self.requests[reply.request.session] != nil else { return self.gateway.metrics.lateReplies.add() }
        self.finish(reply.request.session, reply.outcome)
    }

    /// The record of a request is lost.
    func requestLost(_ token: UInt64) {
        guard let session = self.requests.first(where: { $0.value.calls.first { $0.token == token } != nil })?.key
        else { return }
        self.finish(
            session, .failure(error: ReplyError(.unavailable, "the broker did not take the call", retryAfter: 1000)))
    }

    /// Ends overdue requests, and sends unanswered ones again.
    func sweepRequests(at now: Timestamp) {
        if self.requests.isEmpty { return }
        let mayResend = self.gateway.isBrokerThere
        for session in Array(self.requests.keys) {
            if let call = self.requests[session]?.calls.overdue(at: now).first {
                let error = ReplyError(.timedOut, "no answer in time; send the same request again", retryAfter: 500)
                self.finish(session, .failure(error: error), ended: call)
            } else if mayResend {
                self.resend(self.requests[session]?.calls.dueAgain(at: now) ?? [])
            }
        }
    }

    /// Gives a request its answer.
    func finish(_ session: SessionID, _ outcome: Outcome, ended: OpenCalls<SentRecord>.Call? = nil) {
        guard var request = self.requests.removeValue(forKey: session) else { return }
        if let call = ended ?? request.calls.ended(Self.requestCounter) {
            self.gateway.metrics.called(
                call.record.method, outcome, microseconds: (self.now - call.began).count * 1000)
        }
        for complete in request.completes { complete(outcome) }
    }

    /// The one call of a request's session.
    static let requestCounter: Int64 = 1
}

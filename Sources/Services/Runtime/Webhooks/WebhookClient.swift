// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import HTTPClient
package import MachineKit
package import Observability
package import PlazaModel
internal import PlazaWire

/// Asks an app's backend to allow or refuse a message or gift before it is accepted (R14.9).
///
/// Only `run` blocks. If a request fails or times out, the app's timeout policy decides. If too many requests are in
/// flight, the call is rejected as `overloaded` and the policy is not applied. Otherwise a user could send so many
/// calls that they time out, and the policy would allow them all.
package final class WebhookClient: Sendable {
    /// How long a backend may take to respond.
    package static let defaultTimeout: Duration = .seconds(2)
    /// After how many milliseconds a user whose call was rejected as `overloaded` may try again.
    private static let retryAfterMilliseconds: Int64 = 1_000
    /// How much longer than `timeout` a caller waits for a decision, because the client's thread notices a timeout only
    /// at the next turn of its loop.
    private static let decisionMargin = Milliseconds.seconds(1)
    /// How many requests each app and each user may have in flight.
    private let shares: WebhookShares
    private let hooks: [AppID: AppHooks]
    private let timeout: Duration
    private let client: HTTPClient
    private let inFlight: Locked<RequestsInFlight>
    private let metrics: WebhookClientMetrics

    /// Creates a client; requests are sent only while `run` is running.
    ///
    /// - Parameters:
    ///   - hooks: the webhook configuration of each app that has one.
    ///   - timeout: how long a backend may take to respond.
    ///   - caFile: authorities that are trusted besides the system's, in PEM.
    ///   - metrics: the registry for the request counters.
    package init(
        hooks: [AppID: AppHooks], timeout: Duration = WebhookClient.defaultTimeout, caFile: String? = nil,
        metrics: MetricsRegistry
    ) {
        self.hooks = hooks.filter { $0.value.before != nil }
        self.shares = WebhookShares(apps: self.hooks.count)
        self.client = HTTPClient(maxOpenRequests: self.shares.total, caFile: caFile)
        self.inFlight = Locked(RequestsInFlight(shares: self.shares))
        self.timeout = timeout
        self.metrics = WebhookClientMetrics(metrics)
    }

    /// Whether the loop of the client's thread has begun a turn within the last 30 s.
    package var isTurning: Bool { self.client.isTurning }

    /// Whether the app's backend must be asked about gifts (`isGift`) or about messages.
    package func isDecisionRequired(_ app: AppID, forGifts isGift: Bool) -> Bool {
        let before = self.hooks[app]?.before
        return (isGift ? before?.gift : before?.message) != nil
    }

    /// How long after `send` a caller waits for the decision.
    ///
    /// If the decision is missing after this time, it was lost on its way to the caller. The caller then uses
    /// `decisionWithoutAnswer(about:)`.
    package var decisionLimit: Milliseconds { Milliseconds(self.timeout) + Self.decisionMargin }

    /// Returns the decision about a message or gift if the app's backend does not answer: that of the timeout policy.
    package func decisionWithoutAnswer(about request: WebhookRequest) -> WebhookDecision {
        guard let policy = self.timeoutPolicy(for: request) else { return .allowed }
        return WebhookDecision(applying: policy, isGift: request.content.isGift)
    }

    /// Returns the timeout policy for a request; nil if the app's backend is not asked about such calls.
    private func timeoutPolicy(for request: WebhookRequest) -> AppHooks.TimeoutPolicy? {
        let before = self.hooks[request.app]?.before
        return request.content.isGift ? before?.gift : before?.message
    }

    /// Sends a request.
    ///
    /// May be called from any thread; never blocks.
    ///
    /// - Parameters:
    ///   - request: the message or gift to decide about.
    ///   - complete: called once with the decision, on any thread, unless this method throws.
    /// - Throws: `overloaded` if too many requests of the app or of the sender are in flight.
    package func send(
        _ request: WebhookRequest, complete: @escaping @Sendable (WebhookDecision) -> Void
    ) throws(ReplyError) {
        let isGift = request.content.isGift
        guard let hooks = self.hooks[request.app], self.timeoutPolicy(for: request) != nil else {
            return complete(.allowed)
        }
        let sender = UserKey(request.app, request.content.sender)
        let stopwatch = Stopwatch()
        guard self.inFlight.withLock({ $0.addRequest(of: sender) }) else {
            self.metrics.countOverloaded(isGift: isGift)
            throw ReplyError(
                .overloaded, "too many messages and gifts wait for the app's backend",
                retryAfter: Self.retryAfterMilliseconds)
        }
        let post = WebhookPost.make(
            Wire.encode(request), event: request.content.name, hooks: hooks, at: WallClock.now.seconds,
            timeout: self.timeout)
        self.client.send(post) { [self] result in
            self.inFlight.withLock { $0.removeRequest(of: sender) }
            self.metrics.requestTime.record(microseconds: Int(stopwatch.microseconds))
            guard case .answered(200, let body) = result, let decision = WebhookDecision(body: body, isGift: isGift)
            else {
                self.metrics.countUnanswered(isGift: isGift)
                return complete(self.decisionWithoutAnswer(about: request))
            }
            self.metrics.countDecision(decision, isGift: isGift)
            complete(decision)
        }
    }

    /// Sends requests on the calling thread until `stop` is called.
    package func run() { self.client.run() }

    /// Makes `run` return; the timeout policy decides about the requests in flight.
    package func stop() { self.client.stop() }
}

/// Counts requests and their outcomes.
private struct WebhookClientMetrics: Sendable {
    let requestTime: Timing
    /// The counters by kind and answer, such as `gift.allowed`.
    ///
    /// The answer `silence` stands for a failed request, a timeout and an invalid response.
    private let counters: [String: Counter]

    init(_ registry: MetricsRegistry) {
        self.requestTime = registry.timing(
            MetricNames.Webhooks.request, help: "Time that a request for a decision took.")
        var counters: [String: Counter] = [:]
        for kind in ["message", "gift"] {
            for answer in ["allowed", "refused", "silence", "overloaded"] {
                counters["\(kind).\(answer)"] = registry.counter(
                    MetricNames.Webhooks.requests, help: "Requests for a decision, by kind and answer.",
                    labels: ["kind": kind, "answer": answer])
            }
        }
        self.counters = counters
    }

    func countUnanswered(isGift: Bool) { self.counters["\(isGift ? "gift" : "message").silence"]?.add() }

    func countOverloaded(isGift: Bool) { self.counters["\(isGift ? "gift" : "message").overloaded"]?.add() }

    func countDecision(_ decision: WebhookDecision, isGift: Bool) {
        let answer = if case .allowed = decision { "allowed" } else { "refused" }
        self.counters["\(isGift ? "gift" : "message").\(answer)"]?.add()
    }
}

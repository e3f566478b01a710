// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import HTTPClient
package import Observability
package import PlazaModel
internal import PlazaWire

/// Asks apps' backends before messages and gifts, each question for two seconds at most (reference 14).
///
/// Nothing here blocks its caller: an answer, a failure, the time-out, or too many questions under way give the verdict,
/// the last three what the app's hooks say of silence.
package final class HookAsker: Sendable {
    /// How long a backend has.
    package static let standardTimeout = 2000
    /// Questions under way at once, in all.
    static let limit = 256
    /// Questions of one app under way at once, so that one slow backend does not take the others' place.
    static let limitPerApp = 64

    private let hooks: [AppID: AppHooks]
    private let timeoutMilliseconds: Int
    private let client = HTTPClient(limit: HookAsker.limit)
    private let open = Locked<[AppID: Int]>([:])
    private let metrics: AskingMetrics

    /// An asker that asks nothing before `run`.
    ///
    /// - Parameters:
    ///   - hooks: the apps that have some.
    ///   - timeoutMilliseconds: how long a backend has.
    ///   - metrics: counts.
    package init(
        hooks: [AppID: AppHooks], timeoutMilliseconds: Int = HookAsker.standardTimeout, metrics: MetricsRegistry
    ) {
        self.hooks = hooks.filter { $0.value.before != nil }
        self.timeoutMilliseconds = timeoutMilliseconds
        self.metrics = AskingMetrics(metrics)
    }

    /// Whether the app's backend is asked about messages, or gifts.
    package func asks(_ app: AppID, aboutGifts isGift: Bool) -> Bool {
        let before = self.hooks[app]?.before
        return (isGift ? before?.gift : before?.message) != nil
    }

    /// Asks; any thread, never blocks.
    ///
    /// - Parameters:
    ///   - question: what is asked.
    ///   - complete: called once, on any thread.
    package func ask(_ question: HookQuestion, complete: @escaping @Sendable (HookVerdict) -> Void) {
        let isGift = question.content.isGift
        guard let hooks = self.hooks[question.app],
            let silence = isGift ? hooks.before?.gift : hooks.before?.message
        else { return complete(.allowed) }
        let app = question.app
        let began = MonotonicClock.microseconds
        let mayAsk = self.open.withLock { open in
            guard open[app, default: 0] < Self.limitPerApp else { return false }
            open[app, default: 0] += 1
            return true
        }
        guard mayAsk else {
            self.metrics.silent(isGift)
            return complete(HookVerdict(silence: silence, isGift: isGift))
        }
        let post = HookPost.make(
            Wire.encode(question), event: question.content.name, hooks: hooks, at: WallClock.milliseconds() / 1000,
            timeoutMilliseconds: self.timeoutMilliseconds)
        self.client.send(post) { [self] result in
            self.open.withLock { open in
                let left = open[app, default: 1] - 1
                open[app] = left > 0 ? left : nil
            }
            self.metrics.time.record(microseconds: Int(MonotonicClock.microseconds - began))
            guard case .answered(200, let body) = result, let verdict = HookVerdict(body: body, isGift: isGift) else {
                self.metrics.silent(isGift)
                return complete(HookVerdict(silence: silence, isGift: isGift))
            }
            self.metrics.answered(isGift, verdict)
            complete(verdict)
        }
    }

    /// Carries questions out until `stop`, on the calling thread.
    package func run() { self.client.run() }

    /// Ends `run`; what is under way then gets what silence gives.
    package func stop() { self.client.stop() }
}

/// What questions came to.
private struct AskingMetrics: Sendable {
    let time: Timing
    private let counters: [String: Counter]

    init(_ registry: MetricsRegistry) {
        self.time = registry.timing(MetricNames.Webhooks.asking, help: "Time that a question took.")
        var counters: [String: Counter] = [:]
        for kind in ["message", "gift"] {
            for answer in ["allowed", "refused", "silence"] {
                counters["\(kind).\(answer)"] = registry.counter(
                    MetricNames.Webhooks.asked, help: "Questions to backends, by kind and answer.",
                    labels: ["kind": kind, "answer": answer])
            }
        }
        self.counters = counters
    }

    func silent(_ isGift: Bool) { self.counters["\(isGift ? "gift" : "message").silence"]?.add() }

    func answered(_ isGift: Bool, _ verdict: HookVerdict) {
        let answer = if case .allowed = verdict { "allowed" } else { "refused" }
        self.counters["\(isGift ? "gift" : "message").\(answer)"]?.add()
    }
}

// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import GatewayCore
internal import HTTPServer
internal import Observability
internal import PlazaModel

/// The metrics of a gateway; used by all its threads.
///
/// The help texts in `init` say what each metric counts.
final class GatewayMetrics: Sendable {
    let members: Gauge
    // These metrics, up to `deferredItems`, are those of the `DeliveryLedger`, which explains what they count.
    let dueItems: Counter
    let deliveredItems: Counter
    let disconnectedItems: Counter
    /// The counters of items that were left out for slow readers, in the order of `FeedClass.allCases`.
    let shedItems: [Counter]
    let deferredItems: Gauge
    let flushTime: Timing
    let flushes: Counter
    let mailboxDrops: Counter
    let heartbeats: Counter
    let replays: Counter
    let historyItems: Counter
    private let refusedReplays: [ReplayRefusal: Counter]
    let lateReplies: Counter
    let lostRecords: Counter
    let sharedReads: Counter
    let sharedReadRequests: Counter
    private let registry: MetricsRegistry
    /// The counters of calls and the timings from call to reply; both are created at the first call with their key.
    private let calls = Locked<[CallKey: (Counter, Timing)]>([:])
    /// The counters and timings of HTTP requests by status.
    ///
    /// Clients cannot choose a status, so there are few entries.
    private let requests = Locked<[Int: (Counter, Timing)]>([:])
    /// The counters of ended connections by close code.
    private let closes: [UInt16: Counter]
    /// The counter of connections that ended with any other code.
    private let otherCloses: Counter
    private let refusals: [RefusalReason: Counter]

    private struct CallKey: Hashable {
        /// The first part of the method's name, such as `seat`.
        var family: String
        /// `ok`, or the name of the error's code.
        var result: String
    }

    init(_ registry: MetricsRegistry) {
        typealias Names = MetricNames.Gateway
        self.registry = registry
        self.members = registry.gauge("gateway_members", help: "Connections that are in a live.")
        self.dueItems = registry.counter(Names.due, help: "Feed items that are due to viewers.")
        self.deliveredItems = registry.counter(Names.delivered, help: "Feed items handed to viewers' connections.")
        self.disconnectedItems = registry.counter(
            Names.disconnected, help: "Feed items that were owed to viewers whose connection ended.")
        self.shedItems = FeedClass.allCases.map {
            registry.counter(
                Names.shed, help: "Feed items that were left out for slow readers.", labels: ["class": $0.name])
        }
        self.deferredItems = registry.gauge("gateway_feed_owed", help: "Feed items that slow readers get later.")
        self.flushTime = registry.timing("gateway_flush_seconds", help: "Time that a flush of a room took.")
        self.flushes = registry.counter("gateway_flushes_total", help: "Flushes of rooms.")
        self.mailboxDrops = registry.counter(
            "gateway_mailbox_drops_total", help: "Messages to shards whose mailbox was full.")
        self.heartbeats = registry.counter("gateway_heartbeats_total", help: "Members reported to presence.")
        self.replays = registry.counter("gateway_replays_total", help: "Resumes that got exactly what they missed.")
        self.historyItems = registry.counter(
            "gateway_history_items_total", help: "Earlier messages sent to new viewers.")
        let refused = ReplayRefusal.allCases.map { reason in
            let counter = registry.counter(
                "gateway_replays_refused_total", help: "Resumes that must load a snapshot instead.",
                labels: ["reason": reason.rawValue])
            return (reason, counter)
        }
        self.refusedReplays = Dictionary(refused) { first, _ in first }
        func closeCounter(_ code: String) -> Counter {
            registry.counter(
                "gateway_disconnects_total", help: "Connections that ended, by close code.", labels: ["code": code])
        }
        let codes = Self.closeCodes.map { ($0, closeCounter("\($0)")) }
        self.closes = Dictionary(codes) { first, _ in first }
        self.otherCloses = closeCounter("other")
        let refusals = RefusalReason.allCases.map { reason in
            let counter = registry.counter(
                MetricNames.Gateway.refusals, help: "What was refused or cut off by a limit, by reason.",
                labels: ["reason": reason.rawValue])
            return (reason, counter)
        }
        self.refusals = Dictionary(refusals) { first, _ in first }
        self.lateReplies = registry.counter("gateway_late_replies_total", help: "Replies that nobody waited for.")
        self.sharedReads = registry.counter(
            "gateway_shared_reads_total", help: "Calls that were answered together with others.")
        self.sharedReadRequests = registry.counter(
            "gateway_shared_asks_total", help: "Requests to services for the answers that calls share.")
        self.lostRecords = registry.counter(
            "gateway_inbox_failures_total", help: "Inbox records that the broker's client did not take or deliver.")
    }

    /// Records an answered call.
    func callAnswered(_ method: String, _ outcome: Outcome, microseconds: Int64) {
        let family = Self.family(method)
        let result: String =
            switch outcome {
            case .success: "ok"
            case .failure(let error): error.code.name
            }
        let (counter, timing) = self.calls.withLock { calls in
            let key = CallKey(family: family, result: result)
            if let existing = calls[key] { return existing }
            let created = (
                self.registry.counter(
                    MetricNames.Gateway.calls, help: "Calls, by method and outcome.",
                    labels: ["method": family, "result": result]),
                // The timing has no label `result`, so the registry returns the same timing for all results of a
                // family.
                self.registry.timing(
                    MetricNames.Gateway.call, help: "Time from call to reply.", labels: ["method": family])
            )
            calls[key] = created
            return created
        }
        counter.add()
        timing.record(microseconds: Int(microseconds))
    }

    /// Records an answered HTTP request.
    func requestAnswered(_ status: Int, microseconds: Int) {
        let (counter, timing) = self.requests.withLock { requests in
            if let existing = requests[status] { return existing }
            let created = (
                self.registry.counter(
                    MetricNames.HTTP.requests, help: "HTTP requests, by status.", labels: ["status": "\(status)"]),
                // All statuses share one timing.
                self.registry.timing(MetricNames.HTTP.request, help: "Time from an HTTP request to its answer.")
            )
            requests[status] = created
            return created
        }
        counter.add()
        timing.record(microseconds: microseconds)
    }

    /// Counts a resume whose missed items are not replayed: the client must load a snapshot.
    func replayRefused(_ reason: ReplayRefusal) { self.refusedReplays[reason]?.add() }

    /// Records the close code of a connection that has ended.
    ///
    /// A client may send any code. So unknown codes, and application codes (3000 and above) that a client has sent,
    /// share one label.
    func connectionClosed(_ code: UInt16, byPeer isByPeer: Bool) {
        let isApplicationCodeOfClient = isByPeer && code >= 3000
        let ownCounter = isApplicationCodeOfClient ? nil : self.closes[code]
        (ownCounter ?? self.otherCloses).add()
    }

    /// The close codes with a label of their own: those of RFC 6455, and the gateway's two ranges (`DisconnectCode`).
    private static let closeCodes: [UInt16] =
        [1000, 1001, 1002, 1003, 1005, 1006, 1007, 1008, 1009, 1011, 1013] + Array(4000...4009) + Array(4100...4109)

    /// Counts a request or connection that a limit refused or ended.
    func refused(_ reason: RefusalReason) { self.refusals[reason]?.add() }

    /// Counts a request or connection that the HTTP server refused or ended.
    func refused(_ refusal: HTTPRefusal) {
        switch refusal {
        case .connectionsPerAddress: self.refused(RefusalReason.httpConnectionsPerAddress)
        case .requestsPerAddress: self.refused(RefusalReason.httpRequestsPerAddress)
        case .headTimeout: self.refused(RefusalReason.httpHeadTimeout)
        case .bodyTimeout: self.refused(RefusalReason.httpBodyTimeout)
        case .responseTimeout: self.refused(RefusalReason.httpResponseTimeout)
        case .unreadResponses: self.refused(RefusalReason.httpUnreadResponses)
        case .malformedRequests: self.refused(RefusalReason.httpMalformed)
        }
    }

    /// Adds the growth of a shard's delivery ledger since `previous`; the number of deferred items may also shrink.
    func add(_ ledger: DeliveryLedger, since previous: DeliveryLedger) {
        self.dueItems.add(ledger.due - previous.due)
        self.deliveredItems.add(ledger.delivered - previous.delivered)
        self.disconnectedItems.add(ledger.disconnected - previous.disconnected)
        self.deferredItems.add(ledger.deferred - previous.deferred)
        for index in ledger.shed.indices where ledger.shed[index] > previous.shed[index] {
            self.shedItems[index].add(ledger.shed[index] - previous.shed[index])
        }
    }

    /// Returns the method's family for a label.
    ///
    /// Unknown families share one label value, so the number of labels is limited.
    private static func family(_ method: String) -> String {
        let family = method.prefix { $0 != "." }
        let knownFamilies: [Substring] = [
            "login", "ping", "live", "metadata", "admin", "audience", "barrage", "stage", "seat", "cohost", "battle",
            "gift", "like", "self", "app",
        ]
        return knownFamilies.contains(family) ? String(family) : "unknown"
    }
}

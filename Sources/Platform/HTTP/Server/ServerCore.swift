// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import MachineKit

/// The state of an HTTP server, which the callbacks of `Daemon`, the responders and the deadline thread share.
final class ServerCore: Sendable {
    let limits: HTTPLimits
    let handler: HTTPHeadHandler
    /// Makes the bodies of the server's own responses.
    let failureBody: HTTPFailure.Body
    /// Called with each response.
    let observer: HTTPObserver
    /// Whether the server's thread calls a handler, and since when.
    let handlerClock = BusyClock()
    /// Wakes the deadline thread, which runs `watchDeadlines`.
    let deadlinesChanged = WakeSignal()
    /// Wakes `stop` when the last request has ended.
    private let lastRequestEnded = WakeSignal()
    private let state = Locked<State>(State())
    /// Called with each refusal.
    let reportRefusal: HTTPRefusalObserver
    /// Limits the malformed requests of each address; nil for no limit.
    let admission: (any HTTPAdmission)?
    let connections: Locked<OpenConnections>

    init(
        limits: HTTPLimits, failureBody: @escaping HTTPFailure.Body, observer: @escaping HTTPObserver,
        refusalObserver: @escaping HTTPRefusalObserver, admission: (any HTTPAdmission)? = nil,
        handler: @escaping HTTPHeadHandler
    ) {
        self.limits = limits
        self.reportRefusal = refusalObserver
        self.admission = admission
        self.connections = Locked(OpenConnections(limits: limits))
        self.failureBody = failureBody
        self.observer = observer
        self.handler = handler
    }

    /// Counts a new request and returns its number.
    func registerRequest() -> UInt64 {
        self.state.withLock { state in
            state.openCount += 1
            state.lastID += 1
            return state.lastID
        }
    }

    /// Removes a request that has ended.
    func removeRequest(_ id: UInt64) {
        let isLast = self.state.withLock { state in
            state.openCount -= 1
            state.pending[id] = nil
            return state.openCount == 0 && state.isStopping
        }
        if isLast { self.lastRequestEnded.wakeUp() }
    }

    /// Sets the deadline of a pending response.
    ///
    /// - Returns: false when the server is stopping; then there is no deadline, and the caller must respond at once.
    func setDeadline(of response: PendingResponse) -> Bool {
        let deadline = MonotonicClock.now + Milliseconds(self.limits.handlerTimeout)
        let (isSet, isFirst) = self.state.withLock { state in
            guard !state.isStopping else { return (false, false) }
            let isFirst = state.pending.isEmpty
            state.pending[response.id] = response
            state.deadlines.append((deadline, response.id))
            // The deadline of an answered request is not removed at once. All such deadlines are removed together when
            // there are over 64 more of them than pending requests.
            if state.deadlines.count > 2 * state.pending.count + 64 {
                state.deadlines.removeAll { state.pending[$0.id] == nil }
            }
            return (true, isFirst)
        }
        if isFirst { self.deadlinesChanged.wakeUp() }
        return isSet
    }

    /// Begins to stop: responds with 503 to all pending requests and to all new requests.
    func beginStopping() {
        let pending = self.state.withLock { state in
            state.isStopping = true
            defer { state.pending = [:] }
            return Array(state.pending.values)
        }
        for response in pending { _ = response.complete(.failure(.unavailable, body: self.failureBody)) }
        self.deadlinesChanged.wakeUp()
    }

    /// Waits until no request is open, but no longer than `drainTimeout`; called after `beginStopping`.
    func drain() {
        let isIdle = self.state.withLock { $0.openCount == 0 }
        if !isIdle { self.lastRequestEnded.wait(timeout: self.limits.drainTimeout) }
    }

    /// Responds with 504 to overdue requests, and shuts down overdue connections, until the server stops.
    ///
    /// It is the main function of the deadline thread.
    func watchDeadlines() {
        while true {
            let now = MonotonicClock.now
            let (overdue, nextDeadline, isStopping) = self.state.withLock { state in
                let overdueEnd = state.deadlines.firstIndex { $0.time > now } ?? state.deadlines.endIndex
                let overdue = state.deadlines[..<overdueEnd].compactMap { state.pending.removeValue(forKey: $0.id) }
                state.deadlines.removeFirst(overdueEnd)
                let nextDeadline = state.pending.isEmpty ? nil : state.deadlines.first?.time
                return (overdue, nextDeadline, state.isStopping)
            }
            for response in overdue { _ = response.complete(.failure(.deadlineExceeded, body: self.failureBody)) }
            if isStopping { return }
            self.shutDownOverdue(at: now)
            // Without a connection no check is needed; `connectionOpened` wakes this thread for the first one.
            let hasConnection = self.connections.withLock { !$0.isEmpty }
            let nextCheck = hasConnection ? now + Self.connectionCheckInterval : nil
            let wakeTime = [nextDeadline, nextCheck].compactMap { $0 }.min()
            self.deadlinesChanged.wait(timeout: wakeTime.map { Duration($0 - now) })
        }
    }

    /// The interval between two checks for overdue connections while any connection is open.
    private static let connectionCheckInterval = Milliseconds.seconds(1)

    private struct State {
        var isStopping = false
        /// The number of requests that have not ended.
        var openCount = 0
        var lastID: UInt64 = 0
        /// The responses that are pending, by the number of the request; at most one for each connection.
        var pending: [UInt64: PendingResponse] = [:]
        /// The deadlines in ascending order, because all requests have the same time limit.
        var deadlines: [(time: MonotonicTime, id: UInt64)] = []
    }
}

// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import Glibc

/// What a server's callbacks, responders and deadlines share.
final class ServerCore: Sendable {
    let limits: HTTPLimits
    let handler: HTTPHandler
    let failureBody: HTTPFailure.Body
    let observer: HTTPObserver
    /// Wakes the deadline thread.
    private let alarm: WakeDescriptor
    /// Wakes `stop` when the last request has ended.
    private let drained: WakeDescriptor
    private let state = Locked<State>(State())

    init(
        limits: HTTPLimits, failureBody: @escaping HTTPFailure.Body, observer: @escaping HTTPObserver,
        handler: @escaping HTTPHandler
    ) throws(HTTPServerError) {
        self.limits = limits
        self.failureBody = failureBody
        self.observer = observer
        self.handler = handler
        self.alarm = try WakeDescriptor()
        self.drained = try WakeDescriptor()
    }

    /// Counts a request that begins.
    func begin() -> UInt64 {
        self.state.withLock { state in
            state.active += 1
            state.lastID += 1
            return state.lastID
        }
    }

    /// Counts a request that has ended.
    func end(_ id: UInt64) {
        let isLast = self.state.withLock { state in
            state.active -= 1
            state.pending[id] = nil
            return state.active == 0 && state.isStopping
        }
        if isLast { self.drained.wake() }
    }

    /// Gives a request that is about to wait its deadline.
    ///
    /// - Returns: false when the server stops, and then the request must be answered at once.
    func wait(_ answer: Answer) -> Bool {
        let due = MonotonicClock.milliseconds + Int64(self.limits.deadlineMilliseconds)
        let (isAccepted, isFirst) = self.state.withLock { state in
            guard !state.isStopping else { return (false, false) }
            let isFirst = state.pending.isEmpty
            state.pending[answer.id] = answer
            state.deadlines.append((due, answer.id))
            // Entries of answered requests stay until they are due; no more of them than of waiting ones are kept.
            if state.deadlines.count > 2 * state.pending.count + 64 {
                state.deadlines.removeAll { state.pending[$0.id] == nil }
            }
            return (true, isFirst)
        }
        if isFirst { self.alarm.wake() }
        return isAccepted
    }

    /// Refuses all that wait, and all that come, for the server stops.
    func beginStopping() {
        let waiting = self.state.withLock { state in
            state.isStopping = true
            defer { state.pending = [:] }
            return Array(state.pending.values)
        }
        for answer in waiting { _ = answer.complete(.failure(.unavailable, body: self.failureBody)) }
        self.alarm.wake()
    }

    /// Waits until no request is under way, as long as the limits allow.
    func drain() {
        let isIdle = self.state.withLock { $0.active == 0 }
        if !isIdle { self.drained.wait(milliseconds: Int32(clamping: self.limits.drainMilliseconds)) }
    }

    /// Answers what is overdue until the server stops; the deadline thread runs this.
    func watchDeadlines() {
        while true {
            let now = MonotonicClock.milliseconds
            let (overdue, next, isStopping) = self.state.withLock { state in
                let split = state.deadlines.firstIndex { $0.due > now } ?? state.deadlines.endIndex
                let overdue = state.deadlines[..<split].compactMap { state.pending.removeValue(forKey: $0.id) }
                state.deadlines.removeFirst(split)
                let next = state.pending.isEmpty ? nil : state.deadlines.first?.due
                return (overdue, next, state.isStopping)
            }
            for answer in overdue { _ = answer.complete(.failure(.deadlineExceeded, body: self.failureBody)) }
            if isStopping { return }
            self.alarm.wait(milliseconds: next.map { Int32(clamping: max(0, $0 - now)) } ?? -1)
        }
    }

    private struct State {
        var isStopping = false
        var active = 0
        var lastID: UInt64 = 0
        /// Requests that wait for an answer: at most one for each connection.
        var pending: [UInt64: Answer] = [:]
        /// All requests have the same time, so this is in order.
        var deadlines: [(due: Int64, id: UInt64)] = []
    }
}

/// A socket pair: one thread waits, any thread wakes it.
final class WakeDescriptor: Sendable {
    private let reader: Int32
    private let writer: Int32

    init() throws(HTTPServerError) {
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        guard unsafe socketpair(AF_UNIX, kind, 0, &ends) == 0 else {
            throw .system(detail: "no socket pair (errno \(errno))")
        }
        self.reader = ends[0]
        self.writer = ends[1]
    }

    deinit {
        close(self.reader)
        close(self.writer)
    }

    /// Wakes the waiting thread, or lets the next wait return at once.
    func wake() {
        var byte: UInt8 = 1
        // A full socket wakes just as well.
        _ = unsafe write(self.writer, &byte, 1)
    }

    /// Waits to be woken; −1 waits for ever.
    func wait(milliseconds: Int32) {
        var entry = pollfd(fd: self.reader, events: Int16(POLLIN), revents: 0)
        guard unsafe poll(&entry, 1, milliseconds) > 0 else { return }
        var bytes = [UInt8](repeating: 0, count: 64)
        _ = unsafe read(self.reader, &bytes, bytes.count)
    }
}

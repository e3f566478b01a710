// SPDX-License-Identifier: Apache-2.0
internal import ClientAddress
internal import MachineKit

/// The open connections of the HTTP server: their numbers by address, their responses, and the deadlines of their
/// phases.
///
/// It is a value without IO, which chooses the connections to shut down. A deadline does not restart while a phase
/// lasts. The idle timeout of libmicrohttpd, the server's library, restarts with each byte. So this timeout alone would
/// let a slow client occupy a connection for ever.
struct OpenConnections {
    /// The phases of a connection.
    enum Phase {
        /// The server waits for the request line and headers, or reads them.
        case readingHead
        case readingBody
        /// The handler runs. `ServerCore`, not this type, limits this phase by `HTTPLimits.handlerTimeout`.
        case handling
        case sendingResponse
    }

    /// A connection whose deadline has passed.
    struct Overdue: Equatable {
        var descriptor: Int32
        /// The timeout that the connection exceeded.
        var refusal: HTTPRefusal
    }

    private struct Connection {
        /// The `limitKey` of the peer's address, by which connections are counted; nil if the address is unknown.
        let address: IPAddress?
        let descriptor: Int32
        var phase = Phase.readingHead
        /// When the current phase began.
        var phaseStart: MonotonicTime
        /// The size of the response that is being sent; 0 in other phases, and in each phase of a connection that is in
        /// `closing`.
        var responseBytes = 0
        /// Whether the last request counts as malformed: its head is malformed, too large or not complete.
        ///
        /// A connection without a request counts, too.
        var countsAsMalformed = true
        /// When the current phase must have ended; nil without a limit, and for a connection that is in `closing`.
        var deadline: MonotonicTime?

        /// Whether the server waits for the client: to send bytes of a request, or to take bytes of a response.
        var isAwaitingClient: Bool { self.phase != .handling }
    }

    private let limits: HTTPLimits
    /// The open connections by the id that `add` got.
    private var connections: [UInt: Connection] = [:]
    /// The number of open connections of each address.
    private var connectionCounts: [IPAddress: Int] = [:]
    /// The number of open requests of each client behind a trusted proxy.
    private var requestCounts: [IPAddress: Int] = [:]
    /// The connections that were chosen to be shut down, and that libmicrohttpd's daemon has not closed yet.
    ///
    /// The daemon may still report new phases of these connections, for example of a request that it has read already.
    private var closing: Set<UInt> = []
    /// The total size in bytes of the responses that are being sent; without those of the connections in `closing`.
    private(set) var responseBytes = 0

    init(limits: HTTPLimits) { self.limits = limits }

    /// Whether no connection is open.
    var isEmpty: Bool { self.connections.isEmpty }

    /// Whether another connection of this address may be opened.
    ///
    /// The connections of a trusted proxy serve many clients, so they are not limited. `admitRequest` limits the open
    /// requests of each client instead.
    func mayOpen(from address: IPAddress?) -> Bool {
        guard let address, !self.limits.trustedProxies.contains(address) else { return true }
        return self.connectionCounts[address.limitKey, default: 0] < self.limits.connectionsPerAddress
    }

    /// Adds a connection; `id` identifies it until `remove`.
    mutating func add(_ id: UInt, from address: IPAddress?, descriptor: Int32, at now: MonotonicTime) {
        let deadline = now + Milliseconds(self.limits.headTimeout)
        self.connections[id] = Connection(
            address: address?.limitKey, descriptor: descriptor, phaseStart: now, deadline: deadline)
        if let key = address?.limitKey { self.connectionCounts[key, default: 0] += 1 }
    }

    /// Removes a connection.
    ///
    /// - Returns: whether its last request counts as malformed; true if it had no request.
    @discardableResult mutating func remove(_ id: UInt) -> Bool {
        self.closing.remove(id)
        self.forgetResponse(of: id)
        let connection = self.connections.removeValue(forKey: id)
        if let key = connection?.address { Self.decrement(key, in: &self.connectionCounts) }
        return connection?.countsAsMalformed ?? true
    }

    /// Records whether the last request of a connection counts as malformed.
    mutating func headEnded(countsAsMalformed: Bool, of id: UInt) {
        self.connections[id]?.countsAsMalformed = countsAsMalformed
    }

    /// Chooses a connection to shut down when more than nine tenths of `HTTPLimits.connections` are open.
    ///
    /// Clients of many addresses, each within its own limit, could otherwise occupy all connections with requests that
    /// never end, or with responses that they do not read. Only a connection that waits for its client may be chosen.
    /// Among these, the address with the most connections is chosen, and then the connection of this address that has
    /// been in its phase for the longest time.
    ///
    /// A connection that sends a response may be chosen, too. Otherwise, behind a proxy, where all connections have one
    /// address, a connection that was just opened would be closed before one whose client has not read for seconds. The
    /// response may be of any age, because clients could stay below a minimum age by opening connections quickly.
    ///
    /// - Returns: the descriptor of the connection; nil while enough connections are free, or when no connection waits
    ///   for its client.
    mutating func takeConnectionToEvict() -> Int32? {
        let openCount = self.connections.count - self.closing.count
        guard openCount > self.limits.connections - self.limits.connections / 10 else { return nil }
        var chosen: (id: UInt, descriptor: Int32, countFromSameAddress: Int, phaseStart: MonotonicTime)?
        for (id, connection) in self.connections where connection.isAwaitingClient && !self.closing.contains(id) {
            let count = connection.address.map { self.connectionCounts[$0] ?? 0 } ?? 0
            if let chosen {
                // More connections of the address come first; for equal numbers, the phase that began earlier.
                let isBetterChoice =
                    count == chosen.countFromSameAddress
                    ? connection.phaseStart < chosen.phaseStart : count > chosen.countFromSameAddress
                guard isBetterChoice else { continue }
            }
            chosen = (id, connection.descriptor, count, connection.phaseStart)
        }
        guard let chosen else { return nil }
        self.beginClosing(chosen.id)
        return chosen.descriptor
    }

    /// Sets the phase of a connection, and the deadline of the phase; a connection that is being shut down gets none.
    mutating func enterPhase(_ phase: Phase, of id: UInt, at now: MonotonicTime) {
        let limit: Duration? =
            switch phase {
            // Between two requests a connection may be idle for `idleTimeout`; `headTimeout` begins after that.
            case .readingHead: self.limits.idleTimeout + self.limits.headTimeout
            case .readingBody: self.limits.bodyTimeout
            case .handling: nil
            case .sendingResponse: self.limits.responseTimeout
            }
        self.forgetResponse(of: id)
        self.connections[id]?.phase = phase
        self.connections[id]?.phaseStart = now
        self.connections[id]?.deadline = self.closing.contains(id) ? nil : limit.map { now + Milliseconds($0) }
    }

    /// Counts the response that a connection in the phase `sendingResponse` sends, unless it is being shut down.
    mutating func addResponse(ofBytes bytes: Int, of id: UInt) {
        guard self.connections[id] != nil, !self.closing.contains(id) else { return }
        self.connections[id]?.responseBytes = bytes
        self.responseBytes += bytes
    }

    /// Chooses a connection to shut down when the responses that clients have not received take too much memory.
    ///
    /// Only a connection that sends a response may be chosen. Among these, the address with the most bytes is chosen,
    /// and then the connection of this address with the earliest deadline. No connection is chosen twice.
    ///
    /// - Returns: the descriptor of the connection; nil while the responses are within
    ///   `HTTPLimits.unreadResponseBytes`.
    mutating func takeConnectionWithUnreadResponse() -> Int32? {
        guard self.responseBytes > self.limits.unreadResponseBytes else { return nil }
        let sending = self.connections.filter { $0.value.responseBytes > 0 }
        var bytesByAddress: [IPAddress?: Int] = [:]
        for connection in sending.values { bytesByAddress[connection.address, default: 0] += connection.responseBytes }
        let chosen = sending.max { left, right in
            let leftBytes = bytesByAddress[left.value.address] ?? 0
            let rightBytes = bytesByAddress[right.value.address] ?? 0
            guard leftBytes == rightBytes, let leftDeadline = left.value.deadline,
                let rightDeadline = right.value.deadline
            else { return leftBytes < rightBytes }
            // With equal sizes, the earliest deadline is the maximum.
            return rightDeadline < leftDeadline
        }
        guard let chosen else { return nil }
        self.beginClosing(chosen.key)
        return chosen.value.descriptor
    }

    /// Records that a connection was chosen to be shut down, so that it is not chosen again.
    private mutating func beginClosing(_ id: UInt) {
        self.closing.insert(id)
        self.forgetResponse(of: id)
        self.connections[id]?.deadline = nil
    }

    /// Stops counting the response of a connection.
    private mutating func forgetResponse(of id: UInt) {
        self.responseBytes -= self.connections[id]?.responseBytes ?? 0
        self.connections[id]?.responseBytes = 0
    }

    /// Counts a request of a client behind a trusted proxy.
    ///
    /// A client may have `HTTPLimits.connectionsPerAddress` open requests: as many as the connections that a client
    /// without a proxy may have.
    ///
    /// - Returns: false if the client has reached its limit of open requests; the request is not counted then.
    mutating func admitRequest(of client: IPAddress) -> Bool {
        guard self.requestCounts[client.limitKey, default: 0] < self.limits.connectionsPerAddress else { return false }
        self.requestCounts[client.limitKey, default: 0] += 1
        return true
    }

    /// Removes a request that `admitRequest` counted.
    mutating func releaseRequest(of client: IPAddress) { Self.decrement(client.limitKey, in: &self.requestCounts) }

    /// Returns the connections whose deadlines have passed, each of them only once.
    mutating func takeOverdue(at now: MonotonicTime) -> [Overdue] {
        var overdue: [Overdue] = []
        for (id, connection) in self.connections {
            guard let deadline = connection.deadline, deadline <= now else { continue }
            self.beginClosing(id)
            let refusal: HTTPRefusal =
                switch connection.phase {
                case .readingHead: .headTimeout
                case .readingBody: .bodyTimeout
                // `handling` has no deadline here, so only `sendingResponse` occurs.
                case .handling, .sendingResponse: .responseTimeout
                }
            overdue.append(Overdue(descriptor: connection.descriptor, refusal: refusal))
        }
        return overdue
    }

    /// Decreases the count of an address, and removes a count of zero.
    private static func decrement(_ key: IPAddress, in counts: inout [IPAddress: Int]) {
        let newCount = counts[key, default: 1] - 1
        counts[key] = newCount > 0 ? newCount : nil
    }
}

// SPDX-License-Identifier: Apache-2.0
internal import ClientAddress
internal import MachineKit

/// Counts the open connections of each address, and sets the deadline of each connection's current phase.
///
/// It is a value without IO. libmicrohttpd's own idle timeout restarts with each byte, so a slow client could hold a
/// connection for ever. The deadlines of this type do not restart.
struct OpenConnections {
    /// The phases of a connection.
    enum Phase {
        /// The server waits for the request line and headers, or reads them.
        case readingHead
        case readingBody
        /// The handler runs; `HTTPLimits.deadline` limits this phase.
        case handling
        case sendingResponse
    }

    /// A connection whose deadline has passed.
    struct Overdue: Equatable {
        var descriptor: Int32
        var refusal: HTTPRefusal
    }

    private struct Connection {
        let address: IPAddress?
        let descriptor: Int32
        var phase = Phase.readingHead
        var due: MonotonicTime?

        /// Whether the server waits for the client's next bytes.
        var isAwaitingClient: Bool { self.phase == .readingHead || self.phase == .readingBody }
    }

    private let limits: HTTPLimits
    private var connections: [UInt: Connection] = [:]
    private var connectionsOf: [IPAddress: Int] = [:]
    private var requestsOf: [IPAddress: Int] = [:]
    /// The connections that were shut down to make room, and that the daemon has not closed yet.
    private var surplus: Set<UInt> = []

    init(limits: HTTPLimits) { self.limits = limits }

    /// Whether no connection is open.
    var isEmpty: Bool { self.connections.isEmpty }

    /// Whether another connection of this address may be opened.
    ///
    /// A trusted proxy's connections serve many clients. Instead of them, the requests of each client are limited
    /// (`admitRequest`).
    func mayOpen(from address: IPAddress?) -> Bool {
        guard let address, !self.limits.trustedProxies.contains(address) else { return true }
        return self.connectionsOf[address.limitKey, default: 0] < self.limits.connectionsPerAddress
    }

    /// Adds a connection; `id` names it until `closed`.
    mutating func opened(_ id: UInt, from address: IPAddress?, descriptor: Int32, at now: MonotonicTime) {
        let due = now + Milliseconds(self.limits.headTimeout)
        self.connections[id] = Connection(address: address?.limitKey, descriptor: descriptor, due: due)
        if let key = address?.limitKey { self.connectionsOf[key, default: 0] += 1 }
    }

    /// Removes a connection.
    mutating func closed(_ id: UInt) {
        self.surplus.remove(id)
        guard let key = self.connections.removeValue(forKey: id)?.address else { return }
        Self.remove(key, from: &self.connectionsOf)
    }

    /// Chooses a connection to shut down when more than nine tenths of the connections are open.
    ///
    /// Clients of many addresses, each within its own limit, could otherwise occupy all connections with requests that
    /// never end. The choice is among the connections that wait for bytes from their clients: the address with the most
    /// connections, then the earliest deadline.
    ///
    /// - Returns: the descriptor of the connection; nil while enough connections are free, or when no connection waits
    ///   for its client.
    mutating func takeSurplus() -> Int32? {
        let open = self.connections.count - self.surplus.count
        guard open > self.limits.connections - self.limits.connections / 10 else { return nil }
        func count(_ connection: Connection) -> Int { connection.address.map { self.connectionsOf[$0] ?? 0 } ?? 0 }
        let waiting = self.connections.filter { $0.value.isAwaitingClient && !self.surplus.contains($0.key) }
        let found = waiting.max { a, b in
            let (of, with) = (count(a.value), count(b.value))
            guard of == with, let due = a.value.due, let other = b.value.due else { return of < with }
            return other < due
        }
        guard let found else { return nil }
        self.surplus.insert(found.key)
        self.connections[found.key]?.due = nil
        return found.value.descriptor
    }

    /// Sets the phase of a connection, and the deadline of the phase.
    mutating func entered(_ phase: Phase, _ id: UInt, at now: MonotonicTime) {
        let limit: Duration? =
            switch phase {
            // Between two requests a connection may be idle for `idleTimeout`; `headTimeout` begins after it.
            case .readingHead: self.limits.idleTimeout + self.limits.headTimeout
            case .readingBody: self.limits.bodyTimeout
            case .handling: nil
            case .sendingResponse: self.limits.responseTimeout
            }
        self.connections[id]?.phase = phase
        self.connections[id]?.due = limit.map { now + Milliseconds($0) }
    }

    /// Counts a request of a client behind a trusted proxy.
    ///
    /// - Returns: false if the client has reached its limit of open requests; the request is not counted then.
    mutating func admitRequest(of client: IPAddress) -> Bool {
        guard self.requestsOf[client.limitKey, default: 0] < self.limits.connectionsPerAddress else { return false }
        self.requestsOf[client.limitKey, default: 0] += 1
        return true
    }

    /// Removes a request that `admitRequest` counted.
    mutating func endedRequest(of client: IPAddress) { Self.remove(client.limitKey, from: &self.requestsOf) }

    /// Returns the connections whose deadlines have passed, each of them only once.
    mutating func takeOverdue(at now: MonotonicTime) -> [Overdue] {
        var overdue: [Overdue] = []
        for (id, connection) in self.connections {
            guard let due = connection.due, due <= now else { continue }
            self.connections[id]?.due = nil
            let refusal: HTTPRefusal =
                switch connection.phase {
                case .readingHead: .headTimeout
                case .readingBody: .bodyTimeout
                case .handling, .sendingResponse: .responseTimeout
                }
            overdue.append(Overdue(descriptor: connection.descriptor, refusal: refusal))
        }
        return overdue
    }

    private static func remove(_ key: IPAddress, from counts: inout [IPAddress: Int]) {
        let left = counts[key, default: 1] - 1
        counts[key] = left > 0 ? left : nil
    }
}

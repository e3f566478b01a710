// SPDX-License-Identifier: Apache-2.0
internal import ClientAddress
internal import MachineKit

/// The open connections of a server: how many each address has, and until when each must have done its next step.
///
/// It is a value without IO. The daemon closes a connection on which nothing happens, but each byte extends that time.
/// The deadlines here are extended by no byte.
struct OpenConnections {
    /// What a connection is doing.
    enum Phase {
        /// Request line and headers are awaited or being read.
        case readingHead
        case readingBody
        /// The handler decides; the server's own deadline bounds it.
        case handling
        case sendingResponse
    }

    /// A connection that is overdue.
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
    /// The connections that were cut off to make room, and that the daemon has not closed yet.
    private var surplus: Set<UInt> = []

    init(limits: HTTPLimits) { self.limits = limits }

    /// Whether no connection is open.
    var isEmpty: Bool { self.connections.isEmpty }

    /// Whether another connection of this address may be opened.
    ///
    /// A trusted proxy carries many clients; the requests of each are limited instead (`beganRequest`).
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

    /// Returns a connection to cut off, so that a place stays free for others; nil while a tenth of all places is free,
    /// or when no connection waits for its client.
    ///
    /// It belongs to the address with the most connections. Clients of many addresses could otherwise take all places
    /// by requests that never end, each address within its own limit. Of that address the one whose time ends first
    /// goes.
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

    /// The connection begins its next step.
    mutating func entered(_ phase: Phase, _ id: UInt, at now: MonotonicTime) {
        let limit: Duration? =
            switch phase {
            // Between two requests a connection may be idle as long as any, and then has the time for a head.
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
    /// - Returns: false if the client has as many open as it may; it is not counted then.
    mutating func beganRequest(of client: IPAddress) -> Bool {
        guard self.requestsOf[client.limitKey, default: 0] < self.limits.connectionsPerAddress else { return false }
        self.requestsOf[client.limitKey, default: 0] += 1
        return true
    }

    /// Removes a request that `beganRequest` counted.
    mutating func endedRequest(of client: IPAddress) { Self.remove(client.limitKey, from: &self.requestsOf) }

    /// Returns the connections that are overdue, each once.
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

// SPDX-License-Identifier: Apache-2.0
internal import ClientAddress
internal import Concurrency
internal import Glibc
internal import MachineKit

/// The connections of a server, as the daemon reports them on its thread.
extension ServerCore {
    /// Whether a connection of this address is accepted.
    func accepts(_ address: IPAddress?) -> Bool {
        let isAccepted = self.connections.withLock { $0.mayOpen(from: address) }
        if !isAccepted { self.refused(.connectionsPerAddress) }
        return isAccepted
    }

    /// Registers a new connection.
    func opened(_ id: UInt, from address: IPAddress?, descriptor: Int32) {
        let (isFirst, isCut) = self.connections.withLock { connections in
            let isFirst = connections.isEmpty
            connections.opened(id, from: address, descriptor: descriptor, at: MonotonicClock.now)
            // `shutdown` is called under the lock for the reason that `cutOverdue` names.
            let surplus = connections.takeSurplus()
            if let surplus { _ = shutdown(surplus, Int32(SHUT_RDWR)) }
            return (isFirst, surplus != nil)
        }
        if isCut { self.refused(.connectionsPerAddress) }
        if isFirst { self.deadlinesChanged.wakeUp() }
    }

    /// Removes a connection, whose descriptor the daemon closes after this call.
    func closed(_ id: UInt) { self.connections.withLock { $0.closed(id) } }

    /// Sets the phase of a connection, and the deadline of the phase.
    func entered(_ phase: OpenConnections.Phase, _ id: UInt) {
        self.connections.withLock { $0.entered(phase, id, at: MonotonicClock.now) }
    }

    /// Counts a request of a client behind a trusted proxy.
    ///
    /// - Returns: false if the client has reached its limit of open requests; the request is not counted then.
    func admitRequest(of client: IPAddress) -> Bool {
        let isAccepted = self.connections.withLock { $0.admitRequest(of: client) }
        if !isAccepted { self.refused(.requestsPerAddress) }
        return isAccepted
    }

    /// Removes a counted request.
    func endedRequest(of client: IPAddress) { self.connections.withLock { $0.endedRequest(of: client) } }

    /// Shuts down the connections whose deadlines have passed.
    ///
    /// Only the daemon may close a connection, on its own thread; it does so when the socket is shut down. Meanwhile
    /// the descriptor's number could be reused for another connection. Therefore `shutdown` is called under the lock:
    /// the daemon calls `closed`, which needs the lock, before it closes the descriptor.
    ///
    /// - Returns: whether no connection is open.
    func cutOverdue(at now: MonotonicTime) -> Bool {
        let (refusals, isEmpty) = self.connections.withLock { connections in
            let overdue = connections.takeOverdue(at: now)
            for connection in overdue { _ = shutdown(connection.descriptor, Int32(SHUT_RDWR)) }
            return (overdue.map(\.refusal), connections.isEmpty)
        }
        for refusal in refusals { self.refused(refusal) }
        return isEmpty
    }
}

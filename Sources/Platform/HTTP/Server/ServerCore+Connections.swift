// SPDX-License-Identifier: Apache-2.0
internal import CMicrohttpd
internal import ClientAddress
internal import Concurrency
internal import Glibc
internal import MachineKit

/// The connections of a server, as the daemon (the server thread of the library libmicrohttpd) reports them.
extension ServerCore {
    /// Decides whether a connection from this address is accepted, and reports a refusal.
    ///
    /// - Returns: whether it is accepted.
    func admitConnection(from address: IPAddress?) -> Bool {
        guard self.connections.withLock({ $0.mayOpen(from: address) }) else {
            self.reportRefusal(.connectionsPerAddress)
            return false
        }
        if let address, !self.limits.trustedProxies.contains(address),
            self.admission?.allowsHTTPConnection(from: address) == false
        {
            self.reportRefusal(.malformedRequests)
            return false
        }
        return true
    }

    /// Registers a new connection.
    func connectionOpened(_ id: UInt, from address: IPAddress?, descriptor: Int32) {
        let (isFirst, hasEvicted) = self.connections.withLock { connections in
            let isFirst = connections.isEmpty
            connections.add(id, from: address, descriptor: descriptor, at: MonotonicClock.now)
            // `shutdown` is called under the lock for the reason that `shutDownOverdue` names.
            let evictedDescriptor = connections.takeConnectionToEvict()
            if let evictedDescriptor { _ = shutdown(evictedDescriptor, Int32(SHUT_RDWR)) }
            return (isFirst, evictedDescriptor != nil)
        }
        if hasEvicted { self.reportRefusal(.connectionsPerAddress) }
        if isFirst { self.deadlinesChanged.wakeUp() }
    }

    /// Removes a connection; reports it to `admission` if its last request counts as malformed.
    ///
    /// The daemon closes the descriptor after this call.
    func connectionClosed(_ id: UInt, peer: IPAddress?, descriptor: Int32) {
        guard self.connections.withLock({ $0.remove(id) }) else { return }
        // If a head was too large, a part of it may be unread. If unread bytes stayed in the socket, the kernel would
        // reset the connection, and the client would lose the response.
        Self.discardInput(of: descriptor)
        if let peer, !self.limits.trustedProxies.contains(peer) { self.admission?.httpRequestMalformed(from: peer) }
    }

    /// Reads and discards what a socket has received, up to `maxDiscardedBytes`.
    private static func discardInput(of descriptor: Int32) {
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        for _ in 0..<Self.maxDiscardedBytes / buffer.count {
            if unsafe recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT)) <= 0 { return }
        }
    }

    private static let maxDiscardedBytes = 256 << 10

    /// Records whether the last request of a connection counts as malformed: a request whose head is malformed, too
    /// large or not complete.
    func headEnded(countsAsMalformed: Bool, of id: UInt) {
        self.connections.withLock { $0.headEnded(countsAsMalformed: countsAsMalformed, of: id) }
    }

    /// Sets the phase of a connection, and the deadline of the phase.
    func enterPhase(_ phase: OpenConnections.Phase, of id: UInt) {
        self.connections.withLock { $0.enterPhase(phase, of: id, at: MonotonicClock.now) }
    }

    /// Begins the phase in which a response is sent.
    ///
    /// If all unread responses together then take too much memory, this method shuts down connections whose clients
    /// have not taken their responses.
    func beginSending(_ response: HTTPResponse, on id: UInt) {
        let shutDownCount = self.connections.withLock { connections in
            connections.enterPhase(.sendingResponse, of: id, at: MonotonicClock.now)
            connections.addResponse(ofBytes: response.body.count, of: id)
            var shutDownCount = 0
            // `shutdown` is called under the lock for the reason that `shutDownOverdue` names.
            while let descriptor = connections.takeConnectionWithUnreadResponse() {
                _ = shutdown(descriptor, Int32(SHUT_RDWR))
                shutDownCount += 1
            }
            return shutDownCount
        }
        for _ in 0..<shutDownCount { self.reportRefusal(.unreadResponses) }
    }

    /// Counts a request of a client behind a trusted proxy.
    ///
    /// - Returns: false if the client has reached its limit of open requests; the request is not counted then.
    func admitRequest(of client: IPAddress) -> Bool {
        let isAdmitted = self.connections.withLock { $0.admitRequest(of: client) }
        if !isAdmitted { self.reportRefusal(.requestsPerAddress) }
        return isAdmitted
    }

    /// Removes a counted request.
    func releaseRequest(of client: IPAddress) { self.connections.withLock { $0.releaseRequest(of: client) } }

    /// Shuts down the connections whose deadlines have passed.
    ///
    /// Only the daemon may close a connection, on its own thread; it does so when the socket is shut down. The daemon
    /// closes a descriptor only after `connectionClosed`, which needs the lock. Therefore `shutdown` is called under
    /// the lock. Without the lock, the descriptor's number could already belong to another connection.
    func shutDownOverdue(at now: MonotonicTime) {
        let refusals = self.connections.withLock { connections in
            let overdue = connections.takeOverdue(at: now)
            for connection in overdue { _ = shutdown(connection.descriptor, Int32(SHUT_RDWR)) }
            return overdue.map(\.refusal)
        }
        for refusal in refusals { self.reportRefusal(refusal) }
    }
}

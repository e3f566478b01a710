// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
package import EventLoop

/// TCP proxies on 127.0.0.1 that can cut, silence and delay the connections through them.
///
/// Unlike network namespaces and packet filters, the proxies need no root rights. All proxies share one thread.
package final class FaultProxies: Sendable {
    /// The port of each proxy, in the order of the servers.
    package let ports: [UInt16]
    private let thread: LoopThread
    private let commands: Mailbox<Command>
    /// The number of open connections of each proxy.
    private let connectionCounts: Locked<[Int]>

    /// Sets the interruption of one proxy.
    private struct Command: Sendable {
        var proxy: Int
        var interruption: Interruption
    }

    /// Starts one proxy for each server.
    ///
    /// - Parameter servers: the ports on 127.0.0.1 to which connections are forwarded. A server need not listen yet.
    /// - Throws: `LoopError` when a proxy cannot listen.
    package init(servers: [UInt16]) throws(LoopError) {
        let commands = Mailbox<Command>(capacity: 1_024)
        let counts = Locked(servers.map { _ in 0 })
        let (thread, ports) = try EventLoop.start(name: "fault-proxy") { loop throws(LoopError) -> [UInt16] in
            let proxies = try servers.enumerated().map { index, server throws(LoopError) in
                try Proxy(loop, server: server) { count in counts.withLock { $0[index] = count } }
            }
            try commands.attach(to: loop) { batch in
                for command in batch { proxies[command.proxy].apply(command.interruption) }
            }
            return proxies.map(\.port)
        }
        self.thread = thread
        self.ports = ports
        self.commands = commands
        self.connectionCounts = counts
    }

    deinit { self.thread.stop() }

    /// Interrupts the connections of one proxy; returns before the interruption has begun.
    ///
    /// - Parameters:
    ///   - index: the proxy, in the order of the servers.
    ///   - interruption: replaces the proxy's earlier interruption; `none` ends it.
    package func interrupt(_ index: Int, _ interruption: Interruption) {
        // The mailbox is full only if the loop hangs.
        try? self.commands.post(Command(proxy: index, interruption: interruption))
    }

    /// The number of open connections of one proxy.
    package func connectionCount(_ index: Int) -> Int { self.connectionCounts.withLock { $0[index] } }

    /// Ends all connections and the thread.
    package func stop() {
        self.thread.stop()
        self.thread.join()
    }
}

/// One proxy: its listener and its connections, on the loop.
private final class Proxy {
    /// The port on which the proxy listens.
    private(set) var port: UInt16 = 0
    private var connections: [ObjectIdentifier: ProxiedConnection] = [:] {
        didSet { self.onCount(self.connections.count) }
    }
    private var interruption = Interruption.none
    private let onCount: (Int) -> Void

    /// `onCount` is called with the number of open connections whenever it changes.
    init(_ loop: EventLoop, server: UInt16, onCount: @escaping (Int) -> Void) throws(LoopError) {
        self.onCount = onCount
        // The loop keeps the listener.
        let listener = try TCPListener(loop: loop, host: "127.0.0.1", port: 0) { [weak self] stream in
            self?.accept(stream, server)
        }
        self.port = listener.port
    }

    private func accept(_ stream: TCPStream, _ server: UInt16) {
        // The listener closes a stream that has no delegate when this function returns.
        if self.interruption == .cut { return }
        let connection = ProxiedConnection(
            loop: stream.loop, client: stream, port: server
        ) { [weak self] in self?.connections[ObjectIdentifier($0)] = nil }
        self.connections[ObjectIdentifier(connection)] = connection
        connection.apply(self.interruption)
    }

    /// Applies an interruption to all current and future connections.
    func apply(_ interruption: Interruption) {
        self.interruption = interruption
        for connection in Array(self.connections.values) { connection.apply(interruption) }
    }
}

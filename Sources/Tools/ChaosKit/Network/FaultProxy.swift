// SPDX-License-Identifier: Apache-2.0
package import EventLoop

/// TCP proxies on 127.0.0.1 that can cut, silence and delay the connections through them.
///
/// Unlike network namespaces and packet filters, the proxies need no root rights. All proxies share one thread.
package final class FaultProxy: Sendable {
    /// The port of each proxy, in the order of the servers.
    package let ports: [UInt16]
    private let thread: LoopThread
    private let commands: Mailbox<Command>

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
        let (thread, ports) = try EventLoop.start(name: "fault-proxy") { loop throws(LoopError) -> [UInt16] in
            let links = try servers.map { server throws(LoopError) in try ProxiedLink(loop, server: server) }
            try commands.attach(to: loop) { batch in
                for command in batch { links[command.proxy].apply(command.interruption) }
            }
            return links.map(\.port)
        }
        self.thread = thread
        self.ports = ports
        self.commands = commands
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

    /// Ends all connections and the thread.
    package func stop() {
        self.thread.stop()
        self.thread.join()
    }
}

/// The listener of one proxy and its connections, on the loop.
private final class ProxiedLink {
    private(set) var port: UInt16 = 0
    private var connections: [ObjectIdentifier: ProxiedConnection] = [:]
    private var interruption = Interruption.none

    init(_ loop: EventLoop, server: UInt16) throws(LoopError) {
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

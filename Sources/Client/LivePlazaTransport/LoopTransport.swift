// SPDX-License-Identifier: Apache-2.0
internal import EventLoop
public import LivePlazaKit
internal import WebSocket

/// WebSockets over libuv, for systems without URLSession's.
///
/// One thread serves all connections of a transport, so one transport suffices for any number of clients. It has no
/// TLS: an address that begins with `wss` is refused.
public final class LoopTransport: Transport {
    private let commands = Mailbox<Command>(capacity: 100_000)
    private let thread: LoopThread
    private let sockets = SocketNumbers()

    /// Starts the thread.
    ///
    /// - Throws: `failed` when the system has no thread or descriptor left.
    public init() throws(ErrorInfo) {
        let commands = self.commands
        do throws(LoopError) {
            (self.thread, _) = try EventLoop.start(name: "plaza-sockets") { (loop) throws(LoopError) -> Bool in
                let sockets = try SocketLoop(loop)
                try commands.attach(to: loop) { batch in
                    for command in batch { sockets.perform(command) }
                }
                return true
            }
        } catch {
            throw ErrorInfo(code: -1, message: "no thread for connections: \(error)")
        }
    }

    deinit { self.thread.stop() }

    /// Begins to open a WebSocket; see `Transport`.
    ///
    /// - Throws: `invalidParameter` if the text is not a `ws` address. A `wss` address is refused as well, because this
    ///   transport has no TLS.
    public func connect(
        to address: String, onEvent: @escaping @Sendable (TransportEvent) -> Void
    ) throws(ErrorInfo) -> any TransportConnection {
        let address = try GatewayAddress(address)
        let number = self.sockets.next()
        if (try? self.commands.post(.connect(number, address, onEvent))) == nil { onEvent(.closed(code: 1006)) }
        return LoopConnection(number: number, commands: self.commands, transport: self)
    }
}

/// The address of a gateway: `ws://host:port/path`.
struct GatewayAddress: Sendable, Equatable {
    let host: String
    let port: UInt16
    let path: String

    /// Parses an address.
    ///
    /// - Throws: `invalidParameter` for another scheme than `ws`, or no host.
    init(_ text: String) throws(ErrorInfo) {
        func refused(_ reason: String) -> ErrorInfo { ErrorInfo(code: -1001, message: "'\(text)' \(reason)") }
        guard !text.hasPrefix("wss://") else { throw refused("needs TLS, which this transport has not") }
        guard text.hasPrefix("ws://") else { throw refused("does not begin with ws://") }
        let rest = text.dropFirst("ws://".count)
        let authority = rest.prefix { $0 != "/" }
        let path = rest.dropFirst(authority.count)
        self.path = path.isEmpty ? "/" : String(path)
        if authority.hasPrefix("[") {
            // An IPv6 address is written in brackets, because it contains colons.
            guard let end = authority.firstIndex(of: "]") else { throw refused("has no closing bracket") }
            self.host = String(authority[authority.index(after: authority.startIndex)..<end])
            let port = authority[authority.index(after: end)...]
            guard port.isEmpty || port.hasPrefix(":") else { throw refused("has no port after the bracket") }
            guard let number = port.isEmpty ? 80 : UInt16(port.dropFirst()) else { throw refused("has no valid port") }
            self.port = number
        } else {
            let parts = authority.split(separator: ":", omittingEmptySubsequences: false)
            self.host = String(parts[0])
            guard parts.count <= 2, let number = parts.count == 2 ? UInt16(parts[1]) : 80 else {
                throw refused("has no valid port")
            }
            self.port = number
        }
        if self.host.isEmpty || self.port == 0 { throw refused("has no host and port") }
    }
}

/// A command from any thread to the loop, with the number of its WebSocket.
private enum Command: Sendable {
    case connect(UInt64, GatewayAddress, @Sendable (TransportEvent) -> Void)
    case send(UInt64, [UInt8])
    case close(UInt64, code: UInt16)
}

/// A WebSocket as its client sees it.
private struct LoopConnection: TransportConnection {
    let number: UInt64
    let commands: Mailbox<Command>
    /// Retains the transport, and with it the thread.
    let transport: LoopTransport

    func send(_ text: [UInt8]) {
        // If the queue is full, the text is lost. Then the connection is closed, because the texts after it must not be
        // sent without it.
        if (try? self.commands.post(.send(self.number, text))) == nil { self.close(code: 1000) }
    }

    func close(code: Int) { try? self.commands.post(.close(self.number, code: UInt16(clamping: code))) }
}

/// The WebSockets, on the loop's thread.
private final class SocketLoop {
    private let group: WebSocketGroup
    private var sockets: [UInt64: Socket] = [:]

    init(_ loop: EventLoop) throws(LoopError) {
        var configuration = WebSocketConfiguration()
        // The maximum size of a server's message (PROTOCOL.md, section 12).
        configuration.maxMessageBytes = 4 << 20
        self.group = WebSocketGroup(loop: loop, configuration: configuration)
        try self.group.startSweeping()
    }

    func perform(_ command: Command) {
        switch command {
        case .connect(let number, let address, let onEvent): self.connect(number, address, onEvent)
        case .send(let number, let text): self.sockets[number]?.connection?.sendText(text.span)
        case .close(let number, let code): self.sockets[number]?.connection?.close(CloseCode(rawValue: code))
        }
    }

    private func connect(
        _ number: UInt64, _ address: GatewayAddress, _ onEvent: @escaping @Sendable (TransportEvent) -> Void
    ) {
        let socket = Socket(onEvent) { [weak self] in self?.sockets[number] = nil }
        let target = WebSocketTarget(
            host: address.host, port: address.port, path: address.path, subprotocols: ["liveplaza.v1"])
        do {
            socket.connection = try WebSocketConnection.connect(group: self.group, to: target, delegate: socket)
            self.sockets[number] = socket
        } catch {
            onEvent(.closed(code: 1006))
        }
    }
}

/// One WebSocket, on the loop's thread.
private final class Socket: WebSocketDelegate {
    var connection: WebSocketConnection?
    private let onEvent: @Sendable (TransportEvent) -> Void
    private let ended: () -> Void

    init(_ onEvent: @escaping @Sendable (TransportEvent) -> Void, ended: @escaping () -> Void) {
        self.onEvent = onEvent
        self.ended = ended
    }

    func webSocketOpened(_ connection: WebSocketConnection, _ request: UpgradeRequest?) { self.onEvent(.opened) }

    func webSocket(_ connection: WebSocketConnection, receivedText text: Span<UInt8>) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        for index in text.indices { bytes.append(text[index]) }
        self.onEvent(.text(bytes))
    }

    func webSocket(_ connection: WebSocketConnection, receivedBinary bytes: Span<UInt8>) { self.onEvent(.binary) }

    func webSocketClosed(_ connection: WebSocketConnection, _ closure: WebSocketClosure) {
        self.onEvent(.closed(code: Int(closure.code.rawValue)))
        self.connection = nil
        self.ended()
    }
}

// SPDX-License-Identifier: Apache-2.0
internal import EventLoop
public import LivePlazaKit
internal import TLS
internal import WebSocket

/// Opens WebSockets with libuv, and with TLS by OpenSSL, for systems on which URLSession has no WebSockets.
///
/// One thread serves all connections of a transport, so one transport suffices for any number of clients.
public final class LoopTransport: Transport {
    private let commands = Mailbox<Command>(capacity: 100_000)
    private let thread: LoopThread
    private let sockets = SocketNumbers()

    /// Starts the thread.
    ///
    /// - Parameter certificateAuthorities: The path of a file with certificates in PEM. A `wss` server must have a
    ///   certificate of one of these authorities. Nil trusts the authorities of the system.
    /// - Throws: `invalidParameter` when the certificates cannot be read; `failed` when the system has no thread or
    ///   descriptor left.
    public init(certificateAuthorities: String? = nil) throws(ErrorInfo) {
        let commands = self.commands
        let tls: TLSClient
        do throws(LoopError) {
            tls = try TLSClient(authorities: certificateAuthorities)
        } catch {
            // -1001 is the code of `invalidParameter`.
            throw ErrorInfo(code: -1001, message: "the certificates of authorities cannot be read: \(error)")
        }
        do throws(LoopError) {
            (self.thread, _) = try EventLoop.start(name: "plaza-sockets") { (loop) throws(LoopError) -> Bool in
                let sockets = try SocketLoop(loop, tls)
                try commands.attach(to: loop) { batch in
                    for command in batch { sockets.perform(command) }
                }
                return true
            }
        } catch {
            // -1 is the code of `failed`.
            throw ErrorInfo(code: -1, message: "no thread for connections: \(error)")
        }
    }

    deinit { self.thread.stop() }

    /// Begins to open a WebSocket; see `Transport`.
    ///
    /// A TLS handshake that fails, for example because the server's certificate is not trusted, closes the WebSocket
    /// with the code 1015.
    ///
    /// - Throws: `invalidParameter` if the text is neither a `ws` nor a `wss` address.
    public func connect(
        to address: String, onEvent: @escaping @Sendable (TransportEvent) -> Void
    ) throws(ErrorInfo) -> any TransportConnection {
        let address = try GatewayAddress(address)
        let number = self.sockets.next()
        if (try? self.commands.post(.connect(number, address, onEvent))) == nil { onEvent(.closed(code: 1006)) }
        return LoopConnection(number: number, commands: self.commands, transport: self)
    }
}

/// A command from any thread to the loop, with the number of its WebSocket.
private enum Command: Sendable {
    case connect(UInt64, GatewayAddress, @Sendable (TransportEvent) -> Void)
    case send(UInt64, [UInt8])
    case close(UInt64, code: UInt16)
}

/// A WebSocket of a transport, as its client uses it.
private struct LoopConnection: TransportConnection {
    let number: UInt64
    let commands: Mailbox<Command>
    /// Retains the transport, and with it the thread.
    let transport: LoopTransport

    func send(_ text: [UInt8]) {
        // If the queue of commands is full, the text is lost. Later texts must not be sent without it, so the connection is
        // closed.
        if (try? self.commands.post(.send(self.number, text))) == nil { self.close(code: 1000) }
    }

    func close(code: Int) { try? self.commands.post(.close(self.number, code: UInt16(clamping: code))) }
}

/// The WebSockets, on the loop's thread.
private final class SocketLoop {
    private let group: WebSocketGroup
    private let tls: TLSClient
    private var sockets: [UInt64: Socket] = [:]

    init(_ loop: EventLoop, _ tls: TLSClient) throws(LoopError) {
        self.tls = tls
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
        do throws(LoopError) {
            let security = address.isSecure ? try self.tls.makeSession(host: address.host) : nil
            socket.connection = try WebSocketConnection.connect(
                group: self.group, to: target, security: security, delegate: socket)
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
    private let onEnd: () -> Void

    init(_ onEvent: @escaping @Sendable (TransportEvent) -> Void, onEnd: @escaping () -> Void) {
        self.onEvent = onEvent
        self.onEnd = onEnd
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
        var code = closure.code
        if case .connection(.tls) = closure.cause { code = .tlsFailed }
        self.onEvent(.closed(code: Int(code.rawValue)))
        self.connection = nil
        self.onEnd()
    }
}

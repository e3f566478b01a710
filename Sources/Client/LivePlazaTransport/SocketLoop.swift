// SPDX-License-Identifier: Apache-2.0
internal import EventLoop
internal import LivePlazaKit
internal import TLS
internal import WebSocket

/// A command from any thread to the loop.
struct SocketCommand: Sendable {
    enum Action: Sendable {
        case connect(GatewayAddress, @Sendable (TransportEvent) -> Void)
        case send([UInt8])
        case close(code: UInt16)
    }

    /// The number of the WebSocket.
    let socket: UInt64
    let action: Action

    init(socket: UInt64, _ action: Action) {
        self.socket = socket
        self.action = action
    }
}

/// The WebSockets of a transport, on the loop's thread.
final class SocketLoop {
    private let group: WebSocketGroup
    private let tls: TLSClient
    /// By number, the WebSockets that are open or being opened.
    private var sockets: [UInt64: Socket] = [:]

    init(_ loop: EventLoop, _ tls: TLSClient) throws(LoopError) {
        self.tls = tls
        var configuration = WebSocketConfiguration()
        // The maximum size of a server's message: 4 MiB (PROTOCOL.md, section 12).
        configuration.maxMessageBytes = 4 << 20
        self.group = WebSocketGroup(loop: loop, configuration: configuration)
        // From now on the group regularly checks the timeouts of its WebSockets.
        try self.group.startSweeping()
    }

    func perform(_ command: SocketCommand) {
        switch command.action {
        case .connect(let address, let onEvent): self.connect(command.socket, address, onEvent)
        case .send(let text): self.sockets[command.socket]?.connection?.sendText(text.span)
        case .close(let code): self.sockets[command.socket]?.connection?.close(CloseCode(rawValue: code))
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
            // 1006 is the code for a connection that could not be opened.
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

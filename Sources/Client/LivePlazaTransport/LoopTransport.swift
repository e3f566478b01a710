// SPDX-License-Identifier: Apache-2.0
internal import EventLoop
public import LivePlazaKit
internal import TLS

/// Opens WebSockets with libuv, and with TLS by OpenSSL, for systems on which URLSession has no WebSockets.
///
/// One thread serves all connections of a transport, so one transport suffices for any number of clients.
public final class LoopTransport: Transport {
    private let commands = Mailbox<SocketCommand>(capacity: 100_000)
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
            tls = try TLSClient(authoritiesFile: certificateAuthorities)
        } catch {
            throw .invalidParameter("the certificates of authorities cannot be read: \(error)")
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
            throw .failed("no thread for connections: \(error)")
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
        if (try? self.commands.post(SocketCommand(socket: number, .connect(address, onEvent)))) == nil {
            onEvent(.closed(code: 1006))
        }
        return LoopConnection(number: number, commands: self.commands, transport: self)
    }
}

/// A WebSocket of a transport, as its client uses it.
private struct LoopConnection: TransportConnection {
    let number: UInt64
    let commands: Mailbox<SocketCommand>
    /// Retains the transport, and with it the thread.
    let transport: LoopTransport

    func send(_ text: [UInt8]) {
        // If the queue of commands is full, the text is lost. Later texts must not be sent without it, so the
        // connection is closed.
        let command = SocketCommand(socket: self.number, .send(text))
        if (try? self.commands.post(command)) == nil { self.close(code: 1000) }
    }

    func close(code: Int) {
        try? self.commands.post(SocketCommand(socket: self.number, .close(code: UInt16(clamping: code))))
    }
}

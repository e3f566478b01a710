// SPDX-License-Identifier: Apache-2.0
internal import EventLoop
public import LivePlazaKit
internal import TLS

/// Opens WebSockets with libuv, and with TLS by OpenSSL, for systems on which URLSession has no WebSockets.
///
/// One thread serves all connections of a transport, so one transport suffices for any number of clients.
public final class LoopTransport: Transport {
    /// The commands that wait for the loop; while 100,000 commands wait, further commands are rejected.
    private let commands = Mailbox<SocketCommand>(capacity: 100_000)
    private let thread: LoopThread
    private let socketNumbers = SocketNumbers()

    /// Starts the thread.
    ///
    /// - Parameter certificateAuthorities: the path of a file with certificates in PEM. A `wss` server must have a
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
            // The form of `start` with a result throws the errors of its closure; the result itself is not needed.
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
        let number = self.socketNumbers.next()
        if (try? self.commands.post(SocketCommand(socket: number, .connect(address, onEvent)))) == nil {
            // The command was rejected. 1006 is the code for a connection that could not be opened.
            onEvent(.closed(code: 1006))
        }
        return LoopConnection(
            queue: SocketCommandQueue(socket: number, commands: self.commands), transport: self)
    }
}

/// A WebSocket of a transport, as its client uses it.
private struct LoopConnection: TransportConnection {
    let queue: SocketCommandQueue
    /// Retains the transport, and with it the thread.
    let transport: LoopTransport

    func send(_ text: [UInt8]) { self.queue.send(text) }

    func close(code: Int) { self.queue.close(code: UInt16(clamping: code)) }
}

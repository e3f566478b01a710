// SPDX-License-Identifier: Apache-2.0
import Foundation
import LivePlazaKit

/// A transport whose connections a test interrupts, as a bad network does.
final class UnreliableTransport: Transport, @unchecked Sendable {
    private let transport: any Transport
    private let lock = NSLock()
    private var isDown = false
    /// The connection that was made last.
    private weak var connection: UnreliableConnection?

    init(_ transport: any Transport) { self.transport = transport }

    func connect(
        to address: String, onEvent: @escaping @Sendable (TransportEvent) -> Void
    ) throws(ErrorInfo) -> any TransportConnection {
        let connection = UnreliableConnection(onEvent)
        let isDown = self.lock.withLock {
            self.connection = connection
            return self.isDown
        }
        if isDown {
            // Later, because a transport reports no event before it has returned the connection.
            DispatchQueue.global().async { connection.cut() }
        } else {
            connection.use(try self.transport.connect(to: address) { connection.received($0) })
        }
        return connection
    }

    /// Cuts the connection; all attempts to connect fail until `endOutage`.
    func beginOutage() {
        self.lock.withLock { self.isDown = true }
        self.cut()
    }

    /// Lets the client connect again.
    func endOutage() { self.lock.withLock { self.isDown = false } }

    /// Cuts the connection; the client may connect again at once.
    func cut() { self.present?.cut() }

    /// From now on, what the server sends on the present connection is lost.
    func loseReceivedFrames() { self.present?.loses(received: true) }

    /// From now on, what the client sends on the present connection is lost.
    func loseSentFrames() { self.present?.loses(sent: true) }

    private var present: UnreliableConnection? { self.lock.withLock { self.connection } }
}

private final class UnreliableConnection: TransportConnection, @unchecked Sendable {
    private let lock = NSLock()
    private let onEvent: @Sendable (TransportEvent) -> Void
    /// The real connection; nil until there is one.
    private var connection: (any TransportConnection)?
    private var isCut = false
    private var losesReceived = false
    private var losesSent = false

    init(_ onEvent: @escaping @Sendable (TransportEvent) -> Void) { self.onEvent = onEvent }

    /// Sets the real connection, which is closed at once if this one was cut before.
    func use(_ connection: any TransportConnection) {
        let isCut = self.lock.withLock {
            self.connection = connection
            return self.isCut
        }
        if isCut { connection.close(code: Self.goingAway) }
    }

    func received(_ event: TransportEvent) {
        self.lock.withLock { if !self.isCut, !self.losesReceived { self.onEvent(event) } }
    }

    func loses(received: Bool = false, sent: Bool = false) {
        self.lock.withLock {
            self.losesReceived = self.losesReceived || received
            self.losesSent = self.losesSent || sent
        }
    }

    /// Ends the connection for both sides; the client learns of it as of a lost network.
    func cut() {
        let connection = self.lock.withLock {
            if !self.isCut { self.onEvent(.closed(code: 1006)) }
            self.isCut = true
            return self.connection
        }
        connection?.close(code: Self.goingAway)
    }

    func send(_ text: [UInt8]) {
        let connection = self.lock.withLock { self.isCut || self.losesSent ? nil : self.connection }
        connection?.send(text)
    }

    func close(code: Int) { self.lock.withLock { self.connection }?.close(code: code) }

    /// The close code of a client that goes away (RFC 6455), which does not mean that the user leaves its live.
    private static let goingAway = 1001
}

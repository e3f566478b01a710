// SPDX-License-Identifier: Apache-2.0
import Foundation
import LivePlazaKit

/// A transport whose connections a test interrupts, as a bad network does.
final class UnreliableTransport: Transport, @unchecked Sendable {
    private let transport: any Transport
    private let lock = NSLock()
    private var isDown = false
    /// How many further frames are delivered before the connection is cut; nil while no cut is planned.
    private var framesUntilCut: Int?
    /// The connection that was made last.
    private weak var connection: UnreliableConnection?

    init(_ transport: any Transport) { self.transport = transport }

    func connect(
        to address: String, onEvent: @escaping @Sendable (TransportEvent) -> Void
    ) throws(ErrorInfo) -> any TransportConnection {
        let connection = UnreliableConnection(onEvent) { [weak self] in self?.countFrame() ?? true }
        let isDown = self.lock.withLock {
            self.connection = connection
            return self.isDown
        }
        if isDown || !self.countFrame() {
            // The connection is cut asynchronously, because a transport reports no event before `connect` has returned
            // the connection.
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

    /// Cuts the connection, and cancels a planned cut; the client may connect again at once.
    func cut() {
        self.lock.withLock { self.framesUntilCut = nil }
        self.currentConnection?.cut()
    }

    /// Cuts the connection after a number of further frames; replaces a cut that was planned before.
    ///
    /// The frames of both directions are counted together, as `SimulatedCluster` of LivePlazaTesting counts them. The
    /// request to open a connection and its answer are one frame each.
    ///
    /// - Parameter count: how many frames are still delivered. The connection is cut at the frame after them, which is
    ///   lost.
    func cut(afterFrames count: Int) { self.lock.withLock { self.framesUntilCut = count } }

    /// Whether a planned cut is still to come.
    var isCutPlanned: Bool { self.lock.withLock { self.framesUntilCut != nil } }

    /// Whether the current connection is open.
    var isOpen: Bool { self.currentConnection?.isOpen ?? false }

    /// Counts a frame.
    ///
    /// - Returns: false if the frame is lost, because the connection must be cut now.
    private func countFrame() -> Bool {
        self.lock.withLock {
            guard let count = self.framesUntilCut else { return true }
            self.framesUntilCut = count > 0 ? count - 1 : nil
            return count > 0
        }
    }

    /// From now on, what the server sends on the current connection is lost.
    func loseReceivedFrames() { self.currentConnection?.loseReceivedFrames() }

    /// From now on, what the client sends on the current connection is lost.
    func loseSentFrames() { self.currentConnection?.loseSentFrames() }

    private var currentConnection: UnreliableConnection? { self.lock.withLock { self.connection } }
}

private final class UnreliableConnection: TransportConnection, @unchecked Sendable {
    private let lock = NSLock()
    private let onEvent: @Sendable (TransportEvent) -> Void
    /// Counts a frame; returns false if the frame is lost, because the connection must be cut now.
    private let countFrame: @Sendable () -> Bool
    /// The real connection; nil until there is one.
    private var connection: (any TransportConnection)?
    private var wasOpened = false
    private var isCut = false
    private var losesReceived = false
    private var losesSent = false

    init(
        _ onEvent: @escaping @Sendable (TransportEvent) -> Void, countFrame: @escaping @Sendable () -> Bool
    ) {
        (self.onEvent, self.countFrame) = (onEvent, countFrame)
    }

    var isOpen: Bool { self.lock.withLock { self.wasOpened && !self.isCut } }

    /// Sets the real connection, and closes it at once if `cut` was called before.
    func use(_ connection: any TransportConnection) {
        let isCut = self.lock.withLock {
            self.connection = connection
            return self.isCut
        }
        if isCut { connection.close(code: Self.goingAway) }
    }

    func received(_ event: TransportEvent) {
        let isEnd = if case .closed = event { true } else { false }
        // The end of the connection is not counted as a frame.
        guard isEnd || self.countUnlessCut() else { return self.cut() }
        self.lock.withLock {
            guard !self.isCut, !self.losesReceived else { return }
            if event == .opened { self.wasOpened = true }
            if isEnd { self.isCut = true }
            self.onEvent(event)
        }
    }

    /// Counts a frame, unless the connection is cut already.
    ///
    /// - Returns: false if the frame is lost, because the connection must be cut now.
    private func countUnlessCut() -> Bool { self.lock.withLock { self.isCut } || self.countFrame() }

    func loseReceivedFrames() { self.lock.withLock { self.losesReceived = true } }
    func loseSentFrames() { self.lock.withLock { self.losesSent = true } }

    /// Ends the connection for both sides; the client gets the close code 1006, as when the network is lost.
    func cut() {
        let connection = self.lock.withLock {
            if !self.isCut { self.onEvent(.closed(code: 1006)) }
            self.isCut = true
            return self.connection
        }
        connection?.close(code: Self.goingAway)
    }

    func send(_ text: [UInt8]) {
        guard self.countUnlessCut() else { return self.cut() }
        let connection = self.lock.withLock { self.isCut || self.losesSent ? nil : self.connection }
        connection?.send(text)
    }

    func close(code: Int) { self.lock.withLock { self.connection }?.close(code: code) }

    /// The close code of a client that goes away (RFC 6455), which does not mean that the user leaves its live.
    private static let goingAway = 1001
}

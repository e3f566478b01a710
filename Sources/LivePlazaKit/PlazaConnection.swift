// SPDX-License-Identifier: Apache-2.0
package import EventLoop
package import PlazaModel
package import WebSocket

/// What a connection tells its owner, on its loop's thread.
package protocol PlazaConnectionDelegate: AnyObject {
    /// A call has ended.
    func connection(_ connection: PlazaConnection, call id: Int64, ended outcome: Outcome)
    /// New items came; those before `skip` are known already. The text is the whole frame, and only lent. When the scan
    /// says that it is history, they are messages of before, and not new.
    func connection(_ connection: PlazaConnection, feed scan: FeedScan, skip: Int, text: Span<UInt8>)
    /// Anything else.
    func connection(_ connection: PlazaConnection, event: ClientCore.Event)
}

/// A server to connect to.
package struct PlazaAddress: Hashable, Sendable {
    package var host: String
    package var port: UInt16

    package init(host: String, port: UInt16) {
        self.host = host
        self.port = port
    }
}

/// The clients of one loop: they share limits, and one timer for all.
package final class PlazaConnectionGroup {
    let sockets: WebSocketGroup
    private var timer: LoopTimer?
    /// In no order; each knows its place.
    private var connections: [PlazaConnection] = []
    private var nextTick = 0
    /// Each connection's time is looked at ten times a second, a part of them at a time: thousands at once would keep what
    /// arrives waiting.
    private static let (parts, partMilliseconds) = (10, 10 as UInt64)

    /// Makes an empty group on `loop`.
    package init(loop: EventLoop) throws(LoopError) {
        var configuration = WebSocketConfiguration()
        configuration.maxMessageBytes = 4 << 20
        configuration.pingIntervalMilliseconds = 15_000
        self.sockets = WebSocketGroup(loop: loop, configuration: configuration)
        try self.sockets.startSweeping()
        let timer = try LoopTimer(loop: loop) { [weak self] _ in self?.tick() }
        timer.start(afterMilliseconds: Self.partMilliseconds, repeatingMilliseconds: Self.partMilliseconds)
        self.timer = timer
    }

    /// Ends all connections and the timers, so that the loop can end.
    package func stop() {
        for connection in self.connections { connection.stop() }
        self.timer?.close()
        self.timer = nil
        self.sockets.stopSweeping()
    }

    var now: Int64 { Int64(self.sockets.loop.nowMilliseconds) }

    func add(_ connection: PlazaConnection) {
        connection.groupIndex = self.connections.count
        self.connections.append(connection)
    }

    func remove(_ connection: PlazaConnection) {
        guard let index = connection.groupIndex else { return }
        connection.groupIndex = nil
        let last = self.connections.removeLast()
        guard last !== connection else { return }
        self.connections[index] = last
        last.groupIndex = index
    }

    private func tick() {
        for _ in 0..<(self.connections.count / Self.parts + 1) where !self.connections.isEmpty {
            if self.nextTick >= self.connections.count { self.nextTick = 0 }
            self.connections[self.nextTick].tick()
            self.nextTick += 1
        }
    }
}

/// One client on a loop: `ClientCore` over a WebSocket.
package final class PlazaConnection {
    /// Who is told; kept by the connection's owner.
    package weak var delegate: (any PlazaConnectionDelegate)?
    private let group: PlazaConnectionGroup
    /// Its place in the group; nil once it has left.
    fileprivate var groupIndex: Int?
    private let addresses: [PlazaAddress]
    private var addressIndex: Int
    private var core: ClientCore
    private var socket: WebSocketConnection?

    /// Prepares a client.
    ///
    /// - Parameters:
    ///   - group: where it lives.
    ///   - addresses: the gateways; a reconnect tries the next one.
    ///   - first: which of them is tried first.
    ///   - options: who it is.
    ///   - seed: for its jitter.
    package init(
        group: PlazaConnectionGroup, addresses: [PlazaAddress], first: Int = 0, options: ClientCore.Options,
        seed: UInt64
    ) {
        precondition(!addresses.isEmpty, "a client needs an address to connect to")
        self.group = group
        self.addresses = addresses
        self.addressIndex = first % addresses.count
        self.core = ClientCore(options, seed: seed)
    }

    package var state: ClientCore.State { self.core.state }
    package var live: LiveID? { self.core.live }
    package var tracker: FeedTracker { self.core.tracker }
    package var reconnects: Int { self.core.reconnects }

    /// Begins to connect.
    package func start() {
        self.group.add(self)
        self.perform { core, _, actions in core.start(into: &actions) }
    }

    /// Ends for good.
    package func stop() {
        self.perform { core, _, actions in core.stop(into: &actions) }
        self.group.remove(self)
    }

    /// Cuts the TCP connection without a word, as a lost network does; the client then reconnects by itself.
    package func cut() { self.socket?.terminate() }

    /// Asks for something; `params` is JSON.
    ///
    /// - Returns: the call's id.
    @discardableResult
    package func call(_ method: String, params: [UInt8], live: LiveID? = nil) -> Int64 {
        var id: Int64 = 0
        self.perform { core, now, actions in
            id = core.call(method, params: params, live: live, at: now, into: &actions)
        }
        return id
    }

    /// The live has ended: there is nothing to resume.
    package func forgetRoom() { self.core.leaveRoom() }

    func tick() { self.perform { core, now, actions in core.tick(at: now, into: &actions) } }

    private func perform(_ body: (inout ClientCore, Int64, inout [ClientCore.Action]) -> Void) {
        var actions: [ClientCore.Action] = []
        body(&self.core, self.group.now, &actions)
        for action in actions { self.perform(action) }
    }

    private func perform(_ action: ClientCore.Action) {
        switch action {
        case .connect(let elsewhere): self.connect(elsewhere: elsewhere)
        case .send(let bytes): self.socket?.sendText(bytes.span)
        case .disconnect: self.socket?.close(.normal)
        case .callEnded(let id, let outcome): self.delegate?.connection(self, call: id, ended: outcome)
        case .event(let event): self.delegate?.connection(self, event: event)
        }
    }

    private func connect(elsewhere: Bool) {
        if elsewhere { self.addressIndex = (self.addressIndex + 1) % self.addresses.count }
        let address = self.addresses[self.addressIndex]
        let target = WebSocketTarget(
            host: address.host, port: address.port, path: "/v1", subprotocols: ["liveplaza.v1"])
        do {
            self.socket = try WebSocketConnection.connect(group: self.group.sockets, to: target, delegate: self)
        } catch {
            self.perform { core, now, actions in core.disconnected(code: 1006, at: now, into: &actions) }
        }
    }
}

extension PlazaConnection: WebSocketDelegate {
    package func webSocketOpened(_ connection: WebSocketConnection, _ request: UpgradeRequest?) {
        self.perform { core, now, actions in core.connected(at: now, into: &actions) }
    }

    package func webSocket(_ connection: WebSocketConnection, receivedText text: Span<UInt8>) {
        if FeedScan.isFeed(text), let scan = FeedScan(text) {
            switch self.core.feedReceived(scan) {
            case .fresh, .history: self.delegate?.connection(self, feed: scan, skip: 0, text: text)
            case .partlyKnown(let known): self.delegate?.connection(self, feed: scan, skip: known, text: text)
            case .known: break
            }
            return
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        for index in text.indices { bytes.append(text[index]) }
        self.perform { core, now, actions in core.received(bytes, at: now, into: &actions) }
    }

    package func webSocketClosed(_ connection: WebSocketConnection, _ closure: WebSocketClosure) {
        guard connection === self.socket else { return }
        self.socket = nil
        let code = closure.code.rawValue
        self.perform { core, now, actions in core.disconnected(code: code, at: now, into: &actions) }
    }
}

// SPDX-License-Identifier: Apache-2.0
internal import MachineKit
package import PlazaModel
package import WebSocket

/// A receiver of the events of a `PlazaConnection`; it is called on the thread of the connection's event loop.
package protocol PlazaConnectionDelegate: AnyObject {
    /// A call has ended.
    func connection(_ connection: PlazaConnection, call id: Int64, ended outcome: Outcome)
    /// A feed frame was received.
    ///
    /// `scan` has the frame's numbers. If `scan.isHistory`, the items are messages from before the client joined. The
    /// client has received the first `knownItemCount` items of the frame before. `text` is the whole frame, which is
    /// valid only during this call.
    func connection(_ connection: PlazaConnection, feed scan: FeedScan, knownItemCount: Int, text: Span<UInt8>)
    /// Any other event.
    func connection(_ connection: PlazaConnection, event: BareClientCore.Event)
}

/// One client on an event loop: a `BareClientCore`, which decides, and the WebSocket of its current connection.
package final class PlazaConnection {
    /// The receiver of the events; the reference is weak, so the connection's owner must retain the receiver.
    package weak var delegate: (any PlazaConnectionDelegate)?
    private let group: PlazaConnectionGroup
    /// The index in the group; nil before the start and after the stop.
    var groupIndex: Int?
    private let addresses: [PlazaAddress]
    /// The index of the address to which the client connects or is connected.
    private var addressIndex: Int
    private var core: BareClientCore
    private var socket: WebSocketConnection?

    /// Prepares a client.
    ///
    /// - Parameters:
    ///   - group: the group whose loop and limits the client uses.
    ///   - addresses: the gateways; each reconnect tries the next address.
    ///   - addressIndex: the index of the address to try first.
    ///   - options: the client's token, session and limits.
    ///   - seed: the seed of the jitter of reconnects.
    package init(
        group: PlazaConnectionGroup, addresses: [PlazaAddress], startingAt addressIndex: Int = 0,
        options: BareClientCore.Options, seed: UInt64
    ) {
        precondition(!addresses.isEmpty, "a client needs an address to connect to")
        self.group = group
        self.addresses = addresses
        self.addressIndex = addressIndex % addresses.count
        self.core = BareClientCore(options, seed: seed)
    }

    package var state: BareClientCore.State { self.core.state }
    package var live: LiveID? { self.core.live }
    package var tracker: FeedOrderTracker { self.core.tracker }
    package var reconnectCount: Int { self.core.reconnectCount }
    /// The gateway to which the client is connected, or connects next.
    package var address: PlazaAddress { self.addresses[self.addressIndex] }

    /// Begins to connect.
    package func start() {
        self.group.add(self)
        self.withCore { core, _, actions in core.start(into: &actions) }
    }

    /// Ends the client, which cannot be restarted.
    package func stop() {
        self.withCore { core, _, actions in core.stop(into: &actions) }
        self.group.remove(self)
    }

    /// Calls a method of the server; `params` are its parameters as JSON.
    ///
    /// The method `live.join` needs `live`, the live to join.
    ///
    /// - Returns: the call's id.
    @discardableResult
    package func call(_ method: String, params: [UInt8], live: LiveID? = nil) -> Int64 {
        var id: Int64 = 0
        self.withCore { core, now, actions in
            id = core.call(method, params: params, live: live, at: now, into: &actions)
        }
        return id
    }

    /// Forgets the live after its end, so that a reconnect does not resume it.
    package func forgetLive() { self.core.forgetLive() }

    func tick() { self.withCore { core, now, actions in core.tick(at: now, into: &actions) } }

    /// Lets `body` call the core with the present time, and performs the actions that the core appends.
    private func withCore(_ body: (inout BareClientCore, MonotonicTime, inout [BareClientCore.Action]) -> Void) {
        var actions: [BareClientCore.Action] = []
        body(&self.core, self.group.now, &actions)
        for action in actions { self.perform(action) }
    }

    private func perform(_ action: BareClientCore.Action) {
        switch action {
        case .connect(let toNextAddress): self.connect(toNextAddress: toNextAddress)
        case .send(let bytes): self.socket?.sendText(bytes.span)
        case .disconnect: self.socket?.close(.normal)
        case .callEnded(let id, let outcome): self.delegate?.connection(self, call: id, ended: outcome)
        case .event(let event): self.delegate?.connection(self, event: event)
        }
    }

    private func connect(toNextAddress: Bool) {
        if toNextAddress { self.addressIndex = (self.addressIndex + 1) % self.addresses.count }
        let address = self.addresses[self.addressIndex]
        let target = WebSocketTarget(
            host: address.host, port: address.port, path: "/v1", subprotocols: ["liveplaza.v1"])
        do {
            self.socket = try WebSocketConnection.connect(group: self.group.sockets, to: target, delegate: self)
        } catch {
            // 1006 is the code of WebSocket for a connection that was not closed in order, or never opened.
            self.withCore { core, now, actions in core.disconnected(code: 1006, at: now, into: &actions) }
        }
    }
}

extension PlazaConnection: WebSocketDelegate {
    package func webSocketOpened(_ connection: WebSocketConnection, _ request: UpgradeRequest?) {
        self.withCore { core, now, actions in core.connected(at: now, into: &actions) }
    }

    package func webSocket(_ connection: WebSocketConnection, receivedText text: Span<UInt8>) {
        if FeedScan.isFeed(text), let scan = FeedScan(text) {
            switch self.core.feedReceived(scan) {
            case .fresh, .history: self.delegate?.connection(self, feed: scan, knownItemCount: 0, text: text)
            case .partlyKnown(let count):
                self.delegate?.connection(self, feed: scan, knownItemCount: count, text: text)
            case .known: break
            }
            return
        }
        let bytes = [UInt8](copying: text)
        self.withCore { core, now, actions in core.received(bytes, at: now, into: &actions) }
    }

    package func webSocketClosed(_ connection: WebSocketConnection, _ closure: WebSocketClosure) {
        guard connection === self.socket else { return }
        self.socket = nil
        let code = closure.code.rawValue
        self.withCore { core, now, actions in core.disconnected(code: code, at: now, into: &actions) }
    }
}

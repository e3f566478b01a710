// SPDX-License-Identifier: Apache-2.0

internal import EventLoop
package import PlazaModel
internal import PlazaWire

/// What a client receives besides the replies to its calls.
package enum ClientUpdate: Hashable, Sendable {
    /// New items of the live that the client is in, in order.
    case feed([FeedEntry], epoch: Int64)
    /// Messages from before the client joined, in order and each only once; a long history is split into several updates.
    case history([FeedEntry], epoch: Int64)
    /// Any other event.
    case event(ClientCore.Event)
}

/// An event loop on its own thread, for any number of clients.
package final class ClientHub: Sendable {
    fileprivate let commands = Mailbox<HubCommand>(capacity: 100_000)
    private let thread: LoopThread

    /// Starts the thread.
    ///
    /// - Throws: `LoopError` when the system has no thread or descriptor left.
    package init(name: String = "plaza-clients") throws {
        let commands = self.commands
        self.thread = try EventLoop.start(name: name) { loop in
            guard let hub = try? HubLoop(loop) else { return loop.stop() }
            do {
                try commands.attach(to: loop) { batch in
                    for command in batch { hub.perform(command) }
                }
            } catch {
                loop.stop()
            }
        }
    }

    deinit { self.thread.stop() }

    /// Ends all clients and the thread.
    package func stop() {
        self.thread.stop()
        self.thread.join()
    }

    /// Creates a client, which begins to connect.
    ///
    /// - Parameters:
    ///   - addresses: the gateways; each reconnect tries the next address.
    ///   - options: the client's token, session and limits.
    ///   - limit: the maximum number of queued updates; if the consumer is too slow, the oldest updates are dropped.
    /// - Returns: the client; it ends when nobody refers to it any more.
    package func client(
        addresses: [PlazaAddress], options: ClientCore.Options, updates limit: Int = 10_000
    ) -> PlazaClient {
        let updates = UpdateQueue(limit: limit)
        let client = PlazaClient(self, UInt64.random(in: .min ... .max), updates)
        if (try? self.commands.post(.start(client.id, addresses, options, updates))) == nil { updates.end() }
        return client
    }
}

/// One client: calls with replies, and a queue of updates.
package final class PlazaClient: Sendable {
    fileprivate let id: UInt64
    private let hub: ClientHub
    /// Feed items and events, in order.
    ///
    /// Only one consumer may read them.
    package let updates: UpdateQueue

    fileprivate init(_ hub: ClientHub, _ id: UInt64, _ updates: UpdateQueue) {
        self.hub = hub
        self.id = id
        self.updates = updates
    }

    deinit { try? self.hub.commands.post(.stop(self.id)) }

    /// Calls `method` and awaits the reply for at most `ClientCore.Options.callTimeout`; a reconnect does not end the call.
    ///
    /// - Parameters:
    ///   - method: a name of PROTOCOL.md, section 5.
    ///   - params: the parameters of the method.
    ///   - live: the live to join or leave; nil for other calls.
    /// - Returns: the server's reply.
    /// - Throws: the error in the server's reply, `timedOut`, or `overloaded`.
    @discardableResult
    package func call(
        _ method: String, _ params: some Encodable & Sendable, live: LiveID? = nil
    ) async throws(ReplyError) -> CallResult {
        let bytes = Wire.encode(params)
        let outcome = await withCheckedContinuation { (continuation: CheckedContinuation<Outcome, Never>) in
            let call = HubCommand.call(self.id, method, bytes, live, continuation)
            if (try? self.hub.commands.post(call)) == nil {
                continuation.resume(
                    returning: .failure(error: ReplyError(.overloaded, "too many calls wait", retryAfter: 1000)))
            }
        }
        switch outcome {
        case .success(let result): return result
        case .failure(let error): throw error
        }
    }

    /// Ends the TCP connection without a close frame, as a network failure does; the client then reconnects by itself.
    package func cut() { try? self.hub.commands.post(.cut(self.id)) }

    /// Ends the client; it cannot be restarted.
    package func stop() { try? self.hub.commands.post(.stop(self.id)) }
}

/// A command from a client to the hub's loop, with the client's id.
private enum HubCommand: Sendable {
    case start(UInt64, [PlazaAddress], ClientCore.Options, UpdateQueue)
    case call(UInt64, String, [UInt8], LiveID?, CheckedContinuation<Outcome, Never>)
    case cut(UInt64)
    case stop(UInt64)
}

/// The part of the hub that runs on its loop.
private final class HubLoop {
    private let group: PlazaConnectionGroup
    /// The drivers of the clients that run, by client id.
    private var drivers: [UInt64: ClientDriver] = [:]

    init(_ loop: EventLoop) throws(LoopError) { self.group = try PlazaConnectionGroup(loop: loop) }

    func perform(_ command: HubCommand) {
        switch command {
        case .start(let id, let addresses, let options, let updates):
            let connection = PlazaConnection(group: self.group, addresses: addresses, options: options, seed: id)
            let driver = ClientDriver(connection, updates)
            self.drivers[id] = driver
            connection.delegate = driver
            connection.start()
        case .call(let id, let method, let params, let live, let continuation):
            guard let driver = self.drivers[id] else {
                return continuation.resume(returning: .failure(error: ReplyError(.failed, "the client was stopped")))
            }
            driver.call(method, params, live, continuation)
        case .cut(let id): self.drivers[id]?.connection.cut()
        case .stop(let id):
            self.drivers[id]?.stop()
            self.drivers[id] = nil
        }
    }
}

/// Converts the events of a connection to updates and replies.
private final class ClientDriver: PlazaConnectionDelegate {
    let connection: PlazaConnection
    private let updates: UpdateQueue
    /// The callers that wait for a reply, by the id of the call.
    private var waitingCallers: [Int64: CheckedContinuation<Outcome, Never>] = [:]
    /// The outcomes of calls that ended before `PlazaConnection.call` returned their ids.
    private var earlyOutcomes: [Int64: Outcome] = [:]

    init(_ connection: PlazaConnection, _ updates: UpdateQueue) {
        self.connection = connection
        self.updates = updates
    }

    deinit {
        self.updates.end()
        for continuation in self.waitingCallers.values {
            continuation.resume(returning: .failure(error: ReplyError(.failed, "the client was stopped")))
        }
    }

    func call(
        _ method: String, _ params: [UInt8], _ live: LiveID?, _ continuation: CheckedContinuation<Outcome, Never>
    ) {
        let id = self.connection.call(method, params: params, live: live)
        if let outcome = self.earlyOutcomes.removeValue(forKey: id) {
            continuation.resume(returning: outcome)
        } else {
            self.waitingCallers[id] = continuation
        }
    }

    func stop() {
        self.connection.stop()
        self.updates.end()
    }

    func connection(_ connection: PlazaConnection, call id: Int64, ended outcome: Outcome) {
        if let continuation = self.waitingCallers.removeValue(forKey: id) {
            continuation.resume(returning: outcome)
        } else {
            self.earlyOutcomes[id] = outcome
        }
    }

    func connection(_ connection: PlazaConnection, feed scan: FeedScan, knownItemCount: Int, text: Span<UInt8>) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        for index in text.indices { bytes.append(text[index]) }
        guard let frame = try? Wire.decode(ServerFrame.self, from: bytes) else { return }
        switch frame {
        case .feed(_, let epoch, let items, _):
            for item in items {
                if case .liveEnded = item.content { connection.forgetLive() }
            }
            self.updates.append(.feed(Array(items.dropFirst(knownItemCount)), epoch: epoch))
        case .history(_, let epoch, let items, _): self.updates.append(.history(items, epoch: epoch))
        case .reply, .counts, .notice, .drain: break
        }
    }

    func connection(_ connection: PlazaConnection, event: ClientCore.Event) { self.updates.append(.event(event)) }
}

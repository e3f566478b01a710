// SPDX-License-Identifier: Apache-2.0

internal import Concurrency
internal import EventLoop
package import PlazaModel
internal import PlazaWire

/// What a client hears besides answers to its calls.
package enum ClientUpdate: Hashable, Sendable {
    /// New items of the live that the client is in, in order.
    case feed([FeedEntry], epoch: Int64)
    /// Messages of before the client joined, in order: not new, and each once. A long history comes in several parts.
    case history([FeedEntry], epoch: Int64)
    case event(ClientCore.Event)
}

/// A loop on a thread of its own, for any number of clients.
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

    /// Makes a client and begins to connect it.
    ///
    /// - Parameters:
    ///   - addresses: the gateways; a reconnect tries the next.
    ///   - options: who it is.
    ///   - limit: how many updates wait for a slow consumer at most; the oldest go first.
    /// - Returns: the client, which connects by itself.
    package func client(
        addresses: [PlazaAddress], options: ClientCore.Options, updates limit: Int = 10_000
    ) -> PlazaClient {
        let updates = UpdateQueue(limit: limit)
        let client = PlazaClient(self, UInt64.random(in: .min ... .max), updates)
        if (try? self.commands.post(.start(client.id, addresses, options, updates))) == nil { updates.end() }
        return client
    }
}

/// One client: calls with answers, and a queue of what it hears.
package final class PlazaClient: Sendable {
    fileprivate let id: UInt64
    private let hub: ClientHub
    /// Feed items and events, in order; for one consumer.
    package let updates: UpdateQueue

    fileprivate init(_ hub: ClientHub, _ id: UInt64, _ updates: UpdateQueue) {
        self.hub = hub
        self.id = id
        self.updates = updates
    }

    deinit { try? self.hub.commands.post(.stop(self.id)) }

    /// Calls `method`; waits through reconnects, at most as long as a call may take.
    ///
    /// - Parameters:
    ///   - method: as PROTOCOL.md names it.
    ///   - params: its parameters.
    ///   - live: the live that the call is about, for joins and leaves.
    /// - Returns: what the server answered.
    /// - Throws: the server's refusal, `timedOut`, or `overloaded`.
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

    /// Loses the connection as a broken network would; the client comes back by itself.
    package func cut() { try? self.hub.commands.post(.cut(self.id)) }

    /// Ends for good.
    package func stop() { try? self.hub.commands.post(.stop(self.id)) }
}

private enum HubCommand: Sendable {
    case start(UInt64, [PlazaAddress], ClientCore.Options, UpdateQueue)
    case call(UInt64, String, [UInt8], LiveID?, CheckedContinuation<Outcome, Never>)
    case cut(UInt64)
    case stop(UInt64)
}

/// What lives on the hub's loop.
private final class HubLoop {
    private let group: PlazaConnectionGroup
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

/// Turns a connection's delegate calls into updates and answers.
private final class ClientDriver: PlazaConnectionDelegate {
    let connection: PlazaConnection
    private let updates: UpdateQueue
    private var waiting: [Int64: CheckedContinuation<Outcome, Never>] = [:]
    /// A call that ended before its id was known here.
    private var early: [Int64: Outcome] = [:]

    init(_ connection: PlazaConnection, _ updates: UpdateQueue) {
        self.connection = connection
        self.updates = updates
    }

    deinit {
        self.updates.end()
        for continuation in self.waiting.values {
            continuation.resume(returning: .failure(error: ReplyError(.failed, "the client was stopped")))
        }
    }

    func call(
        _ method: String, _ params: [UInt8], _ live: LiveID?, _ continuation: CheckedContinuation<Outcome, Never>
    ) {
        let id = self.connection.call(method, params: params, live: live)
        if let outcome = self.early.removeValue(forKey: id) {
            continuation.resume(returning: outcome)
        } else {
            self.waiting[id] = continuation
        }
    }

    func stop() {
        self.connection.stop()
        self.updates.end()
    }

    func connection(_ connection: PlazaConnection, call id: Int64, ended outcome: Outcome) {
        guard let continuation = self.waiting.removeValue(forKey: id) else { return self.early[id] = outcome }
        continuation.resume(returning: outcome)
    }

    func connection(_ connection: PlazaConnection, feed scan: FeedScan, skip: Int, text: Span<UInt8>) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        for index in text.indices { bytes.append(text[index]) }
        guard let frame = try? Wire.decode(ServerFrame.self, from: bytes) else { return }
        switch frame {
        case .feed(_, let epoch, let items, _):
            for item in items {
                if case .liveEnded = item.content { connection.forgetRoom() }
            }
            self.updates.append(.feed(Array(items.dropFirst(skip)), epoch: epoch))
        case .history(_, let epoch, let items, _): self.updates.append(.history(items, epoch: epoch))
        case .reply, .counts, .notice, .drain: break
        }
    }

    func connection(_ connection: PlazaConnection, event: ClientCore.Event) { self.updates.append(.event(event)) }
}

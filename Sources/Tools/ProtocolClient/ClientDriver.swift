// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel
internal import PlazaWire

/// The link between one client's connection and the asynchronous code that uses the client.
///
/// The driver converts the connection's events to updates, and resumes the callers that wait for a reply. It is used
/// only on the thread of the event loop that runs its connection.
final class ClientDriver: PlazaConnectionDelegate {
    let connection: PlazaConnection
    private let updates: UpdateQueue
    /// The callers that wait for a reply, by the id of the call.
    private var waitingCallers: [Int64: CheckedContinuation<Outcome, Never>] = [:]
    /// The outcomes of calls that ended before `PlazaConnection.call` returned, such as calls that are rejected at
    /// once.
    ///
    /// The key is the call's id, which `perform` does not know until `PlazaConnection.call` returns.
    private var earlyOutcomes: [Int64: Outcome] = [:]

    init(_ connection: PlazaConnection, _ updates: UpdateQueue) {
        self.connection = connection
        self.updates = updates
    }

    // Without this, the consumer of the updates and the callers would wait forever if the driver was not stopped.
    deinit {
        self.updates.end()
        for caller in self.waitingCallers.values { caller.resume(returning: .clientStopped) }
    }

    /// Makes a call, and resumes its caller when the call ends.
    func perform(_ call: PendingCall) {
        let id = self.connection.call(call.method, params: call.params, live: call.live)
        if let outcome = self.earlyOutcomes.removeValue(forKey: id) {
            call.caller.resume(returning: outcome)
        } else {
            self.waitingCallers[id] = call.caller
        }
    }

    func stop() {
        self.connection.stop()
        self.updates.end()
    }

    func connection(_ connection: PlazaConnection, call id: Int64, ended outcome: Outcome) {
        if let caller = self.waitingCallers.removeValue(forKey: id) {
            caller.resume(returning: outcome)
        } else {
            self.earlyOutcomes[id] = outcome
        }
    }

    func connection(_ connection: PlazaConnection, feed scan: FeedScan, knownItemCount: Int, text: Span<UInt8>) {
        // `FeedScan` has read only the epoch and the item numbers, so the items may still be undecodable.
        guard let frame = try? Wire.decode(ServerFrame.self, from: [UInt8](copying: text)) else { return }
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

    func connection(_ connection: PlazaConnection, event: BareClientCore.Event) { self.updates.append(.event(event)) }
}

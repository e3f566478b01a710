// SPDX-License-Identifier: Apache-2.0
internal import LivePlazaKit

/// The network of a replayed client: it matches the calls that the client sends with the recorded ones.
///
/// The n-th call of a method belongs to the n-th recorded call of that method.
final class ReplayNetwork: Transport {
    private struct State {
        var onEvent: (@Sendable (TransportEvent) -> Void)?
        var isConnecting = false
        /// The ids of the recorded calls so far, in order, by method.
        var recordedIDs: [String: [Int64]] = [:]
        /// The ids of the replayed client's calls, in order, by method.
        var replayedIDs: [String: [Int64]] = [:]
    }

    private let state = Locked(State())

    /// The methods whose calls the replayed client repeats, by itself or because the replay calls its stores.
    private static let repeatedMethods: Set<String> = [
        "login", "live.join", "live.create", "live.leave", "live.get", "live.summary", "audience.list", "live.mutes",
        "seat.requests", "cohost.requests", "battle.requests", "ping",
    ]

    /// Whether the replayed client has begun to connect, and waits for the event `opened`.
    var isConnecting: Bool { self.state.withLock { $0.isConnecting } }

    func connect(
        to address: String, onEvent: @escaping @Sendable (TransportEvent) -> Void
    ) throws(ErrorInfo) -> any TransportConnection {
        self.state.withLock { state in
            state.onEvent = onEvent
            state.isConnecting = true
        }
        return ReplayConnection(network: self)
    }

    /// Sends an event to the replayed client.
    func sendEvent(_ event: TransportEvent) {
        let onEvent = self.state.withLock { state in
            if event == .opened { state.isConnecting = false }
            return state.onEvent
        }
        onEvent?(event)
    }

    /// Registers a call of the recorded client.
    func addRecorded(_ call: RecordedCall) {
        // A call that was sent again after a reconnect has the same id.
        self.state.withLock { state in
            if state.recordedIDs[call.method, default: []].contains(call.id) { return }
            state.recordedIDs[call.method, default: []].append(call.id)
        }
    }

    /// Registers a call of the replayed client.
    func addReplayed(_ call: RecordedCall) {
        self.state.withLock { state in
            if state.replayedIDs[call.method, default: []].contains(call.id) { return }
            state.replayedIDs[call.method, default: []].append(call.id)
        }
    }

    /// Whether the replayed client makes the recorded call with this id, too.
    func isRepeated(_ recordedID: Int64) -> Bool {
        self.state.withLock { state in
            state.recordedIDs.contains { Self.repeatedMethods.contains($0.key) && $0.value.contains(recordedID) }
        }
    }

    /// The id of the replayed client's call that belongs to a recorded call; nil if the client has not made it yet.
    func replayedID(of recordedID: Int64) -> Int64? {
        self.state.withLock { state in
            for (method, ids) in state.recordedIDs {
                guard let index = ids.firstIndex(of: recordedID) else { continue }
                let replayedIDs = state.replayedIDs[method] ?? []
                return index < replayedIDs.count ? replayedIDs[index] : nil
            }
            return nil
        }
    }
}

private struct ReplayConnection: TransportConnection {
    let network: ReplayNetwork

    func send(_ text: [UInt8]) { if let call = RecordedCall(text) { self.network.addReplayed(call) } }
    func close(code: Int) {}
}

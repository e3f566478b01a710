// SPDX-License-Identifier: Apache-2.0
package import ClusterKit
internal import Concurrency
internal import PlazaModel
package import ProtocolClient

/// Calls of one kind at a steady rate, sent by the owners of many lives, so that all partitions of a service have work.
package final class CallLoad: Sendable {
    /// The parameters of all kinds of calls; a field that is nil is not encoded.
    private struct Params: Encodable, Sendable {
        var live: LiveID
        var seatIndex: Int?
        var locked: Bool?
        var metadata: [String: String]?
        var to: [LiveID]?
        var text: String?
        var count: Int?
    }

    private let kind: ServiceKind
    private let hub: ClientHub
    private let owners: [(live: LiveID, client: PlazaClient)]
    private let acknowledged = Locked(0)
    private let refused = Locked<[String: Int]>([:])

    /// Logs the owners in, and lets each create and join its live.
    ///
    /// - Parameters:
    ///   - kind: the service whose work the calls are.
    ///   - lives: the number of lives.
    ///   - addresses: the gateways, among which the owners are distributed.
    ///   - name: the beginning of the lives' names.
    ///   - token: makes a token for a user.
    /// - Throws: the error with which a call was refused, or `LoopError`.
    package init(
        _ kind: ServiceKind, lives: Int, addresses: [PlazaAddress], name: String,
        token: @Sendable (_ user: String) -> String
    ) async throws {
        self.kind = kind
        let hub = try ClientHub(name: "scale-calls")
        self.hub = hub
        var owners: [(LiveID, PlazaClient)] = []
        for index in 0..<lives {
            let live = LiveID("\(name)-\(index)")
            let options = ClientCore.Options(token: token(live.text), session: SessionID(live.text))
            let client = hub.client(addresses: Self.rotate(addresses, by: index), options: options)
            try await client.call("live.create", Params(live: live))
            try await client.call("live.join", Params(live: live), live: live)
            owners.append((live, client))
        }
        self.owners = owners
    }

    /// The addresses in the same order, beginning with another one.
    ///
    /// A client connects to the first address. Without this, one gateway would do the work of all.
    static func rotate(_ addresses: [PlazaAddress], by index: Int) -> [PlazaAddress] {
        guard !addresses.isEmpty else { return [] }
        let first = index % addresses.count
        return Array(addresses[first...] + addresses[..<first])
    }

    /// The name of a service's units of work, for the report.
    package static func unit(of kind: ServiceKind) -> String {
        switch kind {
        case .roomDirectory: "metadata changes"
        case .audiencePresence: "pages of an audience"
        case .barrageFanout: "messages"
        case .cohostBattle: "seats locked and unlocked"
        case .gateway: "reads"
        }
    }

    /// The number of calls acknowledged so far.
    package var acknowledgedCount: Int { self.acknowledged.withLock { $0 } }

    /// The number of calls refused so far, by reply code.
    package var refusedCounts: [String: Int] { self.refused.withLock { $0 } }

    /// Sends calls until the task is cancelled.
    ///
    /// - Parameter interval: the time between two calls of one owner.
    package func run(every interval: Duration) async {
        await withTaskGroup(of: Void.self) { group in
            for (index, owner) in self.owners.enumerated() {
                group.addTask {
                    // Staggered starts spread the owners' calls evenly over the interval.
                    try? await Task.sleep(for: interval * index / max(1, self.owners.count))
                    await self.callRepeatedly(owner.live, owner.client, every: interval)
                }
            }
        }
    }

    /// Ends the clients.
    package func stop() { self.hub.stop() }

    private func callRepeatedly(_ live: LiveID, _ client: PlazaClient, every interval: Duration) async {
        var round = 0
        var nextCallAt = ContinuousClock.now
        while !Task.isCancelled {
            round += 1
            let (method, params) = self.makeCall(round, live)
            do {
                try await client.call(method, params)
                self.acknowledged.withLock { $0 += 1 }
            } catch {
                self.refused.withLock { $0[error.code.name, default: 0] += 1 }
            }
            // After a delay, at most one call is made up for.
            nextCallAt = max(nextCallAt + interval, .now - interval)
            try? await Task.sleep(until: nextCallAt)
        }
    }

    /// The method and the parameters of an owner's call number `round`.
    private func makeCall(_ round: Int, _ live: LiveID) -> (method: String, params: Params) {
        switch self.kind {
        case .roomDirectory: ("metadata.set", Params(live: live, metadata: ["round": "\(round)"]))
        case .audiencePresence: ("audience.list", Params(live: live, count: 10))
        case .barrageFanout: ("barrage.sendText", Params(live: live, text: "\(round)"))
        case .cohostBattle: ("seat.lock", Params(live: live, seatIndex: 3, locked: round % 2 == 0))
        case .gateway: ("live.get", Params(live: live))
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
import ClusterKit
import LivePlazaKit
import LoadKit
import PlazaModel

/// Calls one service again and again, and remembers the longest time that it took to answer: how long it was away.
struct ServiceProbe: Sendable {
    let service: ServiceKind
    let live: LiveID
    let owner: PlazaClient

    /// Opens a live and enters it.
    init(_ harness: ClusterHarness, _ service: ServiceKind, on hub: ClientHub) async throws {
        self.service = service
        self.live = LiveID(ClusterHarness.name("probe"))
        self.owner = harness.client(self.live.text, on: hub)
        try await self.owner.call("live.create", CallParams(live: self.live), live: self.live)
        try await self.owner.call("live.join", CallParams(live: self.live), live: self.live)
    }

    /// Calls until it is told to stop; every call must succeed in the end.
    ///
    /// - Returns: the longest call, in milliseconds.
    func run(while isGoing: @Sendable () -> Bool) async throws -> Double {
        var longest = Duration.zero
        var round = 0
        while isGoing() {
            round += 1
            let began = ContinuousClock.now
            try await self.callOnce(round)
            longest = max(longest, ContinuousClock.now - began)
            try await Task.sleep(for: .milliseconds(50))
        }
        return Double(longest.components.seconds) * 1000 + Double(longest.components.attoseconds) / 1e15
    }

    private func callOnce(_ round: Int) async throws {
        switch self.service {
        case .roomDirectory:
            try await self.owner.call(
                "metadata.set", CallParams(live: self.live, metadata: ["round": "\(round)"]), live: self.live)
        case .audiencePresence:
            try await self.owner.call("audience.list", CallParams(live: self.live, count: 10), live: self.live)
        case .barrageFanout:
            try await self.owner.call(
                "barrage.sendText", CallParams(live: self.live, text: "\(round)"), live: self.live)
        case .cohostBattle:
            try await self.owner.call(
                "seat.lock", CallParams(live: self.live, seatIndex: 3, locked: round % 2 == 0), live: self.live)
        case .gateway:
            try await self.owner.call("audience.count", CallParams(live: self.live), live: self.live)
        }
    }
}

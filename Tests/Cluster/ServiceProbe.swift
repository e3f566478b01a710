// SPDX-License-Identifier: Apache-2.0
import ClusterKit
import PlazaModel
import ProtocolClient

/// Calls one service repeatedly, and measures the longest time until a reply, which is the length of an outage.
///
/// The probe uses one live in each half of the partitions. Two instances own one half each, so the probe notices when
/// either instance is killed.
struct ServiceProbe: Sendable {
    /// What one loop of the probe calls: a machine of a service, or the gateway.
    private enum Target: Sendable {
        case directory, audience, barrage, seats, connections, gateway
    }

    /// The two lives, each with the client of its owner.
    private let owners: [(live: LiveID, client: PlazaClient)]
    private let targets: [Target]

    /// Makes two clients, each of which creates a live and joins it.
    init(_ harness: ClusterHarness, _ service: ServiceKind, on hub: ClientHub) async throws {
        self.targets =
            switch service {
            case .roomDirectory: [.directory]
            case .audiencePresence: [.audience]
            case .barrageFanout: [.barrage]
            case .cohostBattle: [.seats, .connections]
            case .gateway: [.gateway]
            }
        var owners: [(LiveID, PlazaClient)] = []
        let partitions = harness.cluster.options.partitions
        for half in 0..<2 {
            let live = Self.live(inHalf: half, of: partitions)
            let client = harness.client(live.text, on: hub)
            try await client.call("live.create", CallParams(live: live), live: live)
            try await client.call("live.join", CallParams(live: live), live: live)
            owners.append((live, client))
        }
        self.owners = owners
    }

    /// Calls the service again and again while `isProbing` returns true.
    ///
    /// - Returns: the longest time until a reply, in milliseconds.
    /// - Throws: the error of a call that neither succeeds nor is rejected by a rate limit.
    func measureLongestCall(while isProbing: @escaping @Sendable () -> Bool) async throws -> Double {
        let longest = try await withThrowingTaskGroup(of: Duration.self) { group in
            for owner in self.owners {
                for target in self.targets {
                    group.addTask {
                        try await Self.longestCall(of: target, in: owner.live, by: owner.client, while: isProbing)
                    }
                }
            }
            // The longest of the times that the loops return.
            return try await group.reduce(Duration.zero) { max($0, $1) }
        }
        return longest / .milliseconds(1)
    }

    /// A live whose key belongs to the lower (0) or upper (1) half of the partitions.
    private static func live(inHalf half: Int, of partitions: Int) -> LiveID {
        while true {
            let live = LiveID(ClusterHarness.uniqueName("probe"))
            let key = LiveKey(AppID(AppsFile.demoApp), live)
            let partition = PlazaTopic.partition(of: key.text, among: partitions)
            if partition * 2 / partitions == half { return live }
        }
    }

    /// Calls one target again and again; returns the longest time until a reply.
    private static func longestCall(
        of target: Target, in live: LiveID, by owner: PlazaClient, while isProbing: @Sendable () -> Bool
    ) async throws -> Duration {
        var longest = Duration.zero
        var round = 0
        while isProbing() {
            round += 1
            let began = ContinuousClock.now
            do {
                try await Self.callOnce(target, round: round, in: live, by: owner)
            } catch let error as ReplyError where [.tooFrequent, .connectionTooFrequent].contains(error.code) {
                // A rejection by a rate limit is a reply, too.
            }
            longest = max(longest, ContinuousClock.now - began)
            // The pause leaves the service to the load. The call that waits until an outage ends measures the outage.
            try await Task.sleep(for: .milliseconds(50))
        }
        return longest
    }

    /// Makes one call; `round` makes it differ from the previous one, so that it has an effect.
    private static func callOnce(
        _ target: Target, round: Int, in live: LiveID, by owner: PlazaClient
    ) async throws {
        switch target {
        case .directory:
            try await owner.call(
                "metadata.set", CallParams(live: live, metadata: ["round": "\(round)"]), live: live)
        case .audience: try await owner.call("audience.list", CallParams(live: live, count: 10), live: live)
        case .barrage: try await owner.call("barrage.sendText", CallParams(live: live, text: "\(round)"), live: live)
        case .seats:
            let isLocked = round % 2 == 0
            try await owner.call("seat.lock", CallParams(live: live, seatIndex: 3, locked: isLocked), live: live)
        // The call succeeds although there is no live with the id `nobody`.
        case .connections: try await owner.call("cohost.request", CallParams(live: live, to: ["nobody"]), live: live)
        case .gateway: try await owner.call("audience.count", CallParams(live: live), live: live)
        }
    }
}

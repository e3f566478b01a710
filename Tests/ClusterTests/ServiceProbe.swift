// SPDX-License-Identifier: Apache-2.0
import ClusterKit
import LivePlazaKit
import LoadKit
import PlazaModel

/// Calls one service again and again, and remembers the longest time that it took to answer: how long it was away.
///
/// It has a live in each half of the partitions, for of two instances each has one half: whichever is killed, the probe
/// sees it.
struct ServiceProbe: Sendable {
    /// What one of the probe's loops asks for, so that each machine of a service is asked by itself.
    private enum Question: Sendable {
        case directory, audience, barrage, seats, connections, gateway
    }

    private let owners: [(live: LiveID, client: PlazaClient)]
    private let questions: [Question]

    /// Opens the lives and enters them.
    init(_ harness: ClusterHarness, _ service: ServiceKind, on hub: ClientHub) async throws {
        self.questions =
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

    /// Calls until it is told to stop; every call must succeed in the end.
    ///
    /// - Returns: the longest call, in milliseconds.
    func run(while isGoing: @escaping @Sendable () -> Bool) async throws -> Double {
        let longest = try await withThrowingTaskGroup(of: Duration.self) { group in
            for owner in self.owners {
                for question in self.questions {
                    group.addTask {
                        try await Self.ask(question, of: owner.live, by: owner.client, while: isGoing)
                    }
                }
            }
            return try await group.reduce(Duration.zero) { max($0, $1) }
        }
        return longest / .milliseconds(1)
    }

    private static func live(inHalf half: Int, of partitions: Int) -> LiveID {
        while true {
            let live = LiveID(ClusterHarness.name("probe"))
            let key = LiveKey(AppID(AppsFile.demoApp), live)
            if PlazaTopic.partition(of: key.text, among: partitions) * 2 / partitions == half { return live }
        }
    }

    private static func ask(
        _ question: Question, of live: LiveID, by owner: PlazaClient, while isGoing: @Sendable () -> Bool
    ) async throws -> Duration {
        var longest = Duration.zero
        var round = 0
        while isGoing() {
            round += 1
            let began = ContinuousClock.now
            do {
                try await Self.askOnce(question, round, of: live, by: owner)
            } catch let error as ReplyError where [.tooFrequent, .connectionTooFrequent].contains(error.code) {
                // The service's own word, and so an answer: it counts what is asked of it.
            }
            longest = max(longest, ContinuousClock.now - began)
            try await Task.sleep(for: .milliseconds(50))
        }
        return longest
    }

    private static func askOnce(
        _ question: Question, _ round: Int, of live: LiveID, by owner: PlazaClient
    ) async throws {
        switch question {
        case .directory:
            try await owner.call(
                "metadata.set", CallParams(live: live, metadata: ["round": "\(round)"]), live: live)
        case .audience: try await owner.call("audience.list", CallParams(live: live, count: 10), live: live)
        case .barrage: try await owner.call("barrage.sendText", CallParams(live: live, text: "\(round)"), live: live)
        case .seats:
            let isLocked = round % 2 == 0
            try await owner.call("seat.lock", CallParams(live: live, seatIndex: 3, locked: isLocked), live: live)
        case .connections: try await owner.call("cohost.request", CallParams(live: live, to: ["nobody"]), live: live)
        case .gateway: try await owner.call("audience.count", CallParams(live: live), live: live)
        }
    }
}

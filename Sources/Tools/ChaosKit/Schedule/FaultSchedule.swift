// SPDX-License-Identifier: Apache-2.0
package import ClusterKit
internal import MachineKit

/// What a schedule must know about a cluster.
package struct ClusterShape: Hashable, Sendable {
    /// The instances of each service.
    package var instances: [ServiceKind: Int]
    /// The number of brokers; 0: the brokers are not part of the cluster and are left alone.
    package var brokers: Int

    /// The links with proxies.
    package var links: [Link]
    /// Whether the clock of a process can be wrong.
    package var hasFakeClock: Bool

    package init(instances: [ServiceKind: Int], brokers: Int, links: [Link] = [], hasFakeClock: Bool = false) {
        self.hasFakeClock = hasFakeClock
        self.instances = instances
        self.brokers = brokers
        self.links = links
    }
}

/// One round of a chaos run: load of all kinds, and one fault in the middle of it.
package struct ChaosRound: Hashable, Sendable {
    /// Counts from 1.
    package var number: Int
    package var fault: Fault
    /// When the fault begins, after the first message of the load.
    package var delay: Duration
}

/// The faults of a run: a function of seed and shape, so that a round can be replayed.
///
/// Faults are drawn without replacement until each has come, so that a long run has no fault that chance left out.
package struct FaultSchedule: Sendable {
    private let faults: [Fault]
    private let seed: UInt64

    /// Makes the schedule.
    ///
    /// - Parameters:
    ///   - seed: equal seeds give equal schedules.
    ///   - shape: the cluster.
    ///   - only: a part of the names of the kinds of faults to draw, such as `redis`; nil: all.
    package init(seed: UInt64, shape: ClusterShape, only: String? = nil) {
        self.seed = seed
        self.faults = Self.faults(of: shape).filter { fault in only.map { fault.kind.contains($0) } ?? true }
    }

    /// The number of different faults; 0 if `only` names none.
    package var count: Int { self.faults.count }

    /// Draws the round with this number.
    ///
    /// The schedule must have a fault (`count`).
    ///
    /// - Parameter number: at least 1.
    /// - Returns: the round; equal for equal schedules.
    package func round(_ number: Int) -> ChaosRound {
        let index = max(0, number - 1)
        let (deck, place) = index.quotientAndRemainder(dividingBy: self.faults.count)
        var random = SeededRandom(seed: self.seed &+ UInt64(deck) &* 0x9E37_79B9)
        let fault = self.faults.shuffled(using: &random)[place]
        var delays = SeededRandom(seed: self.seed ^ UInt64(index) &* 0x1_0001)
        return ChaosRound(
            number: index + 1, fault: fault, delay: .milliseconds(Int.random(in: 1_000...9_000, using: &delays)))
    }

    private static func faults(of shape: ClusterShape) -> [Fault] {
        let services = ServiceKind.allCases.filter { shape.instances[$0, default: 0] > 0 }
        let first = services.map { "\($0.rawValue)-1" }
        var faults: [Fault] = []
        faults += first.map { .kill([$0]) }
        let pairs = first.enumerated().flatMap { index, name in first[(index + 1)...].map { [name, $0] } }
        faults += pairs.map { .kill($0) }
        faults += first.map { .killRepeatedly($0, times: 3) }
        for seconds in [5, 12, 20] { faults += first.map { .freeze([$0], seconds: seconds) } }
        faults += pairs.map { .freeze($0, seconds: 8) }
        faults += first.map { .freezeAtBattleEnd([$0], seconds: 5) }
        // Whichever instance owns the battle, it is stopped when the end is due.
        let owners = (0..<shape.instances[.cohostBattle, default: 0]).map {
            "\(ServiceKind.cohostBattle.rawValue)-\($0 + 1)"
        }
        if owners.count > 1 { faults.append(.freezeAtBattleEnd(owners, seconds: 12)) }
        faults += first.map { .terminate($0) }
        faults += services.map { .rollingRestart($0) }
        faults += [.kill(["redis"]), .freeze(["redis"], seconds: 10), .flushRedis]
        if shape.brokers > 0 {
            let last = "broker-\(shape.brokers)"
            faults += [.freeze(["broker-1"], seconds: 8), .kill([last]), .fillDisk(last, seconds: 3)]
        }
        if shape.hasFakeClock {
            for ahead in [30, -30] { faults += first.map { .setClock($0, ahead: ahead, seconds: 12) } }
        }
        for link in shape.links {
            faults += [
                .interrupt(link, .cut, seconds: 5),
                .interrupt(link, .silence([.toServer, .toClient]), seconds: 12),
                .interrupt(link, .silence([.toServer]), seconds: 8),
                .interrupt(link, .silence([.toClient]), seconds: 8),
                .interrupt(link, .delay(milliseconds: 200), seconds: 10),
            ]
        }
        return faults
    }
}

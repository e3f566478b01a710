// SPDX-License-Identifier: Apache-2.0
package import ClusterKit
internal import MachineKit

/// The properties of a cluster that decide which faults are possible.
package struct ClusterShape: Hashable, Sendable {
    /// The number of instances of each service.
    package var instances: [ServiceKind: Int]
    /// The number of brokers; 0 if the brokers do not belong to the cluster and get no faults.
    package var brokers: Int
    /// The links whose connections go through a proxy, which can interrupt them.
    package var links: [Link]
    /// Whether the clock of a process can be set wrong.
    package var hasFakeClock: Bool

    package init(instances: [ServiceKind: Int], brokers: Int, links: [Link] = [], hasFakeClock: Bool = false) {
        self.hasFakeClock = hasFakeClock
        self.instances = instances
        self.brokers = brokers
        self.links = links
    }

    /// The shape of the cluster that these options describe.
    package init(of options: ClusterOptions, links: [Link], hasFakeClock: Bool) {
        let brokers = if case .kafkaHome(_, let count) = options.broker { count } else { 0 }
        self.init(
            instances: Dictionary(uniqueKeysWithValues: ServiceKind.allCases.map { ($0, options.instances(of: $0)) }),
            brokers: brokers, links: links, hasFakeClock: hasFakeClock)
    }
}

/// One round of a chaos run: one fault while clients use the cluster.
package struct ChaosRound: Hashable, Sendable {
    /// The number of the round, from 1 on.
    package var number: Int
    package var fault: Fault
    /// The time from the first message of the load to the beginning of the fault.
    package var delay: Duration
    /// How long the clients may wait for feeds and answers.
    var limits: RecoveryLimits

    /// How long messages are sent: long enough to notice a pause that exceeds its limit.
    var loadDuration: Duration { self.delay + max(self.fault.duration, self.limits.viewerPause) + .seconds(3) }

    /// The time from a burst of calls to the beginning of the fault: 0 to 149 ms.
    var burstDelay: Duration { .milliseconds(Int(self.delay / .milliseconds(1)) % 150) }
}

/// The faults of a run, determined by a seed and the cluster's shape, so that a round can be repeated.
///
/// Each fault is drawn once before any fault is drawn again, so that a long run injects every fault.
package struct FaultSchedule: Sendable {
    private let faults: [Fault]
    private let seed: UInt64
    private let shape: ClusterShape

    /// Makes the schedule.
    ///
    /// - Parameters:
    ///   - seed: equal seeds give equal schedules.
    ///   - shape: the cluster.
    ///   - only: only faults whose kind contains this text are drawn, such as `redis`; upper and lower case are equal;
    ///     nil for all faults.
    ///   - isPossible: only faults for which this is true are drawn.
    package init(
        seed: UInt64, shape: ClusterShape, only: String? = nil, where isPossible: (Fault) -> Bool = { _ in true }
    ) {
        self.seed = seed
        self.shape = shape
        let only = only?.lowercased()
        self.faults = Self.faults(of: shape).filter { fault in
            isPossible(fault) && (only.map { fault.kind.lowercased().contains($0) } ?? true)
        }
    }

    /// The number of different faults; 0 if `only` and `isPossible` exclude them all.
    package var count: Int { self.faults.count }

    /// The kinds of the faults, each once, in order.
    package var kinds: [String] { Set(self.faults.map(\.kind)).sorted() }

    /// Draws the round with this number.
    ///
    /// `count` must not be 0.
    ///
    /// - Parameter number: at least 1.
    /// - Returns: the round; equal for equal schedules.
    package func round(_ number: Int) -> ChaosRound {
        let index = max(0, number - 1)
        // Each cycle draws all faults once, in an order of its own. The multipliers give different seeds to cycles and
        // rounds.
        let (cycle, indexInCycle) = index.quotientAndRemainder(dividingBy: self.faults.count)
        var random = SeededRandom(seed: self.seed &+ UInt64(cycle) &* 0x9E37_79B9)
        let faultIndex = self.faults.indices.shuffled(using: &random)[indexInCycle]
        let fault = self.faults[faultIndex]
        var delayRandom = SeededRandom(seed: self.seed ^ UInt64(index) &* 0x1_0001)
        return ChaosRound(
            number: index + 1, fault: self.chooseInstances(for: faultIndex, in: cycle),
            delay: .milliseconds(Int.random(in: 1_000...9_000, using: &delayRandom)),
            limits: RecoveryLimits(of: fault, in: self.shape))
    }

    /// Replaces each instance 1 of a fault, such as `gateway-1`, by an instance that changes from cycle to cycle.
    ///
    /// A cycle is as many rounds as there are faults. It is not known in advance which instance of a service the
    /// clients use: all battles of one app, for example, are in one partition, and only the instance that owns this
    /// partition decides them. So over several cycles each instance must get each fault.
    private func chooseInstances(for faultIndex: Int, in cycle: Int) -> Fault {
        let fault = self.faults[faultIndex]
        switch fault {
        // `faults(of:)` names more than the first instance in these faults, so nothing is replaced.
        case .freezeInAppend: return fault
        case .freezeAtBattleEnd(let names, _) where names.count > 1: return fault
        default: break
        }
        // The instance of the first cycle is drawn; the others follow in turn.
        var random = SeededRandom(seed: self.seed &+ UInt64(faultIndex) &* 0x2_0003)
        var counts = ServiceKind.allCases.map { ($0.rawValue, count: self.shape.instances[$0, default: 0]) }
        counts.append(("broker", count: self.shape.brokers))
        var chosen: [String: String] = [:]
        for (kind, count) in counts where count > 0 {
            chosen["\(kind)-1"] = "\(kind)-\((Int.random(in: 0..<count, using: &random) + cycle) % count + 1)"
        }
        return fault.replacingInstances { chosen[$0, default: $0] }
    }

    /// All faults that are possible in a cluster.
    ///
    /// Most faults are listed for instance 1 only; `chooseInstances` replaces this instance.
    private static func faults(of shape: ClusterShape) -> [Fault] {
        let services = ServiceKind.allCases.filter { shape.instances[$0, default: 0] > 0 }
        let firstInstances = services.map { $0.instanceName(1) }
        var faults: [Fault] = []
        faults += firstInstances.map { .kill([$0]) }
        let pairs = firstInstances.enumerated().flatMap { index, name in
            firstInstances[(index + 1)...].map { [name, $0] }
        }
        faults += pairs.map { .kill($0) }
        faults += firstInstances.map { .killRepeatedly($0, times: 3) }
        for seconds in [5, 12, 20] { faults += firstInstances.map { .freeze([$0], seconds: seconds) } }
        faults += pairs.map { .freeze($0, seconds: 8) }
        faults += firstInstances.map { .freezeAtBattleEnd([$0], seconds: 5) }
        // All instances of the service are stopped, so the instance that must end the battle is stopped too.
        let battleInstances = (0..<shape.instances[.cohostBattle, default: 0]).map {
            ServiceKind.cohostBattle.instanceName($0 + 1)
        }
        if battleInstances.count > 1 { faults.append(.freezeAtBattleEnd(battleInstances, seconds: 12)) }
        // A burst's calls go to several partitions. So not only the first instance has calls to append, and the fault
        // is listed for two instances.
        faults += services.flatMap { kind in
            (0..<min(2, shape.instances[kind, default: 0])).map {
                .freezeInAppend([kind.instanceName($0 + 1)], seconds: 8)
            }
        }
        faults += firstInstances.map { .terminate($0) }
        faults += services.map { .rollingRestart($0) }
        faults += [.kill(["redis"]), .freeze(["redis"], seconds: 10), .flushRedis]
        if shape.brokers > 0 {
            faults += [.freeze(["broker-1"], seconds: 8), .kill(["broker-1"]), .fillDisk("broker-1", seconds: 3)]
        }
        if shape.hasFakeClock {
            for ahead in [30, -30] { faults += firstInstances.map { .setClock($0, ahead: ahead, seconds: 12) } }
        }
        for link in shape.links where link.process.hasSuffix("-1") {
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

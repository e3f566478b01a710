// SPDX-License-Identifier: Apache-2.0
internal import ClusterKit

/// How long clients may wait during and after a fault (OPERATING.md, section 6).
struct RecoveryLimits: Hashable, Sendable {
    /// The limit of the time in which all viewers of a live receive nothing although messages are due.
    let pause: Duration
    /// The same limit for a single viewer, whose gateway may have the fault.
    let viewerPause: Duration
    /// How long a call may wait for its answer, and a battle or a request for its end.
    let answer: Duration
    /// How long joins and leaves may still show late after the end of the fault.
    let recovery: Duration
    /// How much later the presence leases may end because of the fault (I4, docs/RULES.md).
    ///
    /// A lease keeps a silent viewer in the live for 90 s. No lease ends while no instance owns its partition, or while
    /// Redis is away, and a lease ends later if heartbeats wait at a gateway.
    let leaseStandstill: Duration
    /// Whether the presence leases may be lost.
    ///
    /// Then a client that is not connected leaves the live without a tip (OPERATING.md, section 6).
    let losesLeases: Bool

    /// How long another instance takes at most to continue the work of a service.
    ///
    /// The documented 3 s, and 2 s more, because one machine runs all services, Kafka and the clients.
    private static let takeover = Duration.seconds(5)
    /// How long the kill of one of several brokers may interrupt feeds.
    ///
    /// The documented 5 s, and 3 s more, because one machine runs all services, Kafka and the clients.
    private static let brokerChange = Duration.seconds(8)
    /// How long a service without a second instance takes at most to continue: its process must start again.
    private static let restart = Duration.seconds(15)
    /// How long the only broker takes at most to start again.
    private static let brokerRestart = Duration.seconds(20)

    /// How long after a fault of Redis the lists of viewers may be wrong.
    ///
    /// Redis returns within the time of a takeover, 5 s, and the documented 15 s begin when it has returned.
    private static let redisReturn = Self.takeover + .seconds(15)

    /// How long a client takes at most to find that its gateway is gone, to connect to another one, and to resume.
    private static let reconnect = Duration.seconds(10)

    /// The limits of a fault.
    ///
    /// - Parameters:
    ///   - fault: the fault.
    ///   - shape: decides whether a second instance or broker continues the work.
    init(of fault: Fault, in shape: ClusterShape) {
        self.pause = Self.pause(fault, shape)
        self.viewerPause = max(self.pause, fault.outage) + Self.reconnect
        let restart = fault.isOfBroker ? Self.brokerRestart : Self.restart
        self.answer = fault.outage + restart
        self.losesLeases = fault.concernsRedis
        self.recovery = self.losesLeases ? max(restart, Self.redisReturn) : restart
        // After a loss of the leases the gateways assert their sessions for some seconds, in which no lease expires.
        if self.losesLeases {
            self.leaseStandstill = fault.outage + Self.redisReturn
        } else {
            self.leaseStandstill = fault.stopsPresence ? self.pause : fault.delaysHeartbeats ? fault.outage : .zero
        }
    }

    private static func pause(_ fault: Fault, _ shape: ClusterShape) -> Duration {
        if fault.isOfBroker {
            // Another broker takes over from a killed broker within `brokerChange`. But Kafka's clients wait for a
            // broker that hangs with its connections open.
            let isKill = if case .kill = fault { true } else { false }
            return isKill && shape.brokers > 1 ? Self.brokerChange : fault.outage + Self.brokerRestart
        }
        let services = Set(fault.processes.map(Fault.service(of:)))
        let hasSecondInstances = ServiceKind.allCases.allSatisfy {
            !services.contains($0.rawValue) || shape.instances[$0, default: 0] > 1
        }
        guard hasSecondInstances else { return fault.outage + Self.restart }
        switch fault {
        // A process whose bytes are delayed keeps its partitions, so no other instance takes over, and each append
        // takes longer.
        case .interrupt(_, .delay, let seconds): return .seconds(seconds) + Self.takeover
        // Each kill may interrupt the takeover after the kill before it.
        case .killRepeatedly: return fault.outage + Self.takeover
        // The second instance may stop as soon as it has taken over from the first one.
        case .rollingRestart, .setClock: return Self.takeover * 2
        default: return Self.takeover
        }
    }
}

extension Fault {
    /// Whether a broker has the fault.
    fileprivate var isOfBroker: Bool { self.processes.contains { $0.hasPrefix("broker") } }

    /// Whether the fault is in Redis, or in the connections between presence and Redis.
    ///
    /// After presence has decided a change such as a join without Redis, a new presence epoch begins, which has no
    /// leases. So each of these faults may lose the leases, even if Redis keeps its data.
    fileprivate var concernsRedis: Bool {
        if case .interrupt(.redis, _, _) = self { return true }
        return self.processes.contains("redis")
    }

    /// Whether presence, or a broker, has the fault.
    fileprivate var stopsPresence: Bool {
        self.isOfBroker || self.processes.map(Self.service(of:)).contains(ServiceKind.audiencePresence.rawValue)
    }

    /// Whether heartbeats may wait at a gateway for as long as the fault lasts.
    ///
    /// A heartbeat says for how long its viewer was silent before the gateway wrote it, and extends the lease when
    /// presence reads it. If the heartbeat waits for the broker in between, the lease ends that much later.
    fileprivate var delaysHeartbeats: Bool {
        switch self {
        case .interrupt(.kafka(let process), _, _): Self.service(of: process) == ServiceKind.gateway.rawValue
        case .freeze, .freezeAtBattleEnd, .freezeInAppend:
            self.processes.map(Self.service(of:)).contains(ServiceKind.gateway.rawValue)
        default: false
        }
    }

    /// The time from the beginning to the end of the fault, without a wait for a battle's last second.
    fileprivate var outage: Duration {
        if case .freezeAtBattleEnd(_, let seconds) = self { .seconds(seconds) } else { self.duration }
    }
}

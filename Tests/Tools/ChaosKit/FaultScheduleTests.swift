// SPDX-License-Identifier: Apache-2.0
import ClusterKit
import Testing

@testable import ChaosKit

/// Tests of the choice of a fault for each round of a chaos run.
struct FaultScheduleTests {
    /// A cluster with two instances of each service and one broker.
    private static let shape = ClusterShape(
        instances: Dictionary(uniqueKeysWithValues: ServiceKind.allCases.map { ($0, 2) }), brokers: 1)

    @Test func `a round depends only on the seed and the number of the round`() {
        let schedule = FaultSchedule(seed: 7, shape: Self.shape)
        let sameSeed = FaultSchedule(seed: 7, shape: Self.shape)
        let otherSeed = FaultSchedule(seed: 8, shape: Self.shape)
        let rounds = (1...40).map { schedule.round($0) }
        // The rounds are the same when they are asked for in reverse order.
        #expect((1...40).reversed().map { sameSeed.round($0) }.reversed() == rounds)
        #expect((1...40).map { otherSeed.round($0) } != rounds)
    }

    @Test func `each fault occurs once before any is repeated`() {
        let schedule = FaultSchedule(seed: 3, shape: Self.shape)
        for cycle in 0..<3 {
            let faults = (1...schedule.count).map { schedule.round(cycle * schedule.count + $0).fault }
            #expect(Set(faults).count == schedule.count)
        }
    }

    @Test func `each service is killed, frozen, terminated and restarted, alone and in pairs`() {
        let schedule = FaultSchedule(seed: 1, shape: Self.shape)
        let kinds = Set((1...schedule.count).map { schedule.round($0).fault.kind })
        for kind in ServiceKind.allCases {
            for verb in ["kill", "freeze", "terminate", "rolling restart of"] {
                #expect(kinds.contains("\(verb) \(kind.rawValue)"))
            }
            #expect(kinds.contains("kill \(kind.rawValue) again and again"))
        }
        #expect(kinds.isSuperset(of: ["kill a pair", "kill redis", "freeze redis", "kill broker", "freeze broker"]))
        #expect(kinds.isSuperset(of: ["freeze a pair", "FLUSHALL", "full disk under broker"]))
    }

    @Test func `kills hit each instance and each broker in turn, and no fault hits a process twice`() {
        // A fault must hit every instance, because the battles of an app have one owner, which may be any instance.
        // With three brokers, each process has been hit after three cycles of the schedule.
        var shape = Self.shape
        shape.brokers = 3
        let schedule = FaultSchedule(seed: 1, shape: shape)
        let kills = (1...3 * schedule.count).map { schedule.round($0).fault }.filter { fault in
            if case .kill(let names) = fault { names.count == 1 } else { false }
        }
        let instances = ServiceKind.allCases.flatMap { kind in (1...2).map { "\(kind.rawValue)-\($0)" } }
        #expect(Set(kills.flatMap(\.processes)) == Set(instances + (1...3).map { "broker-\($0)" } + ["redis"]))
        let processesOfFaults = (1...schedule.count).map { schedule.round($0).fault.processes }
        #expect(
            processesOfFaults.allSatisfy { Set($0).count == $0.count },
            "no process may have the same fault twice at once")
    }

    @Test func `after a fault begins, messages are sent for longer than the fault and its allowed pauses`() {
        var shape = Self.shape
        shape.hasFakeClock = true
        shape.links = [.kafka("gateway-1"), .clients("gateway-1"), .redis("audience-presence-1")]
        for instances in [1, 2] {
            for brokers in [1, 3] {
                shape.brokers = brokers
                shape.instances = shape.instances.mapValues { _ in instances }
                let schedule = FaultSchedule(seed: 1, shape: shape)
                for number in 1...schedule.count {
                    let round = schedule.round(number)
                    let timeAfterBegin = round.loadDuration - round.delay
                    #expect(timeAfterBegin > round.limits.pause, "\(round.fault)")
                    #expect(timeAfterBegin > round.limits.viewerPause, "\(round.fault)")
                    #expect(timeAfterBegin > round.fault.duration, "\(round.fault)")
                }
            }
        }
    }

    @Test func `a feed may pause until another instance or broker continues, or until the only one is back`() {
        func pause(_ fault: Fault, instances: Int = 2, brokers: Int = 1) -> Duration {
            let counts = ServiceKind.allCases.map { ($0, instances) }
            return RecoveryLimits(
                of: fault, in: ClusterShape(instances: Dictionary(uniqueKeysWithValues: counts), brokers: brokers)
            ).pause
        }
        #expect(pause(.kill(["gateway-2"])) == .seconds(5))
        #expect(pause(.freeze(["barrage-fanout-1"], seconds: 20)) == .seconds(5))
        #expect(pause(.freeze(["barrage-fanout-1"], seconds: 20), instances: 1) == .seconds(35))
        #expect(pause(.killRepeatedly("barrage-fanout-1", times: 3)) == .seconds(11))
        #expect(pause(.kill(["broker-1"])) == .seconds(20))
        #expect(pause(.kill(["broker-2"]), brokers: 3) == .seconds(8))
        #expect(pause(.freeze(["broker-1"], seconds: 8), brokers: 3) == .seconds(28))
        #expect(pause(.flushRedis) == .seconds(5))
    }

    @Test func `all instances that may decide a battle are stopped in the battle's last second`() {
        let schedule = FaultSchedule(seed: 1, shape: Self.shape)
        let faults = Set((1...schedule.count).map { schedule.round($0).fault })
        #expect(faults.contains(.freezeAtBattleEnd(["cohost-battle-1", "cohost-battle-2"], seconds: 12)))
    }

    @Test func `each instance of each service is stopped within 200 ms after a burst of calls`() {
        // After the burst, the instance probably appends records. `only` selects faults by words of their kind.
        let schedule = FaultSchedule(seed: 1, shape: Self.shape, only: "in an append")
        #expect(schedule.count == 2 * ServiceKind.allCases.count)
        let rounds = (1...schedule.count).map { schedule.round($0) }
        #expect(rounds.contains { $0.fault == .freezeInAppend(["barrage-fanout-2"], seconds: 8) })
        #expect(rounds.contains { $0.fault.kind == "freeze barrage-fanout in an append" })
        #expect(
            rounds.contains {
                $0.fault.description
                    == "SIGSTOP cohost-battle-1 within 200 ms after a burst of calls, SIGCONT 8 s later"
            })
        #expect(rounds.allSatisfy { (.zero ..< .milliseconds(200)).contains($0.burstDelay) })
        #expect(Set(rounds.map(\.burstDelay)).count > 1, "the delay of the stop must differ between rounds")
    }

    @Test func `each link is silenced in one direction, and cut, silenced and delayed in both`() {
        var shape = Self.shape
        shape.links = [.kafka("gateway-1"), .clients("gateway-1"), .redis("audience-presence-1")]
        for (only, kinds) in [
            "gateway and Kafka": ["cut", "silence", "delay"], "Kafka to gateway": ["silence"],
            "gateway to Kafka": ["silence"], "clients and gateway": ["cut", "silence", "delay"],
            "gateway to clients": ["silence"], "audience-presence and Redis": ["cut", "silence", "delay"],
        ] {
            let schedule = FaultSchedule(seed: 1, shape: shape, only: only)
            // The first word of a fault's kind.
            let verbs = (1...schedule.count).map { schedule.round($0).fault.kind.prefix { $0 != " " } }
            #expect(Set(verbs.map(String.init)) == Set(kinds), "\(only)")
        }
    }

    @Test func `the clock of each service is set ahead and behind if the cluster can have wrong clocks`() {
        var shape = Self.shape
        shape.hasFakeClock = true
        let schedule = FaultSchedule(seed: 1, shape: shape, only: "wrong clock")
        let faults = Set((1...schedule.count).map { schedule.round($0).fault })
        #expect(faults.count == 2 * ServiceKind.allCases.count)
        // The schedule has each fault once, for one of the two gateways.
        let clocksOfGateways = faults.intersection(
            ["gateway-1", "gateway-2"].map { .setClock($0, ahead: -30, seconds: 12) })
        #expect(clocksOfGateways.count == 1)
        #expect(FaultSchedule(seed: 1, shape: Self.shape, only: "wrong clock").count == 0)
    }

    @Test func `words of a fault's kind select the faults of a schedule`() {
        let schedule = FaultSchedule(seed: 1, shape: Self.shape, only: "redis")
        #expect(Set((1...schedule.count).map { schedule.round($0).fault.kind }) == ["kill redis", "freeze redis"])
        #expect(FaultSchedule(seed: 1, shape: Self.shape, only: "nothing").count == 0)
    }

    @Test func `the selecting words may be in upper or lower case`() {
        var shape = Self.shape
        shape.links = [.redis("audience-presence-1"), .kafka("gateway-1")]
        for only in ["redis", "Redis", "REDIS"] {
            let schedule = FaultSchedule(seed: 1, shape: shape, only: only)
            #expect(schedule.kinds.contains("kill redis"), "\(only)")
            #expect(schedule.kinds.contains("cut between audience-presence and Redis"), "\(only)")
            #expect(schedule.kinds.allSatisfy { $0.lowercased().contains("redis") }, "\(only)")
        }
        #expect(FaultSchedule(seed: 1, shape: shape, only: "flushall").kinds == ["FLUSHALL"])
    }

    @Test func `no fault is for a broker when the cluster starts no broker`() {
        let shape = ClusterShape(instances: Self.shape.instances, brokers: 0)
        let schedule = FaultSchedule(seed: 1, shape: shape)
        let processes = (1...schedule.count).flatMap { schedule.round($0).fault.processes }
        #expect(!processes.contains { $0.hasPrefix("broker") })
    }
}

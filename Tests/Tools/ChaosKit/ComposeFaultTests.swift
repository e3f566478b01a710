// SPDX-License-Identifier: Apache-2.0
import ClusterKit
import Testing

@testable import ChaosKit

/// Tests of the Docker commands by which faults are injected into the containers of a Compose project.
struct ComposeFaultTests {
    /// What `docker ps` prints of a cluster with three brokers, three gateways, and two of each other service.
    ///
    /// The gateways have the numbers 1, 3 and 4, as after a container was replaced. The container of `demo` was started
    /// by `docker compose run`, so faults do not use it.
    private static let listing: String = {
        var lines = ["proxy", "redis", "kafka", "kafka-2", "kafka-3"].map { Self.line($0, 1) }
        for kind in ServiceKind.allCases {
            for number in kind == .gateway ? [1, 3, 4] : [1, 2] { lines.append(Self.line(kind.rawValue, number)) }
        }
        lines.append("demo\t1\tTrue\tp_demo_run_1\trunning\tUp 1 second")
        return lines.reversed().joined(separator: "\n")
    }()

    /// A line of `docker ps`: service, number, whether `compose run` started it, name, state and status.
    private static func line(
        _ service: String, _ number: Int, _ state: String = "running", _ status: String = "Up 5 seconds (healthy)"
    ) -> String { "\(service)\t\(number)\tFalse\tp_\(service)_\(number)\t\(state)\t\(status)" }

    private static let containers = ComposeContainers(Self.listing)

    private static func fault(_ fault: Fault) -> ComposeFault? {
        ComposeFault(fault, project: "p", containers: Self.containers)
    }

    @Test func `a process name selects a container by its place in the service, and none beyond the last one`() {
        // gateway-1 is the first gateway, whatever the number of its container is; there is no fourth.
        let containerNames = [
            "gateway-1", "gateway-2", "gateway-3", "gateway-4", "broker-1", "broker-3", "redis", "proxy", "demo",
        ]
        .map { Self.containers.name(of: $0) }
        #expect(
            containerNames == [
                "p_gateway_1", "p_gateway_3", "p_gateway_4", nil, "p_kafka_1", "p_kafka-3_1", "p_redis_1", "p_proxy_1",
                nil,
            ])
        #expect(Self.containers.shape.instances[.gateway] == 3)
        #expect(Self.containers.shape.instances[.roomDirectory] == 2)
        #expect(Self.containers.shape.brokers == 3)
    }

    @Test(arguments: [
        ("running", "Up 5 seconds (healthy)", true), ("running", "Up 5 seconds", true),
        ("running", "Up 5 seconds (health: starting)", false), ("running", "Up 5 seconds (unhealthy)", false),
        ("paused", "Up 5 seconds (Paused)", false), ("restarting", "Restarting (137) 1 second ago", false),
        ("exited", "Exited (137) 1 second ago", false),
    ])
    func `a container is ready when it runs and is healthy`(state: String, status: String, isReady: Bool) {
        let containers = ComposeContainers(Self.line("gateway", 1, state, status))
        #expect(containers.notReady.isEmpty == isReady)
    }

    @Test func `a service is killed inside its container, and a broker's container is killed and started again`() {
        // `kill -9 -1` in the container kills every process of the container.
        let service = Self.fault(.kill(["gateway-2", "room-directory-1"]))
        #expect(
            service?.beginSteps == [
                .docker([
                    ["exec", "p_gateway_3", "sh", "-c", "kill -9 -1"],
                    ["exec", "p_room-directory_1", "sh", "-c", "kill -9 -1"],
                ])
            ])
        #expect(service?.endSteps == [])
        let broker = Self.fault(.kill(["broker-2"]))
        #expect(broker?.beginSteps == [.docker([["kill", "p_kafka-2_1"]])])
        #expect(broker?.endSteps == [.docker([["start", "p_kafka-2_1"]])])
    }

    @Test func `when a fault ends, a paused container is continued, and a disconnected one is connected`() {
        let freeze = Self.fault(.freeze(["gateway-1", "redis"], seconds: 8))
        #expect(freeze?.beginSteps == [.docker([["pause", "p_gateway_1", "p_redis_1"]])])
        #expect(freeze?.endSteps == [.wait(seconds: 8), .docker([["unpause", "p_gateway_1", "p_redis_1"]])])
        for (link, network) in [(Link.kafka("gateway-1"), "p_cluster"), (.clients("gateway-1"), "p_clients")] {
            let silence = Self.fault(.interrupt(link, .silence([.toServer, .toClient]), seconds: 12))
            #expect(silence?.beginSteps == [.docker([["network", "disconnect", network, "p_gateway_1"]])])
            #expect(
                silence?.endSteps == [
                    .wait(seconds: 12),
                    .docker([["network", "connect", "--alias", "gateway", network, "p_gateway_1"]]),
                ])
        }
    }

    @Test func `a rolling restart waits for each container before the next, and a repeated kill pauses in between`() {
        let steps = Self.fault(.rollingRestart(.gateway))?.beginSteps ?? []
        #expect(
            steps
                == ["p_gateway_1", "p_gateway_3", "p_gateway_4"].flatMap { name -> [ComposeStep] in
                    [.docker([["restart", "-t", "10", name]]), .waitUntilReady]
                })
        // The first of the three kills is the only begin step. The end steps are a pause and a kill, twice.
        #expect(Self.fault(.killRepeatedly("gateway-1", times: 3))?.endSteps.count == 4)
    }

    @Test func `a schedule for containers has exactly the faults that can be injected into containers`() {
        let shape = Self.containers.shape
        // The full schedule has every fault; the other only those that can be injected.
        let fullSchedule = FaultSchedule(seed: 1, shape: shape)
        let possibleSchedule = FaultSchedule(seed: 1, shape: shape) { Self.fault($0) != nil }
        // The schedules choose instances, which does not matter here: all become first instances.
        func faults(_ schedule: FaultSchedule) -> Set<Fault> {
            Set(
                (1...schedule.count).map { number in
                    schedule.round(number).fault.replacingInstances { process in
                        process == "redis" ? process : "\(Fault.service(of: process))-1"
                    }
                })
        }
        let omittedFaults = faults(fullSchedule).subtracting(faults(possibleSchedule))
        #expect(omittedFaults.contains(.flushRedis))
        #expect(omittedFaults.contains(.fillDisk("broker-1", seconds: 3)))
        for fault in omittedFaults {
            let cannotBeInjected =
                switch fault {
                case .flushRedis, .fillDisk: true
                case .interrupt(_, let interruption, _): interruption != .silence([.toServer, .toClient])
                default: false
                }
            #expect(cannotBeInjected, "\(fault) must not be omitted")
        }
        // A fault whose container does not exist cannot be injected. Here the only container is that of Redis.
        let faultWithoutContainer = ComposeFault(
            .kill(["gateway-1"]), project: "p", containers: ComposeContainers(Self.line("redis", 1)))
        #expect(faultWithoutContainer == nil)
    }
}

// SPDX-License-Identifier: Apache-2.0
internal import ClusterKit

/// One step of a fault of a compose cluster.
package enum ComposeStep: Hashable, Sendable {
    /// Commands of Docker that run at the same time.
    case docker([[String]])
    case wait(seconds: Int)
    /// Waits at most 30 s until every container is healthy.
    case waitUntilReady
}

/// How a fault is injected into containers: steps that begin it, and steps that end it.
package struct ComposeFault: Hashable, Sendable {
    /// The steps that begin the fault; if one of them fails, the fault was not injected.
    package var beginSteps: [ComposeStep] = []
    /// The steps that end the fault.
    ///
    /// They run even if an earlier step failed. Their own failures are ignored, because a container that was killed
    /// again may be down.
    package var endSteps: [ComposeStep] = []

    /// Chooses the steps; nil for a fault that is not possible with containers.
    ///
    /// Not possible are FLUSHALL, which Redis's user may not run, and changes of the disk or the clock of a single
    /// container. The only possible interruption is a silence in both directions, because a container can only be
    /// disconnected from a whole network.
    ///
    /// - Parameters:
    ///   - fault: the fault.
    ///   - project: the name of the compose project, with which the names of its networks begin.
    ///   - containers: the containers.
    package init?(_ fault: Fault, project: String, containers: ComposeContainers) {
        let names = fault.processes.compactMap(containers.name(of:))
        // A rolling restart names a service, not a process; the containers of the service are looked up below.
        guard names.count == fault.processes.count || fault.isRollingRestart else { return nil }
        switch fault {
        case .kill(let processes):
            self.beginSteps = [.docker(zip(processes, names).map { Self.kill($0, container: $1) })]
            self.endSteps = Self.start(processes, names)
        case .killRepeatedly(let process, let times):
            let kill = ComposeStep.docker(names.map { Self.kill(process, container: $0) })
            self.beginSteps = [kill]
            self.endSteps =
                (1..<max(1, times)).flatMap { _ in [.wait(seconds: 2), kill] } + Self.start([process], names)
        case .freeze(_, let seconds), .freezeAtBattleEnd(_, let seconds), .freezeInAppend(_, let seconds):
            self.beginSteps = [.docker([["pause"] + names])]
            self.endSteps = [.wait(seconds: seconds), .docker([["unpause"] + names])]
        case .terminate: self.beginSteps = [.docker([["restart", "-t", "10"] + names])]
        case .rollingRestart(let kind):
            self.beginSteps = containers.names(of: kind.rawValue).flatMap { name -> [ComposeStep] in
                [.docker([["restart", "-t", "10", name]]), .waitUntilReady]
            }
            if self.beginSteps.isEmpty { return nil }
        case .interrupt(let link, .silence([.toServer, .toClient]), let seconds):
            let network: String
            switch link {
            // Kafka and Redis are in the same network, so a link to Redis cannot be interrupted alone.
            case .kafka: network = "\(project)_cluster"
            case .clients: network = "\(project)_clients"
            case .redis: return nil
            }
            let service = Fault.service(of: link.process)
            self.beginSteps = [.docker(names.map { ["network", "disconnect", network, $0] })]
            self.endSteps = [
                .wait(seconds: seconds),
                .docker(names.map { ["network", "connect", "--alias", service, network, $0] }),
            ]
        case .interrupt, .flushRedis, .fillDisk, .setClock: return nil
        }
    }

    /// The command that kills a process with SIGKILL.
    ///
    /// A service's container has an init process, which ends when its only child does; then Docker's restart policy
    /// applies as after a crash. Redis and a broker are the first process of their container. Only the engine can kill
    /// them, and it does not start them again by itself.
    private static func kill(_ process: String, container: String) -> [String] {
        Self.isStartedByEndSteps(process) ? ["kill", container] : ["exec", container, "sh", "-c", "kill -9 -1"]
    }

    /// The step that starts the containers which Docker's restart policy does not start; none if there are none.
    private static func start(_ processes: [String], _ names: [String]) -> [ComposeStep] {
        let stopped = zip(processes, names).filter { process, _ in Self.isStartedByEndSteps(process) }.map { $1 }
        return stopped.isEmpty ? [] : [.docker([["start"] + stopped])]
    }

    /// Whether the end steps of a fault must start the process, because Docker does not start it again by itself.
    private static func isStartedByEndSteps(_ process: String) -> Bool {
        ["redis", "broker"].contains(Fault.service(of: process))
    }
}

extension Fault {
    fileprivate var isRollingRestart: Bool {
        if case .rollingRestart = self { true } else { false }
    }
}

// SPDX-License-Identifier: Apache-2.0
internal import ChildProcess
internal import Foundation
internal import Glibc

extension LocalCluster {
    /// The cluster's state in the form of `state.json`.
    func state(of table: ProcessTable) -> ClusterState {
        let (broker, brokers) =
            switch self.options.broker {
            case .embedded: ("embedded", 1)
            case .kafkaHome(_, let count): ("kafka", count)
            case .external: ("external", 0)
            }
        let redis = table["redis"]?.plan.ports["redis"] ?? 0
        return ClusterState(
            supervisor: getpid(), listsAllProcesses: table.listsAllProcesses, broker: broker, kafka: table.kafka,
            kafkaOptions: self.options.kafkaArguments.isEmpty ? nil : self.options.kafkaArguments, brokers: brokers,
            redis: "127.0.0.1:\(redis)",
            partitions: self.options.partitions, apps: self.appsFile,
            gateways: table.members.compactMap(self.gateway), processes: table.members.map(Self.process))
    }

    /// The path of the apps file; empty when the apps come from the environment.
    private var appsFile: String {
        let path = self.directory.appsFile
        let source = try? AppsFile.Source(environment: ClusterPlans.environment(self.options), defaultFile: path)
        return source == .file(path) ? path : ""
    }

    private static func process(_ member: ClusterMember) -> ClusterState.Process {
        ClusterState.Process(
            name: member.plan.name, kind: member.plan.kind, pid: member.pid, opsPort: member.plan.opsPort,
            ports: member.plan.ports, log: member.plan.log, ready: member.pid != nil && member.isReady,
            restarts: max(0, member.starts - 1), lastExitDescription: member.lastEnd?.description)
    }

    private func gateway(_ member: ClusterMember) -> ClusterState.Gateway? {
        guard member.plan.service == .gateway, let port = member.plan.ports["ws"],
            let httpPort = member.plan.ports["http"]
        else { return nil }
        // A gateway that binds all interfaces is reached through the loopback interface.
        let host = self.options.host == "0.0.0.0" ? "127.0.0.1" : self.options.host
        return ClusterState.Gateway(
            name: member.plan.name, webSocket: "ws://\(host):\(port)", http: "http://\(host):\(httpPort)", host: host,
            port: port, httpPort: httpPort)
    }
}

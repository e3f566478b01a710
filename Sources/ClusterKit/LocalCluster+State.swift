// SPDX-License-Identifier: Apache-2.0
internal import ChildProcess
internal import Foundation
internal import Glibc

extension LocalCluster {
    /// The public picture of the roster.
    func state(of roster: Roster) -> ClusterState {
        let (broker, brokers) =
            switch self.options.broker {
            case .embedded: ("embedded", 1)
            case .kafkaHome(_, let count): ("kafka", count)
            case .external: ("external", 0)
            }
        let redis = roster["redis"]?.plan.ports["redis"] ?? 0
        return ClusterState(
            supervisor: getpid(), isWhole: roster.isWhole, broker: broker, kafka: roster.kafka, brokers: brokers,
            redis: "127.0.0.1:\(redis)",
            partitions: self.options.partitions, apps: self.appsFile,
            gateways: roster.members.compactMap(self.gateway), processes: roster.members.map(Self.process))
    }

    /// The file of the apps; empty when the environment has them.
    private var appsFile: String {
        let path = self.directory.appsFile
        let source = try? AppsFile.Source(environment: ClusterParts.environment(self.options), else: path)
        return source == .file(path) ? path : ""
    }

    private static func process(_ member: Member) -> ClusterState.Process {
        ClusterState.Process(
            name: member.plan.name, kind: member.plan.kind, pid: member.pid, opsPort: member.plan.opsPort,
            ports: member.plan.ports, log: member.plan.log, ready: member.pid != nil && member.isReady,
            restarts: max(0, member.starts - 1), lastEnd: member.lastEnd?.description)
    }

    private func gateway(_ member: Member) -> ClusterState.Gateway? {
        guard member.plan.service == .gateway, let port = member.plan.ports["ws"],
            let httpPort = member.plan.ports["http"]
        else { return nil }
        // What binds everywhere is reached from here by the loopback interface.
        let host = self.options.host == "0.0.0.0" ? "127.0.0.1" : self.options.host
        return ClusterState.Gateway(
            name: member.plan.name, webSocket: "ws://\(host):\(port)", http: "http://\(host):\(httpPort)", host: host,
            port: port, httpPort: httpPort)
    }
}

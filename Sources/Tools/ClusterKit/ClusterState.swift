// SPDX-License-Identifier: Apache-2.0
package import Foundation

/// The cluster that runs in a run directory, as stored in its `state.json`.
///
/// `plaza status`, `token`, `demo` and `load` read it.
package struct ClusterState: Sendable, Codable, Equatable {
    /// One process of the cluster.
    package struct Process: Sendable, Codable, Equatable {
        /// Unique in the cluster, such as `barrage-fanout-1`, `redis`, `broker-2`.
        package var name: String
        /// The service's program name, or `redis`, `broker`, `demo`.
        package var kind: String
        /// The process id; nil while the process is down.
        package var pid: Int32?
        /// The port for `/livez`, `/readyz` and `/metrics`; nil for infrastructure.
        package var opsPort: Int?
        /// The other ports by use: `ws`, `http`, `redis`, `kafka`.
        package var ports: [String: Int]
        /// The log file with the process's standard output and standard error, across all restarts.
        package var log: String
        /// Whether the process was ready at the last probe.
        package var ready: Bool
        /// Why the process was not ready at the last probe, in its own words; nil if it was ready or gave no reason.
        package var problem: String?
        /// What a ready process reported as degraded at the last probe, in its own words; nil if it reported nothing.
        package var degradation: String?
        /// The number of restarts.
        package var restarts: Int
        /// How the process's last run ended, such as `was ended by signal 9`; nil if it never ended.
        package var lastExitDescription: String?

        /// The names in `state.json`.
        private enum CodingKeys: String, CodingKey {
            case name, kind, pid, opsPort, ports, log, ready, problem, restarts
            case degradation = "degraded"
            case lastExitDescription = "lastEnd"
        }
    }

    /// The addresses of one gateway.
    package struct Gateway: Sendable, Codable, Equatable {
        /// The instance's name.
        package var name: String
        /// The address for clients, such as `ws://127.0.0.1:8080`.
        package var webSocket: String
        /// The address for reads and for an app's server, such as `http://127.0.0.1:8081`.
        package var http: String
        /// The host of both addresses.
        package var host: String
        /// The WebSocket port.
        package var port: Int
        /// The HTTP port.
        package var httpPort: Int
    }

    /// The version of the format.
    package var version = 1
    /// The id of the process that supervises all others.
    package var supervisor: Int32
    /// Whether all processes of the cluster are listed; false until a starting cluster has started its services.
    package var listsAllProcesses: Bool
    /// `embedded`, `kafka` (started from a directory) or `external`.
    package var broker: String
    /// Kafka's bootstrap addresses; empty until they are known.
    package var kafka: String
    /// The options with which tools connect to an external Kafka, without secrets; nil when it needs none.
    package var kafkaOptions: [String]?
    /// The number of brokers that the cluster started.
    package var brokers: Int
    /// Redis's address, `host:port`.
    package var redis: String
    /// The number of partitions of each topic.
    package var partitions: Int
    /// The file with the apps' keys and policies, readable by the owner alone; empty when they came from
    /// `LIVEPLAZA_APPS_JSON`, because secrets from the environment are not written to a file.
    package var apps: String
    /// The gateways, in the order of the numbers in their names.
    package var gateways: [Gateway]
    /// The processes, in the order in which they were started.
    package var processes: [Process]

    /// The names in `state.json`.
    private enum CodingKeys: String, CodingKey {
        case version, supervisor, broker, kafka, kafkaOptions, brokers, redis, partitions, apps, gateways, processes
        case listsAllProcesses = "isWhole"
    }

    /// Whether every process runs and was ready at the last probe.
    package var isReady: Bool { self.listsAllProcesses && self.processes.allSatisfy { $0.pid != nil && $0.ready } }

    /// Reads the state of the cluster that runs in `runDirectory`.
    ///
    /// - Throws: `notRunning` when no cluster runs there, even if a killed cluster left its file behind; `file` when
    ///   the file cannot be decoded.
    package static func read(runDirectory path: String) throws(ClusterError) -> ClusterState {
        let directory = RunDirectory(path)
        guard directory.isLocked, let data = FileManager.default.contents(atPath: directory.stateFile) else {
            throw .notRunning(runDirectory: directory.path)
        }
        do {
            return try JSONDecoder().decode(ClusterState.self, from: data)
        } catch {
            throw .file(path: directory.stateFile, reason: "is not the state of a cluster: \(error)")
        }
    }

    /// The content of `state.json`.
    ///
    /// - Throws: `file` when the state cannot be encoded.
    package func encoded() throws(ClusterError) -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        do {
            return try encoder.encode(self)
        } catch {
            throw .file(path: "state.json", reason: "cannot be encoded: \(error)")
        }
    }
}

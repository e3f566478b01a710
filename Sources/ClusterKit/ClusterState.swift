// SPDX-License-Identifier: Apache-2.0
package import Foundation

/// What runs in a run directory, as its `state.json` says it: `plaza status`, `token`, `demo` and `load` find all here.
package struct ClusterState: Sendable, Codable, Equatable {
    /// One process of the cluster.
    package struct Process: Sendable, Codable, Equatable {
        /// Unique in the cluster, such as `barrage-fanout-1`, `redis`, `broker-2`.
        package var name: String
        /// The service's program name, or `redis`, `broker`, `demo`.
        package var kind: String
        /// nil while it is down.
        package var pid: Int32?
        /// Where it answers `/livez`, `/readyz` and `/metrics`; infrastructure has none.
        package var opsPort: Int?
        /// Its other ports by use: `ws`, `http`, `redis`, `kafka`.
        package var ports: [String: Int]
        /// Its output, standard and error, of all its lives.
        package var log: String
        /// Whether it was ready when it was last asked.
        package var ready: Bool
        /// How often it was started again.
        package var restarts: Int
        /// How it ended last, in words; nil when it never did.
        package var lastEnd: String?
    }

    /// Where one gateway is reached.
    package struct Gateway: Sendable, Codable, Equatable {
        /// The instance's name.
        package var name: String
        /// For clients, such as `ws://127.0.0.1:8080`.
        package var webSocket: String
        /// For reads and an app's server, such as `http://127.0.0.1:8081`.
        package var http: String
        /// The address without the scheme.
        package var host: String
        /// The WebSocket port.
        package var port: Int
        /// The HTTP port.
        package var httpPort: Int
    }

    /// Of this format.
    package var version = 1
    /// The process that supervises all others.
    package var supervisor: Int32
    /// Whether every process that shall run is listed; while a cluster starts, the services are not.
    package var isWhole: Bool
    /// `embedded`, `kafka` (started from a directory) or `external`.
    package var broker: String
    /// Kafka's bootstrap addresses; empty until they are known.
    package var kafka: String
    /// How many brokers of ours there are.
    package var brokers: Int
    /// Redis's address.
    package var redis: String
    /// Partitions of each topic.
    package var partitions: Int
    /// The file with the apps' keys and policies, readable by the owner alone; empty when they came by
    /// `LIVEPLAZA_APPS_JSON`, for secrets of the environment are written nowhere.
    package var apps: String
    /// In order of their names' numbers.
    package var gateways: [Gateway]
    /// In the order in which they were started.
    package var processes: [Process]

    /// Whether every process runs and was ready when it was last asked.
    package var isReady: Bool { self.isWhole && self.processes.allSatisfy { $0.pid != nil && $0.ready } }

    /// Reads the state of the cluster that runs in `runDirectory`.
    ///
    /// - Throws: `notRunning` when none does, also when one died without tidying up.
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

    /// The JSON that `state.json` holds.
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

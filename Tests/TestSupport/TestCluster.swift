// SPDX-License-Identifier: Apache-2.0
package import ClusterKit
internal import Foundation

/// Local clusters for tests, with free ports and a run directory that is removed after the test.
package enum TestCluster {
    /// The directory of a real Apache Kafka; nil when there is none.
    package static var kafkaHome: String? { RealKafka.home }

    /// The reason why a test that needs a real Kafka is skipped.
    package static let whyNoKafka = "needs a real Kafka: set KAFKA_HOME to an unpacked Apache Kafka 4"

    /// Options with free ports, a fresh run directory, and no automatic restarts.
    ///
    /// - Parameter brokers: how many brokers of a real Kafka to start, one or three; with nil, or without `kafkaHome`,
    ///   the cluster has the embedded broker.
    /// - Returns: options for one test.
    package static func options(kafkaBrokers brokers: Int? = nil) -> ClusterOptions {
        var options = ClusterOptions(runDirectory: NSTemporaryDirectory() + "liveplaza-\(UUID().uuidString)")
        options.port = 0
        options.restartsExitedProcesses = false
        if let brokers, let kafkaHome { options.broker = .kafkaHome(kafkaHome, brokers: brokers) }
        return options
    }

    /// Starts a cluster, waits until it is ready, runs `body`, and stops the cluster in every case.
    ///
    /// If the start or `body` throws, the last lines of every log are printed. The run directory is removed at the end.
    ///
    /// - Throws: the error of the start or of `body`, or an error if the cluster is not ready within `limit`.
    package static func with<R: Sendable>(
        _ options: ClusterOptions, readyWithin limit: Duration = .seconds(60),
        _ body: @Sendable (LocalCluster) async throws -> R
    ) async throws -> R {
        let cluster = LocalCluster(options)
        defer { try? FileManager.default.removeItem(atPath: cluster.directory.path) }
        do {
            try await cluster.start()
            try await cluster.waitUntilReady(within: limit)
            let result = try await body(cluster)
            await cluster.stop()
            return result
        } catch {
            for process in cluster.processes {
                print("--- \(process.log)\n\(RunDirectory.lastLines(of: process.log, count: 40))")
            }
            await cluster.stop()
            throw error
        }
    }
}

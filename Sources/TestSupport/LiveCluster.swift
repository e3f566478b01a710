// SPDX-License-Identifier: Apache-2.0
package import ClusterKit
internal import Foundation

/// Local clusters for tests: free ports, a run directory of their own, gone when the test is.
package enum LiveCluster {
    /// The directory of a real Apache Kafka; nil when there is none at hand.
    package static var kafkaHome: String? { LiveKafka.home }

    /// Why a test that needs a real Kafka did not run.
    package static let whyNoKafka = "needs a real Kafka: set KAFKA_HOME to an unpacked Apache Kafka 4"

    /// Options with free ports, a fresh run directory, and nothing restarted behind the test's back.
    ///
    /// - Parameter brokers: one or three, from `kafkaHome`; nil takes the embedded broker.
    /// - Returns: options for one test.
    package static func options(realKafka brokers: Int? = nil) -> ClusterOptions {
        var options = ClusterOptions(runDirectory: NSTemporaryDirectory() + "liveplaza-\(UUID().uuidString)")
        options.port = 0
        options.restartsWhatDies = false
        if let brokers, let kafkaHome { options.broker = .kafkaHome(kafkaHome, brokers: brokers) }
        return options
    }

    /// Starts a cluster, waits until it is ready, runs `body`, and ends the cluster however that went.
    ///
    /// When `body` throws, the last lines of every log are printed; the run directory is removed when it does not.
    package static func with<R: Sendable>(
        _ options: ClusterOptions, readyWithin limit: Duration = .seconds(60),
        _ body: @Sendable (LocalCluster) async throws -> R
    ) async throws -> R {
        let cluster = LocalCluster(options)
        do {
            try await cluster.start()
            try await cluster.waitUntilReady(within: limit)
            let result = try await body(cluster)
            await cluster.stop()
            try? FileManager.default.removeItem(atPath: cluster.directory.path)
            return result
        } catch {
            for process in cluster.processes {
                print("--- \(process.log)\n\(RunDirectory.lastLines(of: process.log, count: 12))")
            }
            await cluster.stop()
            throw error
        }
    }
}

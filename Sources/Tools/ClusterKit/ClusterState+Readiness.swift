// SPDX-License-Identifier: Apache-2.0

internal import Concurrency
internal import Foundation

extension ClusterState {
    /// A copy with the current readiness of every process; all processes are probed at once.
    package func checkingReadiness() async -> ClusterState {
        let probeResults = await withTaskGroup(of: (index: Int, isReady: Bool, text: String?).self) { group in
            for (index, process) in self.processes.enumerated() {
                group.addTask {
                    let (isReady, text) = await process.checkReadiness()
                    return (index, isReady, text)
                }
            }
            var results: [Int: (isReady: Bool, text: String?)] = [:]
            for await (index, isReady, text) in group { results[index] = (isReady, text) }
            return results
        }
        var state = self
        for index in state.processes.indices {
            let isReady = probeResults[index]?.isReady ?? false
            let text = probeResults[index]?.text
            state.processes[index].ready = isReady
            state.processes[index].problem = isReady ? nil : text
            state.processes[index].degradation = isReady ? text.flatMap { Process.degradation(in: $0) } : nil
        }
        return state
    }
}

extension ClusterState.Process {
    /// The part of a `/readyz` response that names what is degraded; nil if nothing is.
    static func degradation(in readinessText: String) -> String? {
        readinessText.firstRange(of: "degraded: ").map { String(readinessText[$0.upperBound...]) }
    }

    /// Probes the process at one of its ports: the ops port, or else the port of Redis or Kafka.
    ///
    /// - Returns: whether the process is ready; and the body of its `/readyz` response, which names each problem. The
    ///   body is nil if it is empty, or if the process has no ops port or did not respond.
    fileprivate func checkReadiness() async -> (isReady: Bool, text: String?) {
        guard self.pid != nil else { return (false, nil) }
        if let opsPort { return await Self.checkReadiness(opsPort: opsPort) }
        let probe: Probe =
            if let port = self.ports["redis"] {
                .redis(port: port)
            } else if let port = self.ports["kafka"] {
                .kafka(port: port)
            } else {
                .none
            }
        // A process without a probe keeps its last known readiness.
        guard probe != .none else { return (self.ready, nil) }
        return (await runOnDedicatedThread("cluster-ask") { HealthProbe.isReady(probe) }, nil)
    }

    private static func checkReadiness(opsPort: Int) async -> (isReady: Bool, text: String?) {
        var response = await runOnDedicatedThread("cluster-ask") { HealthProbe.readiness(port: opsPort) }
        let isReady = response?.status == 200
        // A process that responds late is not ready. Its response may name the problem, so it is asked again with a
        // longer timeout.
        if response == nil {
            response = await HealthProbe.httpResponse(host: "127.0.0.1", port: opsPort, path: "/readyz")
        }
        let text = response?.body.trimmingCharacters(in: .whitespacesAndNewlines)
        return (isReady, text.flatMap { $0.isEmpty ? nil : $0 })
    }
}

extension HealthProbe {
    /// Calls `http(host:port:path:timeout:bearerToken:)` on a dedicated thread, with a timeout of 2 s.
    package static func httpResponse(
        host: String, port: Int, path: String, bearerToken: String? = nil
    ) async -> Response? {
        await runOnDedicatedThread("cluster-ask") {
            self.http(host: host, port: port, path: path, timeout: .seconds(2), bearerToken: bearerToken)
        }
    }
}

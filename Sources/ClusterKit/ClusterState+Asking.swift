// SPDX-License-Identifier: Apache-2.0

extension ClusterState {
    /// The same, with every process's readiness as it answers now; all are asked at once.
    package func asked() async -> ClusterState {
        let answers = await withTaskGroup(of: (Int, Bool).self) { group in
            for (index, process) in self.processes.enumerated() {
                group.addTask { (index, await process.isReadyNow()) }
            }
            var answers: [Int: Bool] = [:]
            for await (index, isReady) in group { answers[index] = isReady }
            return answers
        }
        var state = self
        for index in state.processes.indices { state.processes[index].ready = answers[index] ?? false }
        return state
    }
}

extension ClusterState.Process {
    /// Asks the process, as its kind wants to be asked.
    package func isReadyNow() async -> Bool {
        guard self.pid != nil else { return false }
        let probe: Probe =
            if let opsPort {
                .http(port: opsPort)
            } else if let port = self.ports["redis"] {
                .redis(port: port)
            } else if let port = self.ports["kafka"] {
                .kafka(port: port)
            } else {
                .none
            }
        // What cannot be asked was ready when it said so.
        guard probe != .none else { return self.ready }
        return await onOwnThread("cluster-ask") { Inquiry.isReady(probe) }
    }
}

extension Inquiry {
    /// `http(host:port:path:timeoutMilliseconds:)` on a thread of its own.
    package static func httpStatus(host: String, port: Int, path: String) async -> Answer? {
        await onOwnThread("cluster-ask") { self.http(host: host, port: port, path: path, timeoutMilliseconds: 2000) }
    }
}

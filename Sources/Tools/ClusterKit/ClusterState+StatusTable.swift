// SPDX-License-Identifier: Apache-2.0
internal import Foundation

extension ClusterState {
    /// The lines of `plaza status`: each process, how many are not ready, and the addresses of the gateways.
    package var statusTable: String {
        var lines = self.processes.map(\.statusLine)
        let notReadyCount = self.processes.count { $0.pid == nil || !$0.ready }
        if !self.listsAllProcesses { lines.append("the cluster is starting: more processes follow") }
        lines.append(
            notReadyCount == 0 ? "all \(self.processes.count) processes are ready" : "\(notReadyCount) not ready")
        lines += self.gateways.map { "\($0.name): WebSocket \($0.webSocket), HTTP \($0.http)" }
        return lines.joined(separator: "\n")
    }
}

extension ClusterState.Process {
    /// The process in `plaza status`: its name, state, pid, ports, restarts, and what is wrong with it.
    fileprivate var statusLine: String {
        // All phases have the same width.
        let phase =
            if self.pid == nil {
                "down     "
            } else if !self.ready {
                "not ready"
            } else {
                self.degradation == nil ? "ready    " : "degraded "
            }
        let pidOrReason = self.pid.map { "pid \($0)" } ?? self.lastExitDescription ?? "not started yet"
        let restarts = self.restarts == 0 ? "" : "  restarted \(self.restarts)×"
        let remark = (self.problem ?? self.degradation).map { "  \($0)" } ?? ""
        return "\(self.paddedName) \(phase) \(pidOrReason)  \(self.portList)\(restarts)\(remark)"
    }

    /// The name, padded to the width of a column.
    package var paddedName: String {
        self.name.padding(toLength: max(22, self.name.count), withPad: " ", startingAt: 0)
    }

    /// The ports of the process, each with its use.
    package var portList: String {
        var ports = self.ports.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
        if let opsPort = self.opsPort { ports.append("ops \(opsPort)") }
        return ports.joined(separator: ", ")
    }
}

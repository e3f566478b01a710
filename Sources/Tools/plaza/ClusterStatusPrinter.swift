// SPDX-License-Identifier: Apache-2.0
import ClusterKit
import Foundation

/// The output of `plaza up`: a line for each change of a process, then the addresses and the next steps.
struct ClusterStatusPrinter: Sendable {
    let cluster: LocalCluster

    /// Prints changes until the cluster has stopped.
    func printChanges() async {
        var version = 0
        // The last line printed about each process.
        var printedLines: [String: String] = [:]
        var wasReady = false
        Subcommands.printLine("plaza: starting in \(self.cluster.directory.path)")
        while let change = await self.cluster.waitForChange(after: version) {
            version = change.version
            for process in change.state.processes {
                let line = Self.line(process)
                // A line that is the same as before is not printed again.
                guard let line, printedLines[process.name] != line else { continue }
                printedLines[process.name] = line
                Subcommands.printLine(line)
            }
            if !wasReady, change.state.isReady {
                wasReady = true
                self.printAddresses(change.state)
            }
        }
    }

    /// One line about a process; nil before its first start.
    static func line(_ process: ClusterState.Process) -> String? {
        if let pid = process.pid {
            return "  \(process.paddedName) \(process.ready ? "ready   " : "starting") pid \(pid)  \(process.portList)"
        }
        return process.lastExitDescription.map { "  \(process.paddedName) down     \($0); log: \(process.log)" }
    }

    /// Prints the addresses and the next steps.
    private func printAddresses(_ state: ClusterState) {
        var lines = ["", "LivePlaza is ready."]
        for gateway in state.gateways {
            lines.append("  \(gateway.name): WebSocket \(gateway.webSocket), HTTP \(gateway.http)")
        }
        lines.append("  Kafka \(state.kafka) (\(Self.durability(state))), Redis \(state.redis)")
        let runDirectoryOption =
            self.cluster.options.runDirectory == ".cluster" ? "" : " --run-dir \(self.cluster.directory.path)"
        lines += [
            "",
            state.apps.isEmpty
                ? "Next, in another terminal in which LIVEPLAZA_APPS_JSON is set as here (--app names one of its apps):"
                : "Next, in another terminal:",
            "  plaza demo\(runDirectoryOption)    plays a short live evening and checks it",
            "  plaza token --app demo --user alice\(runDirectoryOption)    prints a token to connect with",
            "  plaza status\(runDirectoryOption)    lists the processes",
            "Logs are in \(self.cluster.directory.path). Ctrl-C ends everything.",
            "",
        ]
        Subcommands.printLine(lines.joined(separator: "\n"))
    }

    /// What kind of broker runs, and whether its data survive its end.
    private static func durability(_ state: ClusterState) -> String {
        switch state.broker {
        case "embedded": "embedded: in memory, all data are lost when it ends; see --kafka-home"
        case "kafka": state.brokers == 1 ? "one broker of this cluster" : "\(state.brokers) brokers of this cluster"
        default: "external"
        }
    }
}

extension ClusterState.Process {
    /// The name, padded to the width of a column.
    var paddedName: String { self.name.padding(toLength: max(22, self.name.count), withPad: " ", startingAt: 0) }

    /// The ports of the process, each with its use.
    var portList: String {
        let ports = self.ports.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
        return (ports + (self.opsPort.map { ["ops \($0)"] } ?? [])).joined(separator: ", ")
    }
}

// SPDX-License-Identifier: Apache-2.0
import ClusterKit
import Foundation

/// What `plaza up` shows: a line whenever a process changes, then the addresses and what to do next.
struct UpScreen: Sendable {
    let cluster: LocalCluster

    func say(_ text: String) { Subcommands.say(text) }

    /// Shows changes until the cluster is over.
    func follow() async {
        var version = 0
        var shown: [String: String] = [:]
        var wasReady = false
        self.say("plaza: starting in \(self.cluster.directory.path)")
        while let change = await self.cluster.change(after: version) {
            version = change.version
            for process in change.state.processes {
                let line = Self.line(process)
                // Between two lives there is nothing new to say.
                guard let line, shown[process.name] != line else { continue }
                shown[process.name] = line
                self.say(line)
            }
            if !wasReady, change.state.isReady {
                wasReady = true
                self.ready(change.state)
            }
        }
    }

    /// One line about a process; nil before its first start.
    static func line(_ process: ClusterState.Process) -> String? {
        if let pid = process.pid {
            return "  \(process.column) \(process.ready ? "ready   " : "starting") pid \(pid)  \(process.places)"
        }
        return process.lastEnd.map { "  \(process.column) down     \($0); log: \(process.log)" }
    }

    /// The addresses, and what to do with them.
    private func ready(_ state: ClusterState) {
        var lines = ["", "LivePlaza is ready."]
        for gateway in state.gateways {
            lines.append("  \(gateway.name): WebSocket \(gateway.webSocket), HTTP \(gateway.http)")
        }
        lines.append("  Kafka \(state.kafka) (\(Self.promise(state))), Redis \(state.redis)")
        let place = self.cluster.options.runDirectory == ".cluster" ? "" : " --run-dir \(self.cluster.directory.path)"
        lines += [
            "",
            state.apps.isEmpty
                ? "Next, in another terminal in which LIVEPLAZA_APPS_JSON is set as here (--app names one of its apps):"
                : "Next, in another terminal:",
            "  plaza demo\(place)    plays a short live evening and checks it",
            "  plaza token --app demo --user alice\(place)    prints a token to connect with",
            "  plaza status\(place)    shows what runs",
            "Logs are in \(self.cluster.directory.path). Ctrl-C ends everything.",
            "",
        ]
        self.say(lines.joined(separator: "\n"))
    }

    private static func promise(_ state: ClusterState) -> String {
        switch state.broker {
        case "embedded": "embedded: keeps nothing and promises nothing about crashes; see --kafka-home"
        case "kafka": state.brokers == 1 ? "one broker of our own" : "\(state.brokers) brokers of our own"
        default: "external"
        }
    }
}

extension ClusterState.Process {
    /// The name, padded so that a list of processes has columns.
    var column: String { self.name.padding(toLength: max(22, self.name.count), withPad: " ", startingAt: 0) }

    /// Its ports by use.
    var places: String {
        let ports = self.ports.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
        return (ports + (self.opsPort.map { ["ops \($0)"] } ?? [])).joined(separator: ", ")
    }
}

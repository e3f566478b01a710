// SPDX-License-Identifier: Apache-2.0
import ClusterKit
import Foundation
import Gateway

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
                Subcommands.printLine(
                    change.state.readyMessage(
                        options: self.cluster.options, directory: self.cluster.directory,
                        hasPages: PagesFolder.find(program: PagesFolder.program) != nil))
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
}

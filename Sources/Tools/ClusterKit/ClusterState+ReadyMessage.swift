// SPDX-License-Identifier: Apache-2.0

extension ClusterState {
    /// What `plaza up` prints when all processes are ready: the addresses, the next steps, and the address to open.
    ///
    /// - Parameters:
    ///   - options: the cluster's options.
    ///   - directory: its run directory.
    ///   - hasPages: whether the browser pages are installed beside the programs.
    /// - Returns: the lines, without a line break at the end.
    package func readyMessage(options: ClusterOptions, directory: RunDirectory, hasPages: Bool) -> String {
        var lines = ["", "LivePlaza is ready."]
        for gateway in self.gateways {
            lines.append("  \(gateway.name): WebSocket \(gateway.webSocket), HTTP \(gateway.http)")
        }
        lines.append("  Kafka \(self.kafka) (\(self.durability)), Redis \(self.redis)")
        let runDirectoryOption = options.runDirectory == ".cluster" ? "" : " --run-dir \(directory.path)"
        lines += [
            "",
            self.apps.isEmpty
                ? "Next, in another terminal in which LIVEPLAZA_APPS_JSON is set as here (--app names one of its apps):"
                : "Next, in another terminal:",
            "  plaza demo\(runDirectoryOption)    plays a short live evening and checks it",
            "  plaza token --app demo --user alice\(runDirectoryOption)    prints a token to connect with",
            "  plaza status\(runDirectoryOption)    lists the processes",
            "Logs are in \(directory.path). Ctrl-C ends everything.",
            "",
        ]
        if options.servesPages, hasPages, let gateway = self.gateways.first {
            let signIn = options.givesDemoTokens ? "any name signs in" : "sign in with a token"
            lines.append("Open \(gateway.http)/ in a browser: \(signIn).")
        }
        return lines.joined(separator: "\n")
    }

    /// What kind of broker runs, and whether its data survive its end.
    private var durability: String {
        switch self.broker {
        case "embedded": "embedded: in memory, all data are lost when it ends; see --kafka-home"
        case "kafka": self.brokers == 1 ? "one broker of this cluster" : "\(self.brokers) brokers of this cluster"
        default: "external"
        }
    }
}

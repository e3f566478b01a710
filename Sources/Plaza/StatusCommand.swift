// SPDX-License-Identifier: Apache-2.0
import ClusterKit
import Foundation
import Settings

/// `plaza status`: what runs and whether it is ready.
enum StatusCommand: Subcommand {
    static let name = "status"
    static let summary = "lists the processes of a running cluster; exits 0 when all are ready"

    static func run(_ arguments: [String], environment: [String: String]) async throws -> Int32 {
        var reader = SettingsReader(
            program: "plaza status",
            summary: "lists the processes of a running cluster and asks each whether it is ready. "
                + "Exits 0 when all are, 1 when one is not or nothing runs.",
            arguments: arguments, environment: environment)
        let directory = reader.runDirectory()
        let wait = reader.int(
            "wait", default: 0, range: 0...3600, placeholder: "SECONDS",
            help: "wait up to this long until all is ready")
        let isJSON = reader.flag("json", help: "print one JSON object instead of a table")
        let url = reader.optionalString(
            "url", placeholder: "URL",
            help: "ask only this address, such as http://127.0.0.1:8082/readyz, as a container's health check does")
        try reader.finish()

        let deadline = ContinuousClock.now + .seconds(wait)
        while true {
            let (isReady, report) = await Self.look(directory: directory, url: url, isJSON: isJSON)
            if isReady || ContinuousClock.now >= deadline {
                Subcommands.say(report)
                return isReady ? 0 : 1
            }
            // Another cluster's readiness comes with no event, so it is asked again.
            try await Task.sleep(for: .milliseconds(200))
        }
    }

    /// Asks everything once.
    private static func look(directory: String, url: String?, isJSON: Bool) async -> (Bool, String) {
        if let url {
            guard let address = HTTPAddress(url) else {
                return (false, "\(url) is not of the form http://HOST:PORT/PATH")
            }
            let answer = await Inquiry.httpStatus(host: address.host, port: address.port, path: address.path)
            guard let answer else { return (false, "\(url): no answer") }
            return (answer.status == 200, "\(url): \(answer.status) \(answer.body)")
        }
        do {
            let state = try await ClusterState.read(runDirectory: directory).asked()
            let text = isJSON ? String(decoding: try state.encoded(), as: UTF8.self) : Self.table(state)
            return (state.isReady, text)
        } catch {
            return (false, isJSON ? #"{"processes":[]}"# : "plaza status: \(error)")
        }
    }

    private static func table(_ state: ClusterState) -> String {
        var lines = state.processes.map { process in
            let phase = process.pid == nil ? "down     " : process.ready ? "ready    " : "not ready"
            let pid = process.pid.map { "pid \($0)" } ?? process.lastEnd ?? "not started yet"
            let restarts = process.restarts == 0 ? "" : "  restarted \(process.restarts)×"
            return "\(process.column) \(phase) \(pid)  \(process.places)\(restarts)"
        }
        let waiting = state.processes.count { $0.pid == nil || !$0.ready }
        if !state.isWhole { lines.append("the cluster is starting: more processes follow") }
        lines.append(waiting == 0 ? "all \(state.processes.count) processes are ready" : "\(waiting) not ready")
        lines += state.gateways.map { "\($0.name): WebSocket \($0.webSocket), HTTP \($0.http)" }
        return lines.joined(separator: "\n")
    }
}

/// The parts of a plain HTTP address.
struct HTTPAddress: Equatable {
    let host: String
    let port: Int
    let path: String

    /// nil unless it is `http://HOST[:PORT][/PATH]`.
    init?(_ text: String) {
        guard let parts = URLComponents(string: text), parts.scheme == "http", let host = parts.host, !host.isEmpty
        else { return nil }
        self.host = host
        self.port = parts.port ?? 80
        self.path = parts.percentEncodedPath.isEmpty ? "/" : parts.percentEncodedPath
    }
}

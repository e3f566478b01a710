// SPDX-License-Identifier: Apache-2.0
import ClusterKit
import Foundation
import Settings

/// `plaza status`: lists the processes and whether each is ready.
enum StatusCommand: Subcommand {
    static let name = "status"
    static let summary = "lists the processes of a running cluster; exits 0 when all are ready"
    static let help =
        "lists the processes of a running cluster and asks each whether it is ready. A degraded process is ready "
        + "but works less well; its line ends with the reason. Exits 0 when all are ready, 1 when a process is not "
        + "ready or no cluster runs."

    static func run(_ reader: inout SettingsReader) async throws -> Int32 {
        let directory = reader.runDirectory()
        let waitSeconds = reader.int(
            "wait", default: 0, range: 0...3600, placeholder: "SECONDS",
            help: "wait at most this long until all processes are ready")
        let isJSON = reader.flag("json", help: "print one JSON object instead of a table")
        let url = reader.optionalString(
            "url", placeholder: "URL",
            help: "check only this URL, e.g. http://127.0.0.1:8082/readyz (for container health checks)")
        try reader.finish()

        let deadline = ContinuousClock.now + .seconds(waitSeconds)
        while true {
            let (isReady, report) = await Self.check(directory: directory, url: url, isJSON: isJSON)
            if isReady || ContinuousClock.now >= deadline {
                Subcommands.printLine(report)
                return isReady ? 0 : 1
            }
            // A process sends no event when it becomes ready, so its readiness is polled.
            try await Task.sleep(for: .milliseconds(200))
        }
    }

    /// Checks once whether every process is ready, or whether `url` answers 200.
    ///
    /// - Returns: whether the check succeeded, and the text to print.
    private static func check(
        directory: String, url: String?, isJSON: Bool
    ) async -> (isReady: Bool, report: String) {
        if let url {
            guard let address = HTTPAddress(url) else {
                return (false, "\(url) is not of the form http://HOST:PORT/PATH")
            }
            let response = await HealthProbe.httpResponse(host: address.host, port: address.port, path: address.path)
            guard let response else { return (false, "\(url): no answer") }
            return (response.status == 200, "\(url): \(response.status) \(response.body)")
        }
        do {
            let state = try await ClusterState.read(runDirectory: directory).checkingReadiness()
            let text = isJSON ? String(decoding: try state.encoded(), as: UTF8.self) : state.statusTable
            return (state.isReady, text)
        } catch {
            return (false, isJSON ? #"{"processes":[]}"# : "plaza status: \(error)")
        }
    }
}

/// The parts of a plain HTTP address.
struct HTTPAddress: Equatable {
    let host: String
    let port: Int
    let path: String

    /// Parses `http://HOST[:PORT][/PATH]`; nil for any other text.
    init?(_ text: String) {
        guard let parts = URLComponents(string: text), parts.scheme == "http", let host = parts.host, !host.isEmpty
        else { return nil }
        self.host = host
        self.port = parts.port ?? 80
        self.path = parts.percentEncodedPath.isEmpty ? "/" : parts.percentEncodedPath
    }
}

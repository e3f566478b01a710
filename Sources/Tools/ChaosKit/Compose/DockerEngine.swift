// SPDX-License-Identifier: Apache-2.0
internal import ChildProcess
internal import ClusterKit
internal import Concurrency
internal import Foundation

/// Runs commands of the program `docker`.
struct DockerEngine: Sendable {
    /// Runs a command and waits for its end.
    ///
    /// - Returns: what the command printed, without blanks at both ends.
    /// - Throws: `ClusterError.commandFailed`, with what the command printed, when it fails.
    func run(_ arguments: [String]) async throws(ClusterError) -> String {
        let file = FileManager.default.temporaryDirectory.appending(path: "plaza-docker-\(UUID().uuidString)").path()
        defer { try? FileManager.default.removeItem(atPath: file) }
        let command = ["docker"] + arguments
        let end = await runOnDedicatedThread("docker") {
            ChildProcess.run(command, environment: ProcessInfo.processInfo.environment, output: .log(file))
        }
        let text = ((try? String(contentsOfFile: file, encoding: .utf8)) ?? "").trimmingCharacters(
            in: .whitespacesAndNewlines)
        guard end == .exited(0) else {
            throw .commandFailed(
                command: command.prefix(3).joined(separator: " "), reason: text.isEmpty ? end.description : text)
        }
        return text
    }
}

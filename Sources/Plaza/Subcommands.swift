// SPDX-License-Identifier: Apache-2.0
import ClusterKit
import Foundation
import Settings
import Synchronization

/// One subcommand of `plaza`.
protocol Subcommand: SendableMetatype {
    /// As it is typed.
    static var name: String { get }
    /// One line for the list of subcommands.
    static var summary: String { get }
    /// Does the work.
    ///
    /// - Returns: the status to exit with.
    /// - Throws: `SettingsError` for help and wrong options, any other error for what went wrong; both are printed.
    static func run(_ arguments: [String], environment: [String: String]) async throws -> Int32
}

/// The subcommands, and choosing one.
enum Subcommands {
    /// In the order in which a newcomer needs them.
    static let all: [any Subcommand.Type] = [
        UpCommand.self, StatusCommand.self, DemoCommand.self, LoadCommand.self, TokenCommand.self,
    ]

    /// Those that only `plaza` itself starts.
    static let hidden: [any Subcommand.Type] = [BrokerCommand.self]

    static func run(_ arguments: [String], environment: [String: String]) async -> Int32 {
        guard let name = arguments.first, name != "--help", name != "-h", name != "help" else {
            print(self.overview, terminator: "")
            return arguments.isEmpty ? 64 : 0
        }
        guard let command = (self.all + self.hidden).first(where: { $0.name == name }) else {
            let near = Suggestion.nearest(to: name, among: self.all.map { $0.name })
            let hint = near.map { "Did you mean `plaza \($0)`?" } ?? "See `plaza --help`."
            Self.complain("plaza: there is no subcommand \(name). \(hint)")
            return 64
        }
        do {
            let status = try await command.run(Array(arguments.dropFirst()), environment: environment)
            return status == 0 && self.outputFailed.load(ordering: .relaxed) ? 74 : status
        } catch let error as SettingsError {
            if error.exitStatus == 0 { print(error, terminator: "") } else { Self.complain("\(error)") }
            return error.exitStatus
        } catch {
            Self.complain("plaza \(name): \(error)")
            return 1
        }
    }

    /// Writes a line to standard error; where that takes nothing, there is nobody to tell.
    static func complain(_ text: String) {
        try? FileHandle.standardError.write(contentsOf: Data((text + "\n").utf8))
    }

    /// Writes a line to standard output at once, also when that is a pipe.
    ///
    /// A full disk or a reader that went ends nothing that runs: it is told once, and `run` gives status 74 in the end.
    static func say(_ text: String) {
        do {
            try FileHandle.standardOutput.write(contentsOf: Data((text + "\n").utf8))
        } catch {
            if !self.outputFailed.exchange(true, ordering: .relaxed) {
                self.complain("plaza: standard output cannot be written: \(error.localizedDescription)")
            }
        }
    }

    private static let outputFailed = Atomic<Bool>(false)

    private static var overview: String {
        let lines = self.all.map {
            "  plaza " + $0.name.padding(toLength: 10, withPad: " ", startingAt: 0) + $0.summary
        }
        return """
            plaza: runs LivePlaza on this machine, and tries it out.

            \(lines.joined(separator: "\n"))

            A first evening: `plaza up` in one terminal, `plaza demo` in another.
            `plaza SUBCOMMAND --help` tells all about one of them.

            """
    }
}

extension SettingsReader {
    /// The option that all subcommands share which speak to a running cluster.
    mutating func runDirectory() -> String {
        self.string(
            "run-dir", default: ".cluster", placeholder: "DIR",
            help: "the directory of the cluster: its logs, its keys, and state.json, which tells what runs")
    }
}

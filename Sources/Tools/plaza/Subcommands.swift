// SPDX-License-Identifier: Apache-2.0
import Foundation
import Settings
import Synchronization

/// One subcommand of `plaza`.
protocol Subcommand: SendableMetatype {
    /// The name on the command line.
    static var name: String { get }
    /// One line for the list of subcommands.
    static var summary: String { get }
    /// The text that `--help` prints before the options.
    static var help: String { get }
    /// Reads the options and runs the subcommand.
    ///
    /// - Returns: the status to exit with.
    /// - Throws: `SettingsError` for help and invalid options, or any other error; both are printed.
    static func run(_ reader: inout SettingsReader) async throws -> Int32
}

/// All subcommands of `plaza`; runs the one that the command line names.
enum Subcommands {
    /// The visible subcommands, in the order in which a newcomer needs them.
    static let visible: [any Subcommand.Type] = [
        UpCommand.self, StatusCommand.self, DashboardCommand.self, DemoCommand.self, LoadCommand.self,
        AttackCommand.self, ChaosCommand.self, ScaleTestCommand.self, TokenCommand.self, InspectCommand.self,
        DeadLettersCommand.self,
    ]

    /// The subcommands that only `plaza` itself starts.
    static let hidden: [any Subcommand.Type] = [BrokerCommand.self]

    /// Runs the subcommand that the first argument names.
    ///
    /// - Returns: the status to exit with: the subcommand's status, 64 (EX_USAGE) for a missing or unknown name, 74
    ///   (EX_IOERR) when the output could not be written, or 1 for any other error.
    static func run(_ arguments: [String], environment: [String: String]) async -> Int32 {
        guard let name = arguments.first, name != "--help", name != "-h", name != "help" else {
            print(self.overview, terminator: "")
            return arguments.isEmpty ? 64 : 0
        }
        guard let command = (self.visible + self.hidden).first(where: { $0.name == name }) else {
            let suggestion = Suggestion.nearest(to: name, among: self.visible.map { $0.name })
            let hint = suggestion.map { "Did you mean `plaza \($0)`?" } ?? "See `plaza --help`."
            Self.printDiagnostic("plaza: there is no subcommand \(name). \(hint)")
            return 64
        }
        do {
            var reader = SettingsReader(
                program: "plaza \(name)", summary: command.help, arguments: Array(arguments.dropFirst()),
                environment: environment)
            let status = try await command.run(&reader)
            return status == 0 && self.hasOutputFailed.load(ordering: .relaxed) ? 74 : status
        } catch let error as SettingsError {
            if error.exitStatus == 0 { print(error, terminator: "") } else { Self.printDiagnostic("\(error)") }
            return error.exitStatus
        } catch {
            Self.printDiagnostic("plaza \(name): \(error)")
            return 1
        }
    }

    /// Writes a line about progress or an error to standard error; a failure to write it is ignored.
    static func printDiagnostic(_ text: String) {
        try? FileHandle.standardError.write(contentsOf: Data((text + "\n").utf8))
    }

    /// Writes a line to standard output at once; there is no buffer, not even for a pipe.
    ///
    /// A full disk or a closed pipe does not stop the subcommand: the failure is reported once, and `run` returns
    /// status 74 at the end.
    static func printLine(_ text: String) {
        do {
            try FileHandle.standardOutput.write(contentsOf: Data((text + "\n").utf8))
        } catch {
            if !self.hasOutputFailed.exchange(true, ordering: .relaxed) {
                self.printDiagnostic("plaza: standard output cannot be written: \(error.localizedDescription)")
            }
        }
    }

    /// Whether a line could not be written to standard output.
    private static let hasOutputFailed = Atomic<Bool>(false)

    private static var overview: String {
        let width = self.visible.map { $0.name.count }.max() ?? 0
        let lines = self.visible.map {
            "  plaza " + $0.name.padding(toLength: width + 2, withPad: " ", startingAt: 0) + $0.summary
        }
        return """
            plaza: runs LivePlaza on this machine, and tries it out.

            \(lines.joined(separator: "\n"))

            First steps: `plaza up` in one terminal, `plaza demo` in another.
            `plaza SUBCOMMAND --help` prints all options of a subcommand.

            """
    }
}

extension SettingsReader {
    /// Declares and reads `--run-dir`, which all subcommands for a running cluster have.
    mutating func runDirectory() -> String {
        self.string(
            "run-dir", default: ".cluster", placeholder: "DIR",
            help: "the directory of the cluster: its logs, its keys, and state.json, which lists its processes")
    }
}

// SPDX-License-Identifier: Apache-2.0
import ClusterKit
import Concurrency
import Foundation
import KafkaClient
import MachineKit
import PlazaWire
import Settings

/// `plaza dead-letters`: lists inputs that could not be processed, shows one, or submits one again.
enum DeadLettersCommand: Subcommand {
    static let name = "dead-letters"
    static let summary = "lists the inputs that could not be processed, shows one, or submits one again"
    static let help =
        "reads the topic dead.letters: inputs and rows that a service could never process and set aside. "
        + "list: a line for each. show ID: all of one. resubmit ID: writes an input to its inbox again, for "
        + "example after an upgrade that fixes the fault; the letter stays until the topic's retention ends it."

    private enum Action: String {
        case list, show, resubmit
    }

    static func run(_ reader: inout SettingsReader) async throws -> Int32 {
        let directory = reader.runDirectory()
        let kafka = reader.optionalString(
            "kafka", placeholder: "HOST:PORT,…",
            help: "the brokers, instead of those of the cluster that runs in the directory")
        let security = KafkaSecurity(&reader)
        let actionName =
            reader.positional("ACTION", isRequired: false, help: "list (default), show or resubmit") ?? "list"
        let id = reader.positional("ID", isRequired: false, help: "which letter, as list prints it: PARTITION:OFFSET")
        guard let action = Action(rawValue: actionName) else {
            reader.reject("ACTION", value: actionName, remedy: "give list, show or resubmit")
            // `finish` throws, because the action was rejected.
            try reader.finish()
            return 64
        }
        if action != .list, id == nil {
            reader.reject("ID", value: nil, remedy: "give the letter's id, as `plaza dead-letters list` prints it")
        }
        try reader.finish()
        let box: DeadLetterBox
        if let kafka {
            box = DeadLetterBox(brokers: kafka, security: security)
        } else {
            let state = try ClusterState.read(runDirectory: directory)
            let hasSecurityOptions = security != KafkaSecurity()
            box = DeadLetterBox(
                brokers: state.kafka,
                security: hasSecurityOptions ? security : try Self.security(of: state, environmentOf: reader))
        }
        return try await runOnDedicatedThread { try Self.run(action, id, box) }
    }

    /// How the services of a cluster that runs here connect to Kafka.
    ///
    /// - Parameters:
    ///   - state: the cluster, whose stored options name the files of secrets.
    ///   - reader: the reader of this command's options; its environment has the secrets that are in no file, and its
    ///     program's name appears in errors.
    /// - Returns: the security settings.
    /// - Throws: `SettingsError` when a file with a secret is missing, or the environment does not set a secret.
    static func security(of state: ClusterState, environmentOf reader: SettingsReader) throws -> KafkaSecurity {
        var stored = SettingsReader(
            program: reader.program, summary: "", arguments: state.kafkaOptions ?? [], environment: reader.environment)
        let security = KafkaSecurity(&stored)
        try stored.finish()
        return security
    }

    /// Performs the action and prints its result.
    private static func run(_ action: Action, _ id: String?, _ box: DeadLetterBox) throws -> Int32 {
        let letters = try box.letters()
        if action == .list {
            for letter in letters { Subcommands.printLine(Self.printable(Self.line(letter))) }
            Subcommands.printLine(letters.isEmpty ? "no dead letters" : "\(letters.count) dead letters")
            return 0
        }
        guard let letter = letters.first(where: { $0.id == id }) else {
            throw AccessError("there is no dead letter \(id ?? ""); see `plaza dead-letters list`")
        }
        if action == .resubmit {
            try box.resubmit(letter)
            Subcommands.printLine("\(letter.id) was written to \(letter.origin.topic) again")
        } else {
            Subcommands.printLine(Self.printable(Self.line(letter)))
            for header in letter.record.headers {
                Subcommands.printLine(
                    Self.printable("  \(header.name): \(String(decoding: header.value, as: UTF8.self))"))
            }
            let value = letter.record.value.map { String(decoding: $0, as: UTF8.self) }
            Subcommands.printLine(Self.printable(value ?? "(no value)"))
        }
        return 0
    }

    /// The text with control characters written as `\u{…}`, because a terminal would execute control sequences that a
    /// record contains.
    private static func printable(_ text: String) -> String {
        var printable = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if scalar.properties.generalCategory == .control || scalar.properties.generalCategory == .format {
                printable.append(contentsOf: "\\u{\(String(scalar.value, radix: 16))}".unicodeScalars)
            } else {
                printable.append(scalar)
            }
        }
        return String(printable)
    }

    /// One line about a letter.
    private static func line(_ letter: DeadLetterBox.Letter) -> String {
        let time = Date(timeIntervalSince1970: Double(letter.record.timestamp.milliseconds) / 1000).ISO8601Format()
        let key = letter.record.key.map { String(decoding: $0, as: UTF8.self) } ?? "-"
        return "\(letter.id)  \(time)  \(letter.origin.topic) \(letter.origin.partition):\(letter.origin.offset)  "
            + "\(key)  \(letter.origin.reason)"
    }
}

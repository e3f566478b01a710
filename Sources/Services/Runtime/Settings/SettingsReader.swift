// SPDX-License-Identifier: Apache-2.0

/// Reads a program's settings: arguments over environment over defaults.
///
/// Each getter declares one setting and gives its value. Problems are gathered, not thrown one by one: a getter whose
/// value is wrong gives the default, and `finish()` throws everything that was wrong at once, or the help text when it
/// was asked for. Call `finish()` after the last getter and before any value is used.
///
/// An option is `--name value` or `--name=value`, and a flag is `--name` or `--no-name`; the last one given wins, and
/// `--` ends the options. The environment variable of `--http-port` is `LIVEPLAZA_HTTP_PORT`, an empty one is as none.
package struct SettingsReader {
    /// The program's name, as its users type it.
    package let program: String
    let summary: String
    var declarations: [Declaration] = []
    var positionals: [Declaration] = []
    private let prefix: String
    /// The environment variables it reads from.
    package let environment: [String: String]
    var arguments: [String]
    private var afterOptions: [String]
    var isTaken: [Bool]
    private var problems: [SettingsProblem] = []
    private var section = ""

    /// Prepares to read.
    ///
    /// - Parameters:
    ///   - program: the name shown in help and errors; a subcommand has both words, as in `plaza up`.
    ///   - summary: one sentence about what the program does.
    ///   - arguments: what follows the program's name (and the subcommand, if it has one).
    ///   - environment: the process's environment variables.
    ///   - prefix: what every environment variable of ours begins with.
    package init(
        program: String, summary: String, arguments: [String], environment: [String: String],
        prefix: String = "LIVEPLAZA"
    ) {
        self.program = program
        self.summary = summary
        self.prefix = prefix
        self.environment = environment
        let end = arguments.firstIndex(of: "--") ?? arguments.endIndex
        self.arguments = Array(arguments[..<end])
        self.afterOptions = Array(arguments[end...].dropFirst())
        self.isTaken = Array(repeating: false, count: self.arguments.count)
    }

    /// Starts a headed group in the help text.
    package mutating func section(_ title: String) { self.section = title }

    /// A text.
    ///
    /// - Parameters:
    ///   - name: the option without its dashes.
    ///   - standard: what holds when nothing is given; without one the setting is required.
    ///   - variable: the environment variable, when it is not the one derived from the name.
    ///   - placeholder: what stands for the value in the help text.
    ///   - isSecret: keeps the value out of `effective` and out of error texts.
    ///   - help: what it sets, in a sentence.
    /// - Returns: the value that holds; an empty text when there is none, which `finish()` then says.
    package mutating func string(
        _ name: String, default standard: String? = nil, env variable: String? = nil,
        placeholder: String = "TEXT", isSecret: Bool = false, help: String
    ) -> String {
        let format = Format(placeholder: placeholder, isSecret: isSecret, help: help, remedy: "give a value")
        return self.value(name, standard, shown: standard, variable, format) { $0 } ?? ""
    }

    /// A text that may be absent.
    package mutating func optionalString(
        _ name: String, env variable: String? = nil, placeholder: String = "TEXT", isSecret: Bool = false, help: String
    ) -> String? {
        let format = Format(placeholder: placeholder, isSecret: isSecret, help: help, remedy: "give a value")
        let text = self.value(name, "", shown: "", variable, format) { $0 } ?? ""
        return text.isEmpty ? nil : text
    }

    /// A whole number inside `range`.
    package mutating func int(
        _ name: String, default standard: Int? = nil, range: ClosedRange<Int>, env variable: String? = nil,
        placeholder: String = "NUMBER", help: String
    ) -> Int {
        let remedy = "give a whole number from \(range.lowerBound) to \(range.upperBound)"
        let format = Format(placeholder: placeholder, help: help, remedy: remedy)
        return self.value(name, standard, shown: standard?.description, variable, format) {
            Int($0).flatMap { range.contains($0) ? $0 : nil }
        } ?? range.lowerBound
    }

    /// A length of time in milliseconds: `1500`, `1500ms`, `20s`, `5m` or `2h`.
    package mutating func milliseconds(
        _ name: String, default standard: Int? = nil, range: ClosedRange<Int> = 0...604_800_000,
        env variable: String? = nil, placeholder: String = "TIME", help: String
    ) -> Int {
        let remedy = "give a time such as 1500ms, 20s or 5m, from \(range.lowerBound)ms to \(range.upperBound)ms"
        let format = Format(placeholder: placeholder, help: help, remedy: remedy)
        return self.value(name, standard, shown: standard.map { "\($0)ms" }, variable, format) {
            Self.parseMilliseconds($0).flatMap { range.contains($0) ? $0 : nil }
        } ?? range.lowerBound
    }

    /// One of the cases of `Choice`, by its raw value.
    package mutating func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ name: String, default standard: Choice, env variable: String? = nil, help: String
    ) -> Choice {
        let names = Choice.allCases.map(\.rawValue)
        let remedy = "give one of \(names.joined(separator: ", "))"
        let format = Format(placeholder: names.joined(separator: "|"), help: help, remedy: remedy)
        return self.value(name, standard, shown: standard.rawValue, variable, format) { Choice(rawValue: $0) }
            ?? standard
    }

    /// Texts divided by commas; empty ones are left out.
    package mutating func list(
        _ name: String, default standard: [String] = [], env variable: String? = nil, placeholder: String = "A,B,…",
        help: String
    ) -> [String] {
        let format = Format(placeholder: placeholder, help: help, remedy: "give texts divided by commas")
        return self.value(name, standard, shown: standard.joined(separator: ","), variable, format) {
            $0.split(separator: ",").map(String.init)
        } ?? standard
    }

    /// True or false: `--name`, `--no-name`, or `--name=true|false`; in the environment 1, 0, true, false, yes, no.
    package mutating func flag(
        _ name: String, default standard: Bool = false, env variable: String? = nil, help: String
    ) -> Bool {
        let variable = variable ?? self.variable(for: name)
        let remedy = "give true or false"
        var value = standard
        var source = SettingSource.standard
        if let text = self.environment[variable], !text.isEmpty {
            source = .environment
            if let parsed = Self.parseBool(text) {
                value = parsed
            } else {
                self.problems.append(SettingsProblem(key: variable, value: text, remedy: remedy))
            }
        }
        for index in self.arguments.indices where !self.isTaken[index] {
            let argument = self.arguments[index]
            let hasText = argument.hasPrefix("--\(name)=")
            guard argument == "--\(name)" || argument == "--no-\(name)" || hasText else { continue }
            self.isTaken[index] = true
            source = .argument
            let text = hasText ? String(argument.dropFirst(name.count + 3)) : "\(argument == "--\(name)")"
            if let parsed = Self.parseBool(text) {
                value = parsed
            } else {
                self.problems.append(SettingsProblem(key: "--\(name)", value: text, remedy: remedy))
            }
        }
        self.declarations.append(
            Declaration(
                section: self.section, name: name, variable: variable, placeholder: "",
                standard: standard ? "on, --no-\(name) turns it off" : "off", help: help,
                effective: EffectiveSetting(name: name, value: "\(value)", source: source)))
        return value
    }

    /// The next argument that is no option; declare these after all options.
    ///
    /// - Returns: nothing when it is not there; that is a problem if it is required.
    package mutating func positional(_ name: String, isRequired: Bool = true, help: String) -> String? {
        self.positionals.append(
            Declaration(
                section: "", name: name, variable: "", placeholder: isRequired ? name : "[\(name)]", standard: nil,
                help: help, effective: nil))
        for index in self.arguments.indices where !self.isTaken[index] && !self.arguments[index].hasPrefix("-") {
            self.isTaken[index] = true
            return self.arguments[index]
        }
        if !self.afterOptions.isEmpty { return self.afterOptions.removeFirst() }
        if isRequired {
            self.problems.append(SettingsProblem(key: name, value: nil, remedy: "give it as an argument"))
        }
        return nil
    }

    /// Adds a problem that only the program can see, such as two settings that exclude each other.
    package mutating func reject(_ name: String, value: String?, remedy: String) {
        self.problems.append(SettingsProblem(key: "--\(name)", value: value, remedy: remedy))
    }

    /// Every setting's value and where it came from, for a line in the log at the start; secrets are left out.
    package var effective: [EffectiveSetting] { self.declarations.compactMap(\.effective) }

    /// Ends reading.
    ///
    /// - Throws: `helpRequested` when `--help` or `-h` was given, `invalid` with every problem found otherwise.
    package func finish() throws(SettingsError) {
        if self.arguments.contains("--help") || self.arguments.contains("-h") {
            throw .helpRequested(self.helpText)
        }
        var problems = self.problems
        for (index, argument) in self.arguments.enumerated() where !self.isTaken[index] {
            problems.append(self.unknown(argument))
        }
        problems += self.afterOptions.map { SettingsProblem(key: $0, value: nil, remedy: "leave out this argument") }
        if !problems.isEmpty { throw .invalid(program: self.program, problems) }
    }

    /// The environment variable of an option.
    package func variable(for name: String) -> String {
        self.prefix + "_" + String(name.uppercased().map { $0 == "-" ? "_" : $0 })
    }

    /// How a setting is shown, and what to say when it is wrong.
    private struct Format {
        var placeholder: String
        var isSecret = false
        var help: String
        var remedy: String
    }

    private mutating func value<Value>(
        _ name: String, _ standard: Value?, shown: String?, _ variable: String?, _ format: Format,
        parse: (String) -> Value?
    ) -> Value? {
        let variable = variable ?? self.variable(for: name)
        var given: (key: String, text: String)?
        if let text = self.environment[variable], !text.isEmpty { given = (variable, text) }
        var isMissing = false
        for index in self.arguments.indices where !self.isTaken[index] {
            let argument = self.arguments[index]
            if argument.hasPrefix("--\(name)=") {
                self.isTaken[index] = true
                given = ("--\(name)", String(argument.dropFirst(name.count + 3)))
            } else if argument == "--\(name)" {
                self.isTaken[index] = true
                if index + 1 < self.arguments.count, !self.arguments[index + 1].hasPrefix("--") {
                    self.isTaken[index + 1] = true
                    given = ("--\(name)", self.arguments[index + 1])
                } else {
                    isMissing = true
                }
            }
        }
        let value = given.flatMap { parse($0.text) }
        if isMissing {
            self.problems.append(SettingsProblem(key: "--\(name)", value: nil, remedy: "\(format.remedy) after it"))
        } else if let given, value == nil {
            let text = format.isSecret ? "(secret)" : given.text
            self.problems.append(SettingsProblem(key: given.key, value: text, remedy: format.remedy))
        } else if given == nil, standard == nil {
            let remedy = "\(format.remedy), or set \(variable)"
            self.problems.append(SettingsProblem(key: "--\(name)", value: nil, remedy: remedy))
        }
        let source = given.map { $0.key == variable ? SettingSource.environment : .argument } ?? .standard
        let effective = EffectiveSetting(name: name, value: given?.text ?? shown ?? "", source: source)
        self.declarations.append(
            Declaration(
                section: self.section, name: name, variable: variable, placeholder: format.placeholder,
                standard: standard == nil ? nil : shown, help: format.help, effective: format.isSecret ? nil : effective
            ))
        return value ?? standard
    }

    private func unknown(_ argument: String) -> SettingsProblem {
        guard argument.hasPrefix("-") else {
            return SettingsProblem(key: argument, value: nil, remedy: "leave out this argument, or see --help")
        }
        let name = argument.drop { $0 == "-" }.prefix { $0 != "=" }
        let near = Suggestion.nearest(to: String(name), among: self.declarations.map(\.name) + ["help"])
        let remedy = near.map { "did you mean --\($0)?" } ?? "there is no such option, see --help"
        return SettingsProblem(key: String(argument.prefix { $0 != "=" }), value: nil, remedy: remedy)
    }

    private static func parseBool(_ text: String) -> Bool? {
        switch text.lowercased() {
        case "1", "true", "yes", "on": true
        case "0", "false", "no", "off": false
        default: nil
        }
    }

    private static func parseMilliseconds(_ text: String) -> Int? {
        let units: [(String, Int)] = [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000), ("", 1)]
        guard let (unit, factor) = units.first(where: { text.hasSuffix($0.0) }) else { return nil }
        guard let number = Int(text.dropLast(unit.count)) else { return nil }
        let (product, isOverflown) = number.multipliedReportingOverflow(by: factor)
        return isOverflown ? nil : product
    }
}

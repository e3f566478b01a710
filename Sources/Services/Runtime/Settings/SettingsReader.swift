// SPDX-License-Identifier: Apache-2.0

/// Reads a program's settings from its arguments, or from the environment, or uses defaults, in this order.
///
/// Each reading method declares one setting and returns its value, or the default if the value is invalid. Call
/// `finish()` after the last reading method and before any value is used: it throws all problems together, or the help
/// text.
///
/// An option is `--name value` or `--name=value`, and a flag is `--name` or `--no-name`. If an option is repeated, the
/// last one counts. `--` ends the options. The environment variable of `--http-port` is `LIVEPLAZA_HTTP_PORT`; an empty
/// variable is ignored.
package struct SettingsReader {
    /// The program's name, as its users type it.
    package let program: String
    /// One sentence that describes the program in the help text.
    let summary: String
    /// The options and flags, in the order in which they were read.
    var declarations: [Declaration] = []
    /// The arguments without an option (`positional`), in the order in which they were read.
    var positionals: [Declaration] = []
    /// The prefix of the names of the environment variables, without the underscore that follows it.
    private let prefix: String
    /// The process's environment variables.
    package let environment: [String: String]
    /// The arguments before `--`.
    var arguments: [String]
    /// The arguments after `--`, which are not options.
    private var argumentsAfterOptions: [String]
    /// For each of `arguments`, whether a setting has used it.
    var isUsed: [Bool]
    private var problems: [SettingsProblem] = []
    /// The section of the help text to which the next setting belongs.
    private var currentSection = ""

    /// Creates a reader that has declared no setting.
    ///
    /// - Parameters:
    ///   - program: the name in help and errors; for a subcommand both words, such as `plaza up`.
    ///   - summary: one sentence that describes the program.
    ///   - arguments: the arguments after the program's name and the subcommand.
    ///   - environment: the process's environment variables.
    ///   - prefix: the prefix of the names of the environment variables.
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
        self.argumentsAfterOptions = Array(arguments[end...].dropFirst())
        self.isUsed = Array(repeating: false, count: self.arguments.count)
    }

    /// Begins a section of the help text.
    package mutating func section(_ title: String) { self.currentSection = title }

    /// Reads a text.
    ///
    /// - Parameters:
    ///   - name: the option without its dashes.
    ///   - defaultValue: the default; nil if the setting is required.
    ///   - variable: the environment variable; nil for the variable derived from the name.
    ///   - placeholder: the placeholder of the value in the help text.
    ///   - isSecret: whether `effectiveSettings` and error messages must not contain the value.
    ///   - help: a sentence that describes the setting.
    /// - Returns: the value; an empty text if a required value is missing or invalid, which `finish()` reports.
    package mutating func string(
        _ name: String, default defaultValue: String? = nil, env variable: String? = nil,
        placeholder: String = "TEXT", isSecret: Bool = false, help: String
    ) -> String {
        let presentation = Presentation(
            placeholder: placeholder, isSecret: isSecret, help: help, remedy: "give a value")
        return self.readValue(name, defaultValue, defaultText: defaultValue, variable, presentation) { $0 } ?? ""
    }

    /// Reads an optional text.
    package mutating func optionalString(
        _ name: String, env variable: String? = nil, placeholder: String = "TEXT", isSecret: Bool = false, help: String
    ) -> String? {
        let presentation = Presentation(
            placeholder: placeholder, isSecret: isSecret, help: help, remedy: "give a value")
        // The empty default makes the setting optional, and stands for a missing value.
        let text = self.readValue(name, "", defaultText: "", variable, presentation) { $0 } ?? ""
        return text.isEmpty ? nil : text
    }

    /// Reads an integer in `range`.
    ///
    /// - Returns: the value; the lower bound if a required value is missing or invalid, which `finish()` reports.
    package mutating func int(
        _ name: String, default defaultValue: Int? = nil, range: ClosedRange<Int>, env variable: String? = nil,
        placeholder: String = "NUMBER", help: String
    ) -> Int {
        let remedy = "give a whole number from \(range.lowerBound) to \(range.upperBound)"
        let presentation = Presentation(placeholder: placeholder, help: help, remedy: remedy)
        return self.readValue(name, defaultValue, defaultText: defaultValue?.description, variable, presentation) {
            Int($0).flatMap { range.contains($0) ? $0 : nil }
        } ?? range.lowerBound
    }

    /// Reads a whole number of seconds; the parameters are those of `int`.
    package mutating func seconds(
        _ name: String, default defaultValue: Int, range: ClosedRange<Int>, help: String
    ) -> Duration {
        .seconds(self.int(name, default: defaultValue, range: range, help: help))
    }

    /// Reads a duration such as `1500` (milliseconds), `1500ms`, `20s`, `5m` or `2h`.
    ///
    /// The default and the bounds are in milliseconds. The duration is at most a week, unless `range` says otherwise.
    ///
    /// - Returns: the duration; the lower bound of `range` if a required value is missing or invalid.
    package mutating func milliseconds(
        _ name: String, default defaultValue: Int? = nil, range: ClosedRange<Int> = 0...604_800_000,
        env variable: String? = nil, placeholder: String = "TIME", help: String
    ) -> Duration {
        let remedy = "give a time such as 1500ms, 20s or 5m, from \(range.lowerBound)ms to \(range.upperBound)ms"
        let presentation = Presentation(placeholder: placeholder, help: help, remedy: remedy)
        let milliseconds = self.readValue(
            name, defaultValue, defaultText: defaultValue.map { "\($0)ms" }, variable, presentation
        ) {
            Self.parseMilliseconds($0).flatMap { range.contains($0) ? $0 : nil }
        }
        return .milliseconds(milliseconds ?? range.lowerBound)
    }

    /// Reads a case of `Choice` by its raw value.
    package mutating func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ name: String, default defaultValue: Choice, env variable: String? = nil, help: String
    ) -> Choice {
        let names = Choice.allCases.map(\.rawValue)
        let remedy = "give one of \(names.joined(separator: ", "))"
        let presentation = Presentation(placeholder: names.joined(separator: "|"), help: help, remedy: remedy)
        return self.readValue(name, defaultValue, defaultText: defaultValue.rawValue, variable, presentation) {
            Choice(rawValue: $0)
        } ?? defaultValue
    }

    /// Reads texts that are separated by commas; empty texts are ignored.
    package mutating func list(
        _ name: String, default defaultValue: [String] = [], env variable: String? = nil, placeholder: String = "A,B,…",
        help: String
    ) -> [String] {
        let presentation = Presentation(placeholder: placeholder, help: help, remedy: "give texts divided by commas")
        let defaultText = defaultValue.joined(separator: ",")
        return self.readValue(name, defaultValue, defaultText: defaultText, variable, presentation) {
            $0.split(separator: ",").map(String.init)
        } ?? defaultValue
    }

    /// Reads a flag: `--name`, `--no-name`, or `--name=true|false`.
    ///
    /// `true`, `1`, `yes` and `on` mean true; `false`, `0`, `no` and `off` mean false.
    package mutating func flag(
        _ name: String, default defaultValue: Bool = false, env variable: String? = nil, help: String
    ) -> Bool {
        let variable = variable ?? self.variable(for: name)
        let remedy = "give true or false"
        var value = defaultValue
        var source = SettingSource.defaultValue
        if let text = self.environment[variable], !text.isEmpty {
            source = .environment
            if let parsed = Self.parseBool(text) {
                value = parsed
            } else {
                self.problems.append(SettingsProblem(key: variable, value: text, remedy: remedy))
            }
        }
        for index in self.arguments.indices where !self.isUsed[index] {
            let argument = self.arguments[index]
            let hasValue = argument.hasPrefix("--\(name)=")
            guard argument == "--\(name)" || argument == "--no-\(name)" || hasValue else { continue }
            self.isUsed[index] = true
            source = .argument
            // What the argument means if it has no value: `--name` is true, `--no-name` is false.
            let impliedText = argument == "--\(name)" ? "true" : "false"
            let text = hasValue ? String(argument.dropFirst("--\(name)=".count)) : impliedText
            if let parsed = Self.parseBool(text) {
                value = parsed
            } else {
                self.problems.append(SettingsProblem(key: "--\(name)", value: text, remedy: remedy))
            }
        }
        self.declarations.append(
            Declaration(
                section: self.currentSection, name: name, variable: variable, placeholder: "",
                defaultText: defaultValue ? "on, --no-\(name) turns it off" : "off", help: help,
                effective: EffectiveSetting(name: name, value: "\(value)", source: source)))
        return value
    }

    /// Reads the next argument that is not an option.
    ///
    /// Call this after all options have been read. An earlier call could take the value of an option that is read
    /// later.
    ///
    /// - Returns: the argument; nil if it is missing, which `finish()` reports if the argument is required.
    package mutating func positional(_ name: String, isRequired: Bool = true, help: String) -> String? {
        self.positionals.append(
            Declaration(
                section: "", name: name, variable: "", placeholder: isRequired ? name : "[\(name)]", defaultText: nil,
                help: help, effective: nil))
        for index in self.arguments.indices where !self.isUsed[index] && !self.arguments[index].hasPrefix("-") {
            self.isUsed[index] = true
            return self.arguments[index]
        }
        if !self.argumentsAfterOptions.isEmpty { return self.argumentsAfterOptions.removeFirst() }
        if isRequired {
            self.problems.append(SettingsProblem(key: name, value: nil, remedy: "give it as an argument"))
        }
        return nil
    }

    /// Adds a problem of the option `--name` that the reader cannot detect, for example two options that exclude each
    /// other.
    package mutating func reject(_ name: String, value: String?, remedy: String) {
        self.problems.append(SettingsProblem(key: "--\(name)", value: value, remedy: remedy))
    }

    /// The value and the source of each setting except secrets; a program logs them when it starts.
    package var effectiveSettings: [EffectiveSetting] { self.declarations.compactMap(\.effective) }

    /// Reports all problems.
    ///
    /// - Throws: `helpRequested` if `--help` or `-h` was given, otherwise `invalid` if there is a problem.
    package func finish() throws(SettingsError) {
        if self.arguments.contains("--help") || self.arguments.contains("-h") {
            throw .helpRequested(self.helpText)
        }
        var problems = self.problems
        for (index, argument) in self.arguments.enumerated() where !self.isUsed[index] {
            problems.append(self.problem(ofUnknown: argument))
        }
        problems += self.argumentsAfterOptions.map {
            SettingsProblem(key: $0, value: nil, remedy: "leave out this argument")
        }
        if !problems.isEmpty { throw .invalid(program: self.program, problems) }
    }

    /// The environment variable of an option.
    package func variable(for name: String) -> String {
        self.prefix + "_" + String(name.uppercased().map { $0 == "-" ? "_" : $0 })
    }

    /// How the help text and error messages present a setting.
    private struct Presentation {
        var placeholder: String
        var isSecret = false
        var help: String
        var remedy: String
    }

    /// Declares a setting and reads its value from the arguments or the environment.
    ///
    /// - Parameters:
    ///   - name: the option without its dashes.
    ///   - defaultValue: the default; nil if the setting is required.
    ///   - defaultText: the default in the help text.
    ///   - variable: the environment variable; nil for the variable derived from the name.
    ///   - presentation: the texts for help and errors.
    ///   - parse: parses the text of the value; returns nil if the text is invalid.
    /// - Returns: the value, or the default if the value is missing or invalid.
    private mutating func readValue<Value>(
        _ name: String, _ defaultValue: Value?, defaultText: String?, _ variable: String?,
        _ presentation: Presentation, parse: (String) -> Value?
    ) -> Value? {
        let variable = variable ?? self.variable(for: name)
        // The text that counts, and the option or variable that gave it. An argument replaces the text of the
        // environment variable, and a later argument replaces the text of an earlier one.
        var input: (key: String, text: String)?
        if let text = self.environment[variable], !text.isEmpty { input = (variable, text) }
        var isValueMissing = false
        for index in self.arguments.indices where !self.isUsed[index] {
            let argument = self.arguments[index]
            if argument.hasPrefix("--\(name)=") {
                self.isUsed[index] = true
                input = ("--\(name)", String(argument.dropFirst("--\(name)=".count)))
            } else if argument == "--\(name)" {
                self.isUsed[index] = true
                // A value may begin with one dash, such as -5, but not with two, which begin the next option.
                if index + 1 < self.arguments.count, !self.arguments[index + 1].hasPrefix("--") {
                    self.isUsed[index + 1] = true
                    input = ("--\(name)", self.arguments[index + 1])
                } else {
                    isValueMissing = true
                }
            }
        }
        let value = input.flatMap { parse($0.text) }
        if isValueMissing {
            self.problems.append(
                SettingsProblem(key: "--\(name)", value: nil, remedy: "\(presentation.remedy) after it"))
        } else if let input, value == nil {
            let text = presentation.isSecret ? "(secret)" : input.text
            self.problems.append(SettingsProblem(key: input.key, value: text, remedy: presentation.remedy))
        } else if input == nil, defaultValue == nil {
            let remedy = "\(presentation.remedy), or set \(variable)"
            self.problems.append(SettingsProblem(key: "--\(name)", value: nil, remedy: remedy))
        }
        let source = input.map { $0.key == variable ? SettingSource.environment : .argument } ?? .defaultValue
        let effective = EffectiveSetting(name: name, value: input?.text ?? defaultText ?? "", source: source)
        self.declarations.append(
            Declaration(
                section: self.currentSection, name: name, variable: variable, placeholder: presentation.placeholder,
                defaultText: defaultValue == nil ? nil : defaultText, help: presentation.help,
                effective: presentation.isSecret ? nil : effective
            ))
        return value ?? defaultValue
    }

    /// The problem with an argument that no setting has used; suggests a similar option.
    private func problem(ofUnknown argument: String) -> SettingsProblem {
        guard argument.hasPrefix("-") else {
            return SettingsProblem(key: argument, value: nil, remedy: "leave out this argument, or see --help")
        }
        let name = argument.drop { $0 == "-" }.prefix { $0 != "=" }
        let suggestion = Suggestion.nearest(to: String(name), among: self.declarations.map(\.name) + ["help"])
        let remedy = suggestion.map { "did you mean --\($0)?" } ?? "there is no such option, see --help"
        return SettingsProblem(key: String(argument.prefix { $0 != "=" }), value: nil, remedy: remedy)
    }

    /// Parses a flag's text; nil if the text means neither true nor false.
    private static func parseBool(_ text: String) -> Bool? {
        switch text.lowercased() {
        case "1", "true", "yes", "on": true
        case "0", "false", "no", "off": false
        default: nil
        }
    }

    /// Parses a duration; nil if the text is not a duration, or has more milliseconds than an `Int` can hold.
    private static func parseMilliseconds(_ text: String) -> Int? {
        // The first suffix with which the text ends is its unit. `ms` must precede `s`, because `ms` ends with `s`. The
        // empty suffix, which every text has, is the last: a number without a unit is in milliseconds.
        let units: [(suffix: String, milliseconds: Int)] = [
            ("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000), ("", 1),
        ]
        guard let unit = units.first(where: { text.hasSuffix($0.suffix) }) else { return nil }
        guard let number = Int(text.dropLast(unit.suffix.count)) else { return nil }
        let (product, hasOverflowed) = number.multipliedReportingOverflow(by: unit.milliseconds)
        return hasOverflowed ? nil : product
    }
}

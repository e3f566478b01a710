// SPDX-License-Identifier: Apache-2.0
import Settings
import Testing

/// Tests of how settings are read from arguments and environment variables, and of how problems are reported.
@Suite struct SettingsReaderTests {
    /// The choices of the option `--mode`.
    enum Mode: String, CaseIterable { case fast, safe }

    /// Makes a reader of the settings of a program with the name `gateway`.
    static func makeReader(_ arguments: [String], _ environment: [String: String] = [:]) -> SettingsReader {
        SettingsReader(
            program: "gateway", summary: "serves apps", arguments: arguments, environment: environment)
    }

    @Test func `an argument overrides the environment, and the environment overrides the default`() throws {
        let environment = ["LIVEPLAZA_KAFKA": "env:1", "LIVEPLAZA_HTTP_PORT": "9"]
        var reader = Self.makeReader(["--kafka", "arg:1"], environment)
        expectEqual(reader.string("kafka", default: "none:1", help: "x"), "arg:1")
        expectEqual(reader.int("http-port", default: 1, range: 0...65_535, help: "x"), 9)
        expectEqual(reader.string("redis", default: "d", help: "x"), "d")
        try reader.finish()
        #expect(reader.effectiveSettings.map(\.source) == [.argument, .environment, .defaultValue])
    }

    @Test func `every form of an option is read, and the last value of a repeated option wins`() throws {
        var reader = Self.makeReader([
            "--a=1", "--a", "2", "--t=20s", "--on", "--no-off", "--b=false", "--mode=safe", "--l", "x,,y", "--neg",
            "-5",
        ])
        expectEqual(reader.int("a", range: 0...9, help: ""), 2)
        expectEqual(reader.milliseconds("t", help: ""), .seconds(20))
        expectEqual(reader.flag("on", help: ""), true)
        expectEqual(reader.flag("off", default: true, help: ""), false)
        expectEqual(reader.flag("b", default: true, help: ""), false)
        expectEqual(reader.choice("mode", default: Mode.fast, help: ""), .safe)
        // A list leaves out empty elements.
        expectEqual(reader.list("l", help: ""), ["x", "y"])
        expectEqual(reader.int("neg", range: -9...9, help: ""), -5)
        try reader.finish()
    }

    @Test func `finish reports all problems at once, with key, value and remedy`() {
        var reader = Self.makeReader(["--port", "70000", "--mode", "quick", "--kafak", "x"], ["LIVEPLAZA_TTL": "soon"])
        expectEqual(reader.int("port", default: 80, range: 0...65_535, help: ""), 80)
        _ = reader.choice("mode", default: Mode.fast, help: "")
        _ = reader.milliseconds("ttl", default: 5, range: 1...9, help: "")
        _ = reader.string("kafka", help: "")
        let error = #expect(throws: SettingsError.self) { try reader.finish() }
        #expect(
            error?.description == """
                gateway: --port cannot be '70000': give a whole number from 0 to 65535
                gateway: --mode cannot be 'quick': give one of fast, safe
                gateway: LIVEPLAZA_TTL cannot be 'soon': give a time such as 1500ms, 20s or 5m, from 1ms to 9ms
                gateway: --kafka: give a value, or set LIVEPLAZA_KAFKA
                gateway: --kafak: did you mean --kafka?
                gateway: x: leave out this argument, or see --help
                Try `gateway --help`.
                """)
        #expect(error?.exitStatus == 64, "the status EX_USAGE of sysexits.h")
    }

    @Test func `an option without a value is reported, and does not take the next option as its value`() {
        var reader = Self.makeReader(["--kafka", "--verbose"])
        _ = reader.string("kafka", default: "d", help: "")
        expectEqual(reader.flag("verbose", help: ""), true)
        #expect(
            throws: SettingsError.invalid(
                program: "gateway", [SettingsProblem.missing("--kafka")])
        ) { try reader.finish() }
    }

    @Test func `a secret does not appear in the effective settings`() {
        var reader = Self.makeReader(["--password=hunter2"])
        expectEqual(reader.optionalString("password", isSecret: true, help: ""), "hunter2")
        #expect(reader.effectiveSettings.isEmpty)
    }

    @Test func `positional arguments are the arguments that no option consumed`() throws {
        var reader = Self.makeReader(["room", "--a", "1", "--", "--last"])
        _ = reader.int("a", range: 0...9, help: "")
        expectEqual(reader.positional("what", help: ""), "room")
        expectEqual(reader.positional("which", help: ""), "--last")
        expectEqual(reader.positional("more", isRequired: false, help: ""), nil)
        try reader.finish()
    }

    @Test func `with --help, finish throws the help text even if settings are invalid`() {
        var reader = Self.makeReader(["--help", "--nonsense"])
        reader.section("Kafka")
        _ = reader.string("kafka", default: "127.0.0.1:9092", placeholder: "HOST:PORT", help: "Where Kafka answers.")
        _ = reader.flag("a-rather-long-name-of-a-flag", help: "Does it.")
        let error = #expect(throws: SettingsError.self) { try reader.finish() }
        #expect(error?.exitStatus == 0, "a request for help is no failure")
        #expect(
            error?.description == """
                gateway: serves apps

                Usage: gateway [options]

                Kafka
                  --kafka HOST:PORT         Where Kafka answers.
                                            (default 127.0.0.1:9092; LIVEPLAZA_KAFKA)
                  --a-rather-long-name-of-a-flag
                                            Does it.
                                            (default off; LIVEPLAZA_A_RATHER_LONG_NAME_OF_A_FLAG)

                The name after each default is an environment variable that sets the same; an option wins.

                """)
    }

    // Each word, with its expected correction; nil if no known word is near enough. "u" is one letter away from "up",
    // but it is too short to be corrected.
    @Test(arguments: [("statsu", "status"), ("tokne", "token"), ("u", nil), ("inspect", "inspect"), ("banana", nil)])
    func `a misspelt word is corrected, and an unrelated word is not`(word: String, correction: String?) {
        #expect(Suggestion.nearest(to: word, among: ["up", "status", "token", "inspect"]) == correction)
    }
}

/// Expects that two values are equal; unlike in `#expect`, an argument may be a call that mutates.
private func expectEqual<Value: Equatable>(
    _ value: Value, _ expected: Value, sourceLocation: SourceLocation = #_sourceLocation
) {
    #expect(value == expected, sourceLocation: sourceLocation)
}

extension SettingsProblem {
    fileprivate static func missing(_ key: String) -> SettingsProblem {
        SettingsProblem(key: key, value: nil, remedy: "give a value after it")
    }
}

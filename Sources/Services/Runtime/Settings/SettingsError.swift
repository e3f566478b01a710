// SPDX-License-Identifier: Apache-2.0

/// Why a program does not start.
package enum SettingsError: Error, Equatable, CustomStringConvertible {
    /// The user requested help; the value is the help text.
    case helpRequested(String)
    /// At least one setting is invalid.
    case invalid(program: String, [SettingsProblem])

    /// The text to print.
    package var description: String {
        switch self {
        case .helpRequested(let text): text
        case .invalid(let program, let problems):
            problems.map { "\(program): \($0)" }.joined(separator: "\n") + "\nTry `\(program) --help`."
        }
    }

    /// The exit status: 0 after help, 64 (`EX_USAGE`) after an error.
    package var exitStatus: Int32 {
        switch self {
        case .helpRequested: 0
        case .invalid: 64
        }
    }
}

/// An invalid setting.
package struct SettingsProblem: Sendable, Equatable, CustomStringConvertible {
    /// The option or the environment variable.
    package let key: String
    /// The invalid value; nil if none was given.
    ///
    /// A secret is never quoted: nil or `(secret)` stands for it.
    package let value: String?
    /// How to correct the setting.
    package let remedy: String

    package init(key: String, value: String?, remedy: String) {
        self.key = key
        self.value = value
        self.remedy = remedy
    }

    /// The problem as one line.
    package var description: String {
        self.value.map { "\(self.key) cannot be '\($0)': \(self.remedy)" } ?? "\(self.key): \(self.remedy)"
    }
}

/// The source of a setting's value.
package enum SettingSource: String, Sendable {
    /// From the command line.
    case argument
    /// From the environment.
    case environment
    /// Not given, so the default applies.
    case defaultValue = "default"
}

/// The value of a setting and its source.
package struct EffectiveSetting: Sendable, Equatable {
    /// The option without its dashes.
    package let name: String
    /// The value as text.
    package let value: String
    package let source: SettingSource
}

/// One declared setting: its description in the help text, and its value.
struct Declaration {
    /// The section of the help text; empty before the first section begins.
    let section: String
    /// The option without its dashes.
    let name: String
    /// The environment variable.
    let variable: String
    /// The placeholder of the value; empty for a flag.
    let placeholder: String
    /// The text of the default; empty if the setting has no default value, nil if the setting is required.
    let defaultText: String?
    let help: String
    /// The value in use; nil for a secret and for a positional argument.
    let effective: EffectiveSetting?
}

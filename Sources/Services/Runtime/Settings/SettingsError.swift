// SPDX-License-Identifier: Apache-2.0

/// Why a program does not start with the settings it was given.
package enum SettingsError: Error, Equatable, CustomStringConvertible {
    /// Help was asked for; this is the text, for standard output.
    case helpRequested(String)
    /// At least one setting is wrong.
    case invalid(program: String, [SettingsProblem])

    /// What to print.
    package var description: String {
        switch self {
        case .helpRequested(let text): text
        case .invalid(let program, let problems):
            problems.map { "\(program): \($0)" }.joined(separator: "\n") + "\nTry `\(program) --help`."
        }
    }

    /// The status to exit with: 0 after help, 64 (`EX_USAGE`) after an error.
    package var exitStatus: Int32 {
        switch self {
        case .helpRequested: 0
        case .invalid: 64
        }
    }
}

/// One wrong setting: which, what it was, and what to do.
package struct SettingsProblem: Sendable, Equatable, CustomStringConvertible {
    /// The option or the environment variable that is wrong.
    package let key: String
    /// What it was set to, if it was.
    package let value: String?
    /// What to do about it.
    package let remedy: String

    /// A problem with `key`.
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

/// Where a setting's value came from.
package enum SettingSource: String, Sendable {
    /// From the command line.
    case argument
    /// From the environment.
    case environment
    /// Not given: the default.
    case standard = "default"
}

/// A setting as it holds.
package struct EffectiveSetting: Sendable, Equatable {
    /// The option without its dashes.
    package let name: String
    /// The value as text.
    package let value: String
    /// Who said so.
    package let source: SettingSource
}

/// What the help text tells about one setting.
struct Declaration {
    let section: String
    let name: String
    let variable: String
    let placeholder: String
    let standard: String?
    let help: String
    let effective: EffectiveSetting?
}

// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import Glibc
package import Settings

/// The process's environment variables.
package enum ProcessEnvironment {
    /// All variables, by name.
    package static var all: [String: String] { ProcessInfo.processInfo.environment }
}

/// Prints why a program does not start with its settings.
package enum SettingsExit {
    /// Prints help to standard output, and problems to standard error.
    package static func report(_ error: SettingsError) {
        let descriptor = error.exitStatus == 0 ? STDOUT_FILENO : STDERR_FILENO
        var text = error.description
        if !text.hasSuffix("\n") { text += "\n" }
        let bytes = Array(text.utf8)
        // If the text cannot be written, there is nowhere to report that.
        _ = unsafe bytes.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
    }
}

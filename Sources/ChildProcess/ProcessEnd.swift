// SPDX-License-Identifier: Apache-2.0

/// How a process ended.
package enum ProcessEnd: Sendable, Equatable, CustomStringConvertible {
    /// By itself, with this status.
    case exited(Int32)
    /// By this signal.
    case signalled(Int32)
    /// It never began, for this reason.
    case notStarted(String)

    package var description: String {
        switch self {
        case .exited(let status): "ended with status \(status)"
        case .signalled(let signal): "was ended by signal \(signal)"
        case .notStarted(let reason): "could not be started: \(reason)"
        }
    }
}

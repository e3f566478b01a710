// SPDX-License-Identifier: Apache-2.0

/// How a process ended.
package enum ProcessEnd: Sendable, Equatable, CustomStringConvertible {
    /// The process exited with this status.
    case exited(Int32)
    /// This signal ended the process.
    case signalled(Int32)
    /// The process could not be started, for this reason.
    case notStarted(String)
    /// The system does not report how the process ended, for this reason.
    case unknown(String)

    package var description: String {
        switch self {
        case .exited(let status): "ended with status \(status)"
        case .signalled(let signal): "was ended by signal \(signal)"
        case .notStarted(let reason): "could not be started: \(reason)"
        case .unknown(let reason): "ended in an unknown way: \(reason)"
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

/// Why an operation of a cluster failed; the text contains a remedy.
package enum ClusterError: Error, Sendable, Equatable, CustomStringConvertible {
    /// Another cluster runs in the run directory.
    case alreadyRunning(runDirectory: String, pid: Int32?)
    /// Nothing runs in the run directory.
    case notRunning(runDirectory: String)
    /// A required program is not installed.
    case missingProgram(name: String, remedy: String)
    /// No process of this name belongs to the cluster.
    case unknownProcess(String)
    /// The process has no pid: it has ended, or waits for its restart.
    case notAlive(String)
    /// A process ended before it became ready; `how` describes its end, `lastLines` are the last lines of its log.
    case ended(process: String, how: String, log: String, lastLines: String)
    /// These processes were not ready in time; with the last lines of their logs.
    case notReady([String], lastLines: String)
    /// No Kafka broker answers at the address.
    case noKafka(String)
    /// The broker refuses the connection.
    case kafkaRefuses(address: String, reason: String)
    /// A file could not be read or written.
    case file(path: String, reason: String)
    /// A command that changes a running process failed.
    case commandFailed(command: String, reason: String)
    /// The options contradict each other or the run directory.
    case badOption(String)
    /// No port is free in the range that clusters use.
    case noFreePort

    package var description: String {
        switch self {
        case .alreadyRunning(let directory, let pid):
            let process = pid.map { " (process \($0))" } ?? ""
            return "a cluster already runs in \(directory)\(process). Stop it with Ctrl-C or `kill`, "
                + "or give this one another --run-dir and other ports."
        case .notRunning(let directory):
            return "no cluster runs in \(directory). Start one with `plaza up`, or name its --run-dir."
        case .missingProgram(let name, let remedy): return "\(name) was not found. \(remedy)"
        case .unknownProcess(let name): return "this cluster has no process \(name)."
        case .notAlive(let name): return "\(name) is not running."
        case .ended(let process, let how, let log, let lastLines):
            return "\(process) \(how) before it was ready. Its log is \(log):\n\(lastLines)"
        case .notReady(let names, let lastLines):
            return "not ready in time: \(names.joined(separator: ", ")).\n\(lastLines)"
        case .noKafka(let address):
            return "no Kafka broker answers at \(address). Check --kafka, or start one with --kafka-home."
        case .kafkaRefuses(let address, let reason):
            return "the Kafka broker at \(address) refuses the connection: \(reason). "
                + "Check --kafka-security, --kafka-user, --kafka-password-file and --kafka-ca-file."
        case .file(let path, let reason): return "\(path): \(reason)"
        case .commandFailed(let command, let reason): return "\(command) failed: \(reason)."
        case .badOption(let text): return text
        case .noFreePort: return "no free port in \(PortRange.bounds). Is something using thousands of them?"
        }
    }
}

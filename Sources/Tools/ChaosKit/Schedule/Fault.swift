// SPDX-License-Identifier: Apache-2.0
package import ClusterKit

/// A fault that is injected into a running cluster.
package enum Fault: Hashable, Sendable {
    /// Processes are killed at the same time; the cluster starts them again.
    case kill([String])
    /// A process is killed, and killed again as soon as it runs.
    case killRepeatedly(String, times: Int)
    /// A process is stopped by SIGSTOP and continued after some seconds: it wakes up as an owner that was replaced.
    case freeze(String, seconds: Int)
    /// A process is asked to end (SIGTERM), and started again.
    case terminate(String)
    /// All instances of a service are restarted in order, one after the other.
    case rollingRestart(ServiceKind)

    /// The names of the processes that the fault hits.
    package var processes: [String] {
        switch self {
        case .kill(let names): names
        case .killRepeatedly(let name, _), .freeze(let name, _), .terminate(let name): [name]
        case .rollingRestart(let kind): [kind.rawValue]
        }
    }

    /// The class of the fault, by which reports are grouped, such as `kill barrage-fanout`.
    package var kind: String {
        let targets = self.processes.map(Self.service(of:)).joined(separator: " and ")
        return switch self {
        case .kill(let names): names.count == 1 ? "kill \(targets)" : "kill a pair"
        case .killRepeatedly: "kill \(targets) again and again"
        case .freeze: "freeze \(targets)"
        case .terminate: "terminate \(targets)"
        case .rollingRestart: "rolling restart of \(targets)"
        }
    }

    /// How long clients may see no progress: the fault's own time, and the time of a recovery.
    package var allowedStandstill: Duration {
        switch self {
        case .kill(let names) where names.contains(where: { $0.hasPrefix("broker") }): .seconds(20)
        case .kill, .terminate, .rollingRestart: .seconds(15)
        case .killRepeatedly(_, let times): .seconds(15 + 5 * times)
        case .freeze(_, let seconds): .seconds(15 + seconds)
        }
    }

    /// How long the injection itself takes, about.
    package var duration: Duration {
        switch self {
        case .kill, .terminate: .zero
        case .killRepeatedly(_, let times): .seconds(2 * times)
        case .freeze(_, let seconds): .seconds(seconds)
        case .rollingRestart: .seconds(6)
        }
    }

    /// The service's name in an instance's name: `gateway` for `gateway-2`.
    private static func service(of process: String) -> String {
        guard let dash = process.lastIndex(of: "-"), Int(process[process.index(after: dash)...]) != nil else {
            return process
        }
        return String(process[..<dash])
    }
}

extension Fault: CustomStringConvertible {
    package var description: String {
        switch self {
        case .kill(let names): "kill -9 \(names.joined(separator: ", "))"
        case .killRepeatedly(let name, let times): "kill -9 \(name), \(times) times in a row"
        case .freeze(let name, let seconds): "SIGSTOP \(name) for \(seconds) s, then SIGCONT"
        case .terminate(let name): "SIGTERM \(name)"
        case .rollingRestart(let kind): "rolling restart of \(kind.rawValue)"
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
package import ClusterKit

/// A fault that is injected into a running cluster.
package enum Fault: Hashable, Sendable {
    /// Processes are killed at the same time; the cluster starts them again.
    case kill([String])
    /// A process is killed several times, every two seconds.
    case killRepeatedly(String, times: Int)
    /// Processes are stopped by SIGSTOP and continued after some seconds; other instances may own their partitions
    /// then.
    case freeze([String], seconds: Int)
    /// Like `freeze`, but begun in the last second of a battle, so that the battle's end is due while its owner is
    /// stopped.
    case freezeAtBattleEnd([String], seconds: Int)
    /// Like `freeze`, but begun at most 200 ms after a burst of calls was sent, so that the owner is stopped while it
    /// decides or appends these calls.
    case freezeInAppend([String], seconds: Int)
    /// A process is ended by SIGTERM and started again.
    case terminate(String)
    /// The instances of a service are restarted one after another.
    case rollingRestart(ServiceKind)
    /// Redis deletes all data (FLUSHALL) and keeps running.
    case flushRedis
    /// A broker cannot write to its files for some seconds, as on a full disk.
    case fillDisk(String, seconds: Int)
    /// The network of a link is interrupted for some seconds.
    case interrupt(Link, Interruption, seconds: Int)
    /// A process is restarted with a wall clock that is `ahead` seconds ahead, or behind if `ahead` is negative. After
    /// some seconds the process is restarted with the right clock.
    case setClock(String, ahead: Int, seconds: Int)

    /// The names of the processes that the fault affects; for a rolling restart, the name of the service.
    package var processes: [String] {
        switch self {
        case .kill(let names), .freeze(let names, _), .freezeAtBattleEnd(let names, _),
            .freezeInAppend(let names, _):
            names
        case .killRepeatedly(let name, _), .terminate(let name), .fillDisk(let name, _), .setClock(let name, _, _):
            [name]
        case .rollingRestart(let kind): [kind.rawValue]
        case .flushRedis: ["redis"]
        case .interrupt(let link, _, _): [link.process]
        }
    }

    /// The kind of the fault, by which reports are grouped, such as `kill barrage-fanout`.
    package var kind: String {
        let targets = self.processes.map(Self.service(of:)).joined(separator: " and ")
        return switch self {
        case .kill(let names): names.count == 1 ? "kill \(targets)" : "kill a pair"
        case .killRepeatedly: "kill \(targets) again and again"
        case .freeze(let names, _): names.count == 1 ? "freeze \(targets)" : "freeze a pair"
        case .freezeAtBattleEnd: "freeze \(targets) at a battle's end"
        case .freezeInAppend: "freeze \(targets) in an append"
        case .terminate: "terminate \(targets)"
        case .rollingRestart: "rolling restart of \(targets)"
        case .flushRedis: "FLUSHALL"
        case .fillDisk: "full disk under \(targets)"
        case .interrupt(let link, let interruption, _): Self.kind(link, interruption)
        case .setClock: "wrong clock of \(targets)"
        }
    }

    /// Approximately how long the injection takes.
    package var duration: Duration {
        switch self {
        case .kill, .terminate, .flushRedis: .zero
        case .killRepeatedly(_, let times): .seconds(2 * times)
        case .freeze(_, let seconds), .freezeInAppend(_, let seconds), .fillDisk(_, let seconds),
            .interrupt(_, _, let seconds), .setClock(_, _, let seconds):
            .seconds(seconds)
        // The injection waits up to 20 s for the last second of a battle.
        case .freezeAtBattleEnd(_, let seconds): .seconds(20 + seconds)
        case .rollingRestart: .seconds(6)
        }
    }

    /// The same fault of other instances.
    ///
    /// - Parameter name: returns the name of the process that replaces a process of this fault.
    /// - Returns: the fault; a rolling restart and FLUSHALL have no instance, and are returned as they are.
    func replacingInstances(_ name: (String) -> String) -> Fault {
        switch self {
        case .kill(let names): .kill(names.map(name))
        case .killRepeatedly(let process, let times): .killRepeatedly(name(process), times: times)
        case .freeze(let names, let seconds): .freeze(names.map(name), seconds: seconds)
        case .freezeAtBattleEnd(let names, let seconds): .freezeAtBattleEnd(names.map(name), seconds: seconds)
        case .freezeInAppend(let names, let seconds): .freezeInAppend(names.map(name), seconds: seconds)
        case .terminate(let process): .terminate(name(process))
        case .fillDisk(let process, let seconds): .fillDisk(name(process), seconds: seconds)
        case .interrupt(let link, let interruption, let seconds):
            .interrupt(link.ofInstance(name(link.process)), interruption, seconds: seconds)
        case .setClock(let process, let ahead, let seconds):
            .setClock(name(process), ahead: ahead, seconds: seconds)
        case .rollingRestart, .flushRedis: self
        }
    }

    private static func kind(_ link: Link, _ interruption: Interruption) -> String {
        let (server, client) = link.ends
        return switch interruption {
        case .none: "no interruption between \(client) and \(server)"
        case .cut: "cut between \(client) and \(server)"
        case .silence([.toServer]): "silence from \(client) to \(server)"
        case .silence([.toClient]): "silence from \(server) to \(client)"
        case .silence: "silence between \(client) and \(server)"
        case .delay: "delay between \(client) and \(server)"
        }
    }

    /// The service's name in an instance's name: `gateway` for `gateway-2`.
    static func service(of process: String) -> String {
        guard let dash = process.lastIndex(of: "-"), Int(process[process.index(after: dash)...]) != nil else {
            return process
        }
        return String(process[..<dash])
    }
}

extension Fault: CustomStringConvertible {
    package var description: String {
        let targets = self.processes.joined(separator: ", ")
        return switch self {
        case .kill: "kill -9 \(targets)"
        case .killRepeatedly(_, let times): "kill -9 \(targets), \(times) times in a row"
        case .freeze(_, let seconds): "SIGSTOP \(targets) for \(seconds) s, then SIGCONT"
        case .freezeAtBattleEnd(_, let seconds):
            "SIGSTOP \(targets) in a battle's last second, SIGCONT \(seconds) s later"
        case .freezeInAppend(_, let seconds):
            "SIGSTOP \(targets) within 200 ms after a burst of calls, SIGCONT \(seconds) s later"
        case .terminate: "SIGTERM \(targets)"
        case .rollingRestart: "rolling restart of \(targets)"
        case .flushRedis: "FLUSHALL to Redis"
        case .fillDisk(_, let seconds): "no file of \(targets) can grow for \(seconds) s"
        case .interrupt(_, .delay(let milliseconds), let seconds):
            "\(self.kind), at \(targets), of \(milliseconds) ms for \(seconds) s"
        case .setClock(_, let ahead, let seconds):
            "the clock of \(targets) is \(abs(ahead)) s \(ahead < 0 ? "behind" : "ahead") for \(seconds) s"
        case .interrupt(_, _, let seconds): "\(self.kind), at \(targets), for \(seconds) s"
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
internal import ChildProcess
internal import Foundation
internal import Glibc

/// How to tell that a process can do its work.
enum Probe: Sendable, Equatable {
    /// It runs, and nothing more is known.
    case none
    /// `GET /readyz` at this port of the loopback interface answers 200.
    case http(port: Int)
    /// Redis answers a PING.
    case redis(port: Int)
    /// A broker answers an ApiVersions request.
    case kafka(port: Int)
    /// The embedded broker wrote its address, which it cannot choose, into this file.
    case announcement(file: String)
}

/// What to start under a name, how to start it each time, and how to see that it is ready.
struct ProcessPlan: Sendable {
    var name: String
    /// The service's program name, or `redis`, `broker`, `demo`.
    var kind: String
    var service: ServiceKind?
    var opsPort: Int?
    var ports: [String: Int] = [:]
    var log: String
    var probe: Probe
    var environment: [String: String]
    /// Made anew for every start, because addresses can change.
    var command: @Sendable (_ kafka: String) -> [String]
}

/// What one process shall do.
enum Wanted: Sendable, Equatable {
    /// Not to be started yet.
    case held
    /// To run, and to be started again when it ends and the cluster restarts what dies.
    case up
    /// To stay down until it is restarted by hand.
    case down
    /// To end, and its thread with it.
    case gone
}

/// One process and where it stands.
struct Member: Sendable {
    let plan: ProcessPlan
    var wanted = Wanted.held
    /// Set from its start until it is reaped, so a signal to it reaches no other process.
    var pid: Int32?
    var isReady = false
    /// Whether its supervising thread has ended.
    var isOver = false
    var starts = 0
    var endsWithoutReady = 0
    var lastEnd: ProcessEnd?
    /// Somebody asked for this end, so it is no failure.
    var endWasAsked = false
    /// Start again without waiting for the back-off.
    var startsAtOnce = false

    init(plan: ProcessPlan) { self.plan = plan }

    /// Sends a signal when the process lives; under the roster's lock, so that it cannot be reaped meanwhile.
    func send(_ signal: Int32) {
        if let pid { ChildProcess.signal(pid, signal) }
    }

    /// Asks the process to end in order, also when it is stopped.
    func askToEnd() {
        self.send(SIGTERM)
        self.send(SIGCONT)
    }
}

/// All processes of a cluster, in the order in which they were started.
struct Roster: Sendable {
    var members: [Member] = []
    /// Bootstrap addresses; empty until the broker is there.
    var kafka = ""
    /// Counts changes that others see.
    var version = 0
    /// How often each service got a new instance, for their names.
    var instances: [ServiceKind: Int] = [:]
    /// Whether every process that the options ask for has been entered.
    var isWhole = false
    var isStopping = false
    var isOver = false

    subscript(name: String) -> Member? {
        get { self.members.first { $0.plan.name == name } }
        set {
            guard let index = self.members.firstIndex(where: { $0.plan.name == name }) else { return }
            if let newValue { self.members[index] = newValue } else { self.members.remove(at: index) }
            self.version += 1
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
internal import ChildProcess
internal import Foundation
internal import Glibc

/// How to find out whether a process is ready.
enum Probe: Sendable, Equatable {
    /// A running process counts as ready.
    case none
    /// `GET /readyz` at this port of the loopback interface answers 200.
    case http(port: Int)
    /// Redis answers a PING.
    case redis(port: Int)
    /// A broker answers an ApiVersions request.
    case kafka(port: Int)
    /// The embedded broker has written its address into this file.
    ///
    /// The address is known only when the broker runs, because the broker binds a free port.
    case announcement(file: String)
}

/// How to start a process, and how to find out whether it is ready.
struct ProcessPlan: Sendable {
    var name: String
    /// The service's program name, or `redis`, `broker`, `demo`.
    var kind: String
    /// The service that the process runs; nil for Redis, brokers and the demo.
    var service: ServiceKind?
    var opsPort: Int?
    var ports: [String: Int] = [:]
    var log: String
    var probe: Probe
    var environment: [String: String]
    /// Makes the command line; called at every start, because Kafka's address can change.
    var command: @Sendable (_ kafka: String) -> [String]
}

/// The state that a process should have; its supervisor starts or stops it accordingly.
enum DesiredState: Sendable, Equatable {
    /// Not started yet.
    case waiting
    /// Runs; restarted when it ends, if the cluster restarts processes automatically.
    case running
    /// Stays down until `LocalCluster.restart(_:)`.
    case stopped
    /// Ended and not restarted any more; its supervising thread ends too.
    case removed
}

/// One process of the cluster, with its current and its desired state.
struct ClusterMember: Sendable {
    var plan: ProcessPlan
    var desiredState = DesiredState.waiting
    /// The process id from the start of the process until it is reaped; nil at other times, when the kernel may give
    /// the same id to an unrelated process.
    var pid: Int32?
    var isReady = false
    /// Whether the process has ended permanently: its supervising thread has ended too.
    var hasEnded = false
    /// How often the process has been started.
    var starts = 0
    /// How often in a row the process ended without having been ready.
    var unreadyEndCount = 0
    /// How the last run of the process ended; nil if no run has ended.
    var lastEnd: ProcessEnd?
    /// Whether the cluster requested the end of the process, so that the end is not a failure.
    var isStopRequested = false
    /// Whether the cluster requested a restart: the process starts again without the back-off, even if the cluster does
    /// not restart processes that exit by themselves.
    var isRestartRequested = false

    init(plan: ProcessPlan) { self.plan = plan }

    /// Sends a signal if the process runs.
    ///
    /// The caller holds the table's lock, so that the process cannot be reaped meanwhile.
    func send(_ signal: Int32) {
        if let pid { ChildProcess.signal(pid, signal) }
    }

    /// Sends SIGTERM, and then SIGCONT.
    ///
    /// A process that SIGSTOP has halted does not handle SIGTERM until it continues.
    func terminate() {
        self.send(SIGTERM)
        self.send(SIGCONT)
    }
}

/// All processes of a cluster, in the order in which they were started.
struct ProcessTable: Sendable {
    var members: [ClusterMember] = []
    /// The bootstrap addresses; empty until the broker is ready.
    var kafka = ""
    /// The number of changes so far; `state.json` and the output of `plaza up` are updated when it grows.
    var version = 0
    /// How many instances of each service have been added so far; the next instance's number is one higher.
    var instances: [ServiceKind: Int] = [:]
    /// Whether every process that the cluster's options ask for is in the table.
    var listsAllProcesses = false
    /// Whether the end of the cluster was requested.
    var isStopping = false
    /// Whether the cluster has stopped: all its processes have ended.
    var hasEnded = false

    /// The process with this name; nil if there is none.
    ///
    /// Setting nil removes the process. Setting a process that is not in the table has no effect.
    subscript(name: String) -> ClusterMember? {
        get { self.members.first { $0.plan.name == name } }
        set {
            guard let index = self.members.firstIndex(where: { $0.plan.name == name }) else { return }
            if let newValue { self.members[index] = newValue } else { self.members.remove(at: index) }
            self.version += 1
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
internal import ChildProcess
internal import Concurrency
internal import Foundation
internal import Glibc
internal import Testing

/// Runs processes of one program, and restarts each process that dies, as a supervisor such as systemd does.
package final class SupervisedProcesses: Sendable {
    private struct State {
        var isStopping = false
        var deathCount = 0
        var pids: [String: Int32] = [:]
    }

    private let state = ConditionVariable(State())
    private let threads: [DedicatedThread]

    /// How many processes have died.
    package var deathCount: Int { self.state.current.deathCount }

    /// Starts one process for each instance.
    ///
    /// - Parameters:
    ///   - program: the name of an executable of this package.
    ///   - instances: the names of the instances.
    ///   - arguments: returns the arguments of an instance.
    package init(_ program: String, _ instances: [String], arguments: @escaping @Sendable (String) -> [String]) {
        let path = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
            .appendingPathComponent(program).path
        let state = self.state
        self.threads = instances.map { instance in
            DedicatedThread("supervisor") {
                while !state.current.isStopping {
                    // The processes die on purpose, so they must write no backtraces.
                    let process = try? TestProcess(
                        [path] + arguments(instance), environment: ["SWIFT_BACKTRACE": "enable=no"], errors: .nothing)
                    guard let process else {
                        Issue.record("\(path) cannot be started")
                        return
                    }
                    let isStopping = state.update { state in
                        state.pids[instance] = process.pid
                        return state.isStopping
                    }
                    // `stop` did not know this process yet.
                    if isStopping { kill(process.pid, SIGKILL) }
                    _ = process.waitForEnd()
                    state.update { state in
                        state.pids[instance] = nil
                        state.deathCount += 1
                    }
                    // A supervisor also pauses before it starts the process again.
                    DedicatedThread.sleep(for: .milliseconds(100))
                }
            }
        }
    }

    /// Kills the processes and restarts none of them.
    package func stop() {
        let pids = self.state.update { state in
            state.isStopping = true
            return state.pids.values
        }
        for pid in pids { kill(pid, SIGKILL) }
        for thread in self.threads { thread.join() }
    }
}

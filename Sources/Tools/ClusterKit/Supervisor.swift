// SPDX-License-Identifier: Apache-2.0
internal import ChildProcess
internal import Concurrency
internal import Foundation
internal import MachineKit

/// The thread that starts one process, waits for its end, and starts it again.
///
/// Each process has its own thread, which does not end before the process, because the kernel kills a child when the
/// thread that started the child ends.
struct Supervisor: Sendable {
    let name: String
    let table: ConditionVariable<ProcessTable>
    /// Whether a process that exits by itself is started again; a requested restart happens in either case.
    let restartsExitedProcesses: Bool

    /// Starts the thread, which starts the process when its desired state is `running`.
    func start() {
        // A small stack suffices, because the thread mostly waits.
        _ = DedicatedThread(self.name, stackBytes: 256 * 1024) { self.run() }
    }

    private func run() {
        var backOff = RestartBackOff()
        while let (plan, kafka) = self.waitUntilRunnable() {
            let startedAt = ContinuousClock.now
            self.runProcess(plan, kafka: kafka)
            let pause = backOff.takePause(afterRunOf: ContinuousClock.now - startedAt)
            // The pause ends early when the closure returns a value.
            _ = self.table.wait(timeout: pause) { table in
                guard let member = table[self.name] else { return true }
                return (member.desiredState != .running || member.isRestartRequested) ? true : nil
            }
        }
        self.table.update { $0[self.name]?.hasEnded = true }
    }

    /// Waits until the desired state of the process is `running`, or until the process is removed.
    ///
    /// - Returns: the plan and Kafka's bootstrap addresses; nil when the process was removed.
    private func waitUntilRunnable() -> (plan: ProcessPlan, kafka: String)? {
        // The outer optional is nil while the wait continues, the inner one when the process was removed.
        let runnable: (ProcessPlan, String)?? = self.table.wait { table in
            guard let member = table[self.name] else { return .some(nil) }
            switch member.desiredState {
            case .running: return .some((member.plan, table.kafka))
            case .removed: return .some(nil)
            case .waiting, .stopped: return nil
            }
        }
        return runnable ?? nil
    }

    /// Runs the process once, from its start until it is reaped.
    private func runProcess(_ plan: ProcessPlan, kafka: String) {
        // The probe looks for the address file, so the file of an earlier run would make the process count as ready.
        if case .announcement(let file) = plan.probe { try? FileManager.default.removeItem(atPath: file) }
        let pid: Int32
        do {
            pid = try ChildProcess.start(
                plan.command(kafka), environment: plan.environment, endsWithThread: true, output: .log(plan.log))
        } catch {
            self.table.update { table in
                // The requested start has failed, so a further attempt waits for the back-off.
                table[self.name]?.isRestartRequested = false
                self.recordEnd(.notStarted("\(error)"), in: &table)
            }
            return
        }
        self.table.update { table in
            table[self.name]?.pid = pid
            table[self.name]?.starts += 1
            table[self.name]?.isRestartRequested = false
            table[self.name]?.isStopRequested = false
            // The desired state may have changed before the process had a pid, so no SIGTERM has reached the process.
            if let member = table[self.name], member.desiredState != .running { member.terminate() }
        }
        ChildProcess.awaitEnd(of: pid)
        self.table.update { self.recordEnd(ChildProcess.reap(pid), in: &$0) }
    }

    /// Records how a run ended; the process stays down unless exited processes are restarted or a restart was
    /// requested.
    private func recordEnd(_ end: ProcessEnd, in table: inout ProcessTable) {
        guard var member = table[self.name] else { return }
        member.unreadyEndCount = member.isReady ? 0 : member.unreadyEndCount + 1
        member.pid = nil
        member.isReady = false
        member.lastEnd = end
        if !self.restartsExitedProcesses, member.desiredState == .running, !member.isRestartRequested {
            member.desiredState = .stopped
        }
        table[self.name] = member
    }
}

/// The pauses before the restarts of a process that exits again and again: 0.1 s, doubled each time up to 5 s.
///
/// After a run of at least 10 s, the pauses begin at 0.1 s again.
package struct RestartBackOff: Sendable {
    private var backOff = ExponentialBackOff(firstPause: Milliseconds(100), longestPause: .seconds(5))

    /// Makes a back-off whose next pause is the shortest.
    package init() {}

    /// Returns the pause between a run of `duration` and the next start, and doubles the pause for the following call.
    package mutating func takePause(afterRunOf duration: Duration) -> Duration {
        if duration >= .seconds(10) { self.backOff.reset() }
        return Duration(self.backOff.nextPause())
    }
}

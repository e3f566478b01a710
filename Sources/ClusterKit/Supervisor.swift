// SPDX-License-Identifier: Apache-2.0
internal import ChildProcess
internal import Foundation

/// The thread that starts one process, waits for its end, and starts it again.
///
/// One thread per process: the kernel kills a child when the thread that started it ends, so this one lives longer.
struct Supervisor: Sendable {
    let name: String
    let roster: Monitor<Roster>
    let restartsWhatDies: Bool

    /// Begins supervising; nothing is started before the member is wanted up.
    func start() {
        let thread = Thread { self.run() }
        thread.name = self.name
        thread.stackSize = 256 * 1024
        thread.start()
    }

    private func run() {
        var backOff = BackOff()
        while let (plan, kafka) = self.awaitPermission() {
            let startedAt = Date()
            self.live(plan, kafka: kafka)
            let pause = backOff.pause(afterLifeOf: Date().timeIntervalSince(startedAt))
            _ = self.roster.wait(until: Date(timeIntervalSinceNow: pause)) { roster in
                guard let member = roster[self.name] else { return true }
                return member.wanted != .up || member.startsAtOnce ? true : nil
            }
        }
        self.roster.update { $0[self.name]?.isOver = true }
    }

    /// Waits until the process shall run; nil when it shall never run again.
    private func awaitPermission() -> (ProcessPlan, String)? {
        let answer: (ProcessPlan, String)?? = self.roster.wait(until: .distantFuture) { roster in
            guard let member = roster[self.name] else { return .some(nil) }
            switch member.wanted {
            case .up: return .some((member.plan, roster.kafka))
            case .gone: return .some(nil)
            case .held, .down: return nil
            }
        }
        return answer ?? nil
    }

    /// One life of the process, from its start to its reaping.
    private func live(_ plan: ProcessPlan, kafka: String) {
        if case .announcement(let file) = plan.probe { try? FileManager.default.removeItem(atPath: file) }
        let pid: Int32
        do {
            pid = try ChildProcess.start(
                plan.command(kafka), environment: plan.environment, endsWithThread: true, output: .log(plan.log))
        } catch {
            self.roster.update { self.ended(.notStarted("\(error)"), in: &$0) }
            return
        }
        self.roster.update { roster in
            roster[self.name]?.pid = pid
            roster[self.name]?.starts += 1
            roster[self.name]?.startsAtOnce = false
            roster[self.name]?.endWasAsked = false
            // It may have been told to end just before it had a pid.
            if let member = roster[self.name], member.wanted != .up { member.askToEnd() }
        }
        ChildProcess.awaitEnd(of: pid)
        self.roster.update { self.ended(ChildProcess.reap(pid), in: &$0) }
    }

    private func ended(_ end: ProcessEnd, in roster: inout Roster) {
        guard var member = roster[self.name] else { return }
        member.endsWithoutReady = member.isReady ? 0 : member.endsWithoutReady + 1
        member.pid = nil
        member.isReady = false
        member.lastEnd = end
        if !self.restartsWhatDies, member.wanted == .up, !member.startsAtOnce { member.wanted = .down }
        roster[self.name] = member
    }
}

/// The pauses between the lives of a process that keeps ending: 0.1 s, doubled up to 5 s; a life of 10 s begins anew.
package struct BackOff: Sendable {
    private var next = 0.1

    /// At the first pause.
    package init() {}

    /// Seconds to wait before the next start.
    package mutating func pause(afterLifeOf seconds: Double) -> Double {
        if seconds >= 10 { self.next = 0.1 }
        defer { self.next = min(self.next * 2, 5) }
        return self.next
    }
}

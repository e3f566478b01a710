// SPDX-License-Identifier: Apache-2.0
import Dispatch
import LivePlazaCombine

/// A scheduler whose time passes only when the test calls `advance`; for one thread.
final class VirtualTimeScheduler: Scheduler {
    typealias SchedulerTimeType = DispatchQueue.SchedulerTimeType
    typealias SchedulerOptions = Never

    /// A scheduled action that has not run yet.
    private struct ScheduledAction {
        let due: SchedulerTimeType
        /// The order of scheduling: of two actions that are due together, the one with the lower number runs first.
        let number: Int
        let action: () -> Void
    }

    /// The time begins at 1 s.
    private(set) var now = SchedulerTimeType(DispatchTime(uptimeNanoseconds: 1_000_000_000))
    let minimumTolerance: SchedulerTimeType.Stride = .nanoseconds(0)
    private var waiting: [ScheduledAction] = []
    /// How many actions were scheduled so far.
    private var scheduledCount = 0

    /// How many actions wait.
    var waitingCount: Int { self.waiting.count }

    func schedule(options: Never?, _ action: @escaping () -> Void) { self.add(self.now, action) }

    func schedule(
        after date: SchedulerTimeType, tolerance: SchedulerTimeType.Stride, options: Never?,
        _ action: @escaping () -> Void
    ) {
        self.add(max(date, self.now), action)
    }

    func schedule(
        after date: SchedulerTimeType, interval: SchedulerTimeType.Stride, tolerance: SchedulerTimeType.Stride,
        options: Never?, _ action: @escaping () -> Void
    ) -> any Cancellable {
        var isCancelled = false
        func scheduleNext(_ due: SchedulerTimeType) {
            self.add(due) {
                if isCancelled { return }
                action()
                scheduleNext(due.advanced(by: interval))
            }
        }
        scheduleNext(date)
        return AnyCancellable { isCancelled = true }
    }

    /// Runs the actions that are due now.
    func runDueActions() { self.advance(milliseconds: 0) }

    /// Lets time pass, and runs the actions that become due, in the order of their due times.
    func advance(milliseconds: Int) {
        let end = self.now.advanced(by: .milliseconds(milliseconds))
        while let index = self.indexOfNext(), self.waiting[index].due <= end {
            let next = self.waiting.remove(at: index)
            self.now = next.due
            next.action()
        }
        self.now = end
    }

    /// The index of the action that is due first.
    private func indexOfNext() -> Int? {
        self.waiting.indices.min {
            (self.waiting[$0].due, self.waiting[$0].number) < (self.waiting[$1].due, self.waiting[$1].number)
        }
    }

    private func add(_ due: SchedulerTimeType, _ action: @escaping () -> Void) {
        self.scheduledCount += 1
        self.waiting.append(ScheduledAction(due: due, number: self.scheduledCount, action: action))
    }
}

// SPDX-License-Identifier: Apache-2.0
#if !canImport(Combine)
public import Foundation

extension RunLoop: Scheduler {
    /// A point in the time of run loops.
    public typealias SchedulerTimeType = DateSchedulerTime

    /// A run loop takes no options.
    public struct SchedulerOptions {}

    /// The time of day.
    public var now: SchedulerTimeType { SchedulerTimeType(Date()) }

    /// Zero: a run loop's timers have no tolerance of their own.
    public var minimumTolerance: SchedulerTimeType.Stride { .seconds(0) }

    /// Runs an action in the loop's next turn, in its default mode.
    ///
    /// - Parameters:
    ///   - options: Not used.
    ///   - action: The action.
    public func schedule(options: SchedulerOptions?, _ action: @escaping () -> Void) {
        let scheduled = ScheduledAction(run: action)
        self.perform(inModes: [.default]) { scheduled.run() }
        // `perform` does not wake a loop that waits, but a timer that is due wakes the loop.
        self.add(Timer(fire: Date(), interval: 0, repeats: false) { _ in }, forMode: .default)
    }

    /// Runs an action in the loop after a point in time.
    ///
    /// - Parameters:
    ///   - date: The point in time.
    ///   - tolerance: How late the action may run.
    ///   - options: Not used.
    ///   - action: The action.
    public func schedule(
        after date: SchedulerTimeType, tolerance: SchedulerTimeType.Stride, options: SchedulerOptions?,
        _ action: @escaping () -> Void
    ) {
        let scheduled = ScheduledAction(run: action)
        let timer = Timer(fire: date.date, interval: 0, repeats: false) { _ in scheduled.run() }
        timer.tolerance = tolerance.timeInterval
        self.add(timer, forMode: .default)
    }

    /// Runs an action in the loop after a point in time, and then repeatedly.
    ///
    /// - Parameters:
    ///   - date: The point in time.
    ///   - interval: The time between two runs.
    ///   - tolerance: How late the action may run.
    ///   - options: Not used.
    ///   - action: The action.
    /// - Returns: An object that ends the repetition when it is cancelled or released.
    public func schedule(
        after date: SchedulerTimeType, interval: SchedulerTimeType.Stride, tolerance: SchedulerTimeType.Stride,
        options: SchedulerOptions?, _ action: @escaping () -> Void
    ) -> any Cancellable {
        let scheduled = ScheduledAction(run: action)
        let timer = Timer(fire: date.date, interval: interval.timeInterval, repeats: true) { _ in scheduled.run() }
        timer.tolerance = tolerance.timeInterval
        self.add(timer, forMode: .default)
        return AnyCancellable { timer.invalidate() }
    }
}
#endif

// SPDX-License-Identifier: Apache-2.0
#if !canImport(Combine)
internal import Dispatch
public import Foundation

extension OperationQueue: Scheduler {
    /// A point in the time of operation queues.
    public typealias SchedulerTimeType = DateSchedulerTime

    /// An operation queue takes no options.
    public struct SchedulerOptions {}

    /// The time of day.
    public var now: SchedulerTimeType { SchedulerTimeType(Date()) }

    /// Zero, because an operation queue has no timers.
    public var minimumTolerance: SchedulerTimeType.Stride { .seconds(0) }

    /// Runs an action as an operation.
    ///
    /// - Parameters:
    ///   - options: Not used.
    ///   - action: The action.
    public func schedule(options: SchedulerOptions?, _ action: @escaping () -> Void) {
        let scheduled = ScheduledAction(run: action)
        self.addOperation { scheduled.run() }
    }

    /// After a point in time, adds to the queue an operation that runs an action.
    ///
    /// - Parameters:
    ///   - date: The point in time.
    ///   - tolerance: Not used.
    ///   - options: Not used.
    ///   - action: The action.
    public func schedule(
        after date: SchedulerTimeType, tolerance: SchedulerTimeType.Stride, options: SchedulerOptions?,
        _ action: @escaping () -> Void
    ) {
        let scheduled = ScheduledAction(run: action)
        let seconds = max(0, self.now.distance(to: date).timeInterval)
        DispatchQueue.global().asyncAfter(deadline: .now() + seconds) { self.addOperation { scheduled.run() } }
    }

    /// After a point in time, and then repeatedly, adds to the queue an operation that runs an action.
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
        // A dispatch queue measures the time, and adds an operation at each run.
        let queue = DispatchQueue.global()
        let delay = max(0, self.now.distance(to: date).timeInterval)
        return queue.schedule(
            after: queue.now.advanced(by: .seconds(delay)), interval: .seconds(interval.timeInterval),
            tolerance: .seconds(tolerance.timeInterval), options: nil
        ) {
            self.addOperation { scheduled.run() }
        }
    }
}
#endif

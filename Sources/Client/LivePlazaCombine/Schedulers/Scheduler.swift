// SPDX-License-Identifier: Apache-2.0
#if !canImport(Combine)

/// A span of time that can be made of seconds and their parts.
public protocol SchedulerTimeIntervalConvertible {
    /// A span of this many seconds.
    static func seconds(_ s: Int) -> Self

    /// A span of this many seconds.
    static func seconds(_ s: Double) -> Self

    /// A span of this many milliseconds.
    static func milliseconds(_ ms: Int) -> Self

    /// A span of this many microseconds.
    static func microseconds(_ us: Int) -> Self

    /// A span of this many nanoseconds.
    static func nanoseconds(_ ns: Int) -> Self
}

/// Decides where and when an action runs.
public protocol Scheduler<SchedulerTimeType> {
    /// A point in the scheduler's time.
    associatedtype SchedulerTimeType: Strideable where SchedulerTimeType.Stride: SchedulerTimeIntervalConvertible

    /// The options of a scheduled action.
    associatedtype SchedulerOptions

    /// The scheduler's present time.
    var now: SchedulerTimeType { get }

    /// The smallest tolerance that the scheduler supports.
    var minimumTolerance: SchedulerTimeType.Stride { get }

    /// Runs an action at the next opportunity.
    ///
    /// - Parameters:
    ///   - options: Further options of the scheduler.
    ///   - action: The action.
    func schedule(options: SchedulerOptions?, _ action: @escaping () -> Void)

    /// Runs an action after a point in time.
    ///
    /// - Parameters:
    ///   - date: The point in time.
    ///   - tolerance: How late the action may run.
    ///   - options: Further options of the scheduler.
    ///   - action: The action.
    func schedule(
        after date: SchedulerTimeType, tolerance: SchedulerTimeType.Stride, options: SchedulerOptions?,
        _ action: @escaping () -> Void)

    /// Runs an action after a point in time, and then repeatedly.
    ///
    /// - Parameters:
    ///   - date: The point in time.
    ///   - interval: The time between two runs.
    ///   - tolerance: How late the action may run.
    ///   - options: Further options of the scheduler.
    ///   - action: The action.
    /// - Returns: An object that ends the repetition when it is cancelled.
    func schedule(
        after date: SchedulerTimeType, interval: SchedulerTimeType.Stride, tolerance: SchedulerTimeType.Stride,
        options: SchedulerOptions?, _ action: @escaping () -> Void
    ) -> any Cancellable
}

extension Scheduler {
    /// Runs an action at the next opportunity.
    ///
    /// - Parameter action: The action.
    public func schedule(_ action: @escaping () -> Void) { self.schedule(options: nil, action) }

    /// Runs an action after a point in time.
    ///
    /// - Parameters:
    ///   - date: The point in time.
    ///   - action: The action.
    public func schedule(after date: SchedulerTimeType, _ action: @escaping () -> Void) {
        self.schedule(after: date, tolerance: self.minimumTolerance, options: nil, action)
    }

    /// Runs an action after a point in time.
    ///
    /// - Parameters:
    ///   - date: The point in time.
    ///   - tolerance: How late the action may run.
    ///   - action: The action.
    public func schedule(
        after date: SchedulerTimeType, tolerance: SchedulerTimeType.Stride, _ action: @escaping () -> Void
    ) {
        self.schedule(after: date, tolerance: tolerance, options: nil, action)
    }

    /// Runs an action after a point in time, and then repeatedly.
    ///
    /// - Parameters:
    ///   - date: The point in time.
    ///   - interval: The time between two runs.
    ///   - action: The action.
    /// - Returns: An object that ends the repetition when it is cancelled.
    public func schedule(
        after date: SchedulerTimeType, interval: SchedulerTimeType.Stride, _ action: @escaping () -> Void
    ) -> any Cancellable {
        self.schedule(after: date, interval: interval, tolerance: self.minimumTolerance, options: nil, action)
    }

    /// Runs an action after a point in time, and then repeatedly.
    ///
    /// - Parameters:
    ///   - date: The point in time.
    ///   - interval: The time between two runs.
    ///   - tolerance: How late the action may run.
    ///   - action: The action.
    /// - Returns: An object that ends the repetition when it is cancelled.
    public func schedule(
        after date: SchedulerTimeType, interval: SchedulerTimeType.Stride, tolerance: SchedulerTimeType.Stride,
        _ action: @escaping () -> Void
    ) -> any Cancellable {
        self.schedule(after: date, interval: interval, tolerance: tolerance, options: nil, action)
    }
}
#endif

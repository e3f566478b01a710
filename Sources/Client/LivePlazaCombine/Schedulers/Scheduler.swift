// SPDX-License-Identifier: Apache-2.0
#if !canImport(Combine)

/// A span of time that can be made of seconds and their parts.
public protocol SchedulerTimeIntervalConvertible {
    /// So many seconds.
    static func seconds(_ s: Int) -> Self

    /// So many seconds.
    static func seconds(_ s: Double) -> Self

    /// So many milliseconds.
    static func milliseconds(_ ms: Int) -> Self

    /// So many microseconds.
    static func microseconds(_ us: Int) -> Self

    /// So many nanoseconds.
    static func nanoseconds(_ ns: Int) -> Self
}

/// Where and when an action is carried out.
public protocol Scheduler<SchedulerTimeType> {
    /// A point in the scheduler's time.
    associatedtype SchedulerTimeType: Strideable where SchedulerTimeType.Stride: SchedulerTimeIntervalConvertible

    /// What an action may be scheduled with.
    associatedtype SchedulerOptions

    /// The scheduler's present time.
    var now: SchedulerTimeType { get }

    /// By how much an action may come late at best.
    var minimumTolerance: SchedulerTimeType.Stride { get }

    /// Carries an action out at the next opportunity.
    ///
    /// - Parameters:
    ///   - options: What the scheduler is asked for besides.
    ///   - action: The action.
    func schedule(options: SchedulerOptions?, _ action: @escaping () -> Void)

    /// Carries an action out after a point in time.
    ///
    /// - Parameters:
    ///   - date: The point in time.
    ///   - tolerance: By how much the action may come late.
    ///   - options: What the scheduler is asked for besides.
    ///   - action: The action.
    func schedule(
        after date: SchedulerTimeType, tolerance: SchedulerTimeType.Stride, options: SchedulerOptions?,
        _ action: @escaping () -> Void)

    /// Carries an action out after a point in time, and then again and again.
    ///
    /// - Parameters:
    ///   - date: The point in time.
    ///   - interval: The span between two times.
    ///   - tolerance: By how much the action may come late.
    ///   - options: What the scheduler is asked for besides.
    ///   - action: The action.
    /// - Returns: Ends the repetition when it is cancelled.
    func schedule(
        after date: SchedulerTimeType, interval: SchedulerTimeType.Stride, tolerance: SchedulerTimeType.Stride,
        options: SchedulerOptions?, _ action: @escaping () -> Void
    ) -> any Cancellable
}

extension Scheduler {
    /// Carries an action out at the next opportunity.
    ///
    /// - Parameter action: The action.
    public func schedule(_ action: @escaping () -> Void) { self.schedule(options: nil, action) }

    /// Carries an action out after a point in time.
    ///
    /// - Parameters:
    ///   - date: The point in time.
    ///   - action: The action.
    public func schedule(after date: SchedulerTimeType, _ action: @escaping () -> Void) {
        self.schedule(after: date, tolerance: self.minimumTolerance, options: nil, action)
    }

    /// Carries an action out after a point in time.
    ///
    /// - Parameters:
    ///   - date: The point in time.
    ///   - tolerance: By how much the action may come late.
    ///   - action: The action.
    public func schedule(
        after date: SchedulerTimeType, tolerance: SchedulerTimeType.Stride, _ action: @escaping () -> Void
    ) {
        self.schedule(after: date, tolerance: tolerance, options: nil, action)
    }

    /// Carries an action out after a point in time, and then again and again.
    ///
    /// - Parameters:
    ///   - date: The point in time.
    ///   - interval: The span between two times.
    ///   - action: The action.
    /// - Returns: Ends the repetition when it is cancelled.
    public func schedule(
        after date: SchedulerTimeType, interval: SchedulerTimeType.Stride, _ action: @escaping () -> Void
    ) -> any Cancellable {
        self.schedule(after: date, interval: interval, tolerance: self.minimumTolerance, options: nil, action)
    }

    /// Carries an action out after a point in time, and then again and again.
    ///
    /// - Parameters:
    ///   - date: The point in time.
    ///   - interval: The span between two times.
    ///   - tolerance: By how much the action may come late.
    ///   - action: The action.
    /// - Returns: Ends the repetition when it is cancelled.
    public func schedule(
        after date: SchedulerTimeType, interval: SchedulerTimeType.Stride, tolerance: SchedulerTimeType.Stride,
        _ action: @escaping () -> Void
    ) -> any Cancellable {
        self.schedule(after: date, interval: interval, tolerance: tolerance, options: nil, action)
    }
}
#endif

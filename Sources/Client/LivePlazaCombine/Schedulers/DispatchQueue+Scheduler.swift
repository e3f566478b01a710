// SPDX-License-Identifier: Apache-2.0
#if !canImport(Combine)
public import Dispatch

extension DispatchQueue: Scheduler {
    /// What an action may be scheduled with on a queue.
    public struct SchedulerOptions {
        /// How urgent the action is.
        public var qos: DispatchQoS

        /// Further wishes.
        public var flags: DispatchWorkItemFlags

        /// The group that the action counts for.
        public var group: DispatchGroup?

        /// Makes options.
        ///
        /// - Parameters:
        ///   - qos: How urgent the action is.
        ///   - flags: Further wishes.
        ///   - group: The group that the action counts for.
        public init(qos: DispatchQoS = .unspecified, flags: DispatchWorkItemFlags = [], group: DispatchGroup? = nil) {
            self.qos = qos
            self.flags = flags
            self.group = group
        }
    }

    /// The present time of dispatch queues.
    public var now: SchedulerTimeType { SchedulerTimeType(.now()) }

    /// Zero: a queue's timers have no tolerance of their own.
    public var minimumTolerance: SchedulerTimeType.Stride { .nanoseconds(0) }

    /// Carries an action out on the queue.
    ///
    /// - Parameters:
    ///   - options: How urgent it is, and the group it counts for.
    ///   - action: The action.
    public func schedule(options: SchedulerOptions?, _ action: @escaping () -> Void) {
        let scheduled = ScheduledAction(run: action)
        self.async(group: options?.group, qos: options?.qos ?? .unspecified, flags: options?.flags ?? []) {
            scheduled.run()
        }
    }

    /// Carries an action out on the queue after a point in time.
    ///
    /// - Parameters:
    ///   - date: The point in time.
    ///   - tolerance: By how much the action may come late. Queues do not use it.
    ///   - options: How urgent the action is.
    ///   - action: The action.
    public func schedule(
        after date: SchedulerTimeType, tolerance: SchedulerTimeType.Stride, options: SchedulerOptions?,
        _ action: @escaping () -> Void
    ) {
        let scheduled = ScheduledAction(run: action)
        options?.group?.enter()
        let group = options?.group
        self.asyncAfter(
            deadline: date.dispatchTime, qos: options?.qos ?? .unspecified, flags: options?.flags ?? []
        ) {
            scheduled.run()
            group?.leave()
        }
    }

    /// Carries an action out on the queue after a point in time, and then again and again.
    ///
    /// - Parameters:
    ///   - date: The point in time.
    ///   - interval: The span between two times.
    ///   - tolerance: By how much the action may come late.
    ///   - options: How urgent the action is.
    ///   - action: The action.
    /// - Returns: Ends the repetition when it is cancelled or released.
    public func schedule(
        after date: SchedulerTimeType, interval: SchedulerTimeType.Stride, tolerance: SchedulerTimeType.Stride,
        options: SchedulerOptions?, _ action: @escaping () -> Void
    ) -> any Cancellable {
        let source = DispatchSource.makeTimerSource(queue: self)
        let scheduled = ScheduledAction(run: action)
        source.schedule(
            deadline: date.dispatchTime, repeating: interval.timeInterval,
            leeway: max(tolerance, self.minimumTolerance).timeInterval)
        source.setEventHandler(qos: options?.qos ?? .unspecified, flags: options?.flags ?? []) { scheduled.run() }
        source.resume()
        return AnyCancellable { source.cancel() }
    }
}
#endif

// SPDX-License-Identifier: Apache-2.0
#if !canImport(Combine)
public import Dispatch

extension DispatchQueue: Scheduler {
    /// The options of an action on a queue.
    public struct SchedulerOptions {
        /// The priority of the action.
        public var qos: DispatchQoS

        /// Further flags of the action.
        public var flags: DispatchWorkItemFlags

        /// The dispatch group to which the action belongs.
        public var group: DispatchGroup?

        /// Makes options.
        ///
        /// - Parameters:
        ///   - qos: The priority of the action.
        ///   - flags: Further flags of the action.
        ///   - group: The dispatch group to which the action belongs.
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

    /// Runs an action on the queue.
    ///
    /// - Parameters:
    ///   - options: The priority of the action, and its group.
    ///   - action: The action.
    public func schedule(options: SchedulerOptions?, _ action: @escaping () -> Void) {
        let scheduled = ScheduledAction(run: action)
        self.async(group: options?.group, qos: options?.qos ?? .unspecified, flags: options?.flags ?? []) {
            scheduled.run()
        }
    }

    /// Runs an action on the queue after a point in time.
    ///
    /// - Parameters:
    ///   - date: The point in time.
    ///   - tolerance: Not used.
    ///   - options: The priority of the action, and further options.
    ///   - action: The action.
    public func schedule(
        after date: SchedulerTimeType, tolerance: SchedulerTimeType.Stride, options: SchedulerOptions?,
        _ action: @escaping () -> Void
    ) {
        let scheduled = ScheduledAction(run: action)
        // `asyncAfter` takes no group, so the action enters and leaves the group itself.
        let group = options?.group
        group?.enter()
        self.asyncAfter(
            deadline: date.dispatchTime, qos: options?.qos ?? .unspecified, flags: options?.flags ?? []
        ) {
            scheduled.run()
            group?.leave()
        }
    }

    /// Runs an action on the queue after a point in time, and then repeatedly.
    ///
    /// - Parameters:
    ///   - date: The point in time.
    ///   - interval: The time between two runs.
    ///   - tolerance: How late the action may run.
    ///   - options: The priority of the action, and its flags; the group is not used.
    ///   - action: The action.
    /// - Returns: An object that ends the repetition when it is cancelled or released.
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

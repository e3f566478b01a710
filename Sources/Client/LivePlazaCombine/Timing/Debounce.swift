// SPDX-License-Identifier: Apache-2.0
#if !canImport(Combine)
internal import Foundation

extension Publishers {
    /// A publisher that delivers a value when no further value has arrived for a time.
    public struct Debounce<Upstream: Publisher, Context: Scheduler>: Publisher {
        /// The kind of values of the source.
        public typealias Output = Upstream.Output

        /// The kind of error of the source.
        public typealias Failure = Upstream.Failure

        /// The source.
        public let upstream: Upstream

        /// The time without a further value after which the last value is delivered.
        public let dueTime: Context.SchedulerTimeType.Stride

        /// The scheduler that measures the time, and delivers the values and the completion.
        public let scheduler: Context

        /// Further options of the scheduler.
        public let options: Context.SchedulerOptions?

        /// Makes a publisher.
        ///
        /// - Parameters:
        ///   - upstream: The source.
        ///   - dueTime: The time without a further value after which the last value is delivered.
        ///   - scheduler: The scheduler that measures the time, and delivers the values and the completion.
        ///   - options: Further options of the scheduler.
        public init(
            upstream: Upstream, dueTime: Context.SchedulerTimeType.Stride, scheduler: Context,
            options: Context.SchedulerOptions?
        ) {
            self.upstream = upstream
            self.dueTime = dueTime
            self.scheduler = scheduler
            self.options = options
        }

        /// Attaches a subscriber.
        ///
        /// - Parameter subscriber: The subscriber, which gets the values.
        public func receive<S: Subscriber>(subscriber: S) where Output == S.Input, Failure == S.Failure {
            self.upstream.subscribe(DebounceInner(subscriber, self.dueTime, self.scheduler, self.options))
        }
    }
}

extension Publisher {
    /// Delivers a value when no further value has arrived for a time.
    ///
    /// A value is dropped if it still waits when the sequence ends, or if there is no demand for it.
    ///
    /// - Parameters:
    ///   - dueTime: The time without a further value after which the last value is delivered.
    ///   - scheduler: The scheduler that measures the time, and delivers the values and the completion.
    ///   - options: Further options of the scheduler.
    /// - Returns: The publisher.
    public func debounce<S: Scheduler>(
        for dueTime: S.SchedulerTimeType.Stride, scheduler: S, options: S.SchedulerOptions? = nil
    ) -> Publishers.Debounce<Self, S> {
        Publishers.Debounce(upstream: self, dueTime: dueTime, scheduler: scheduler, options: options)
    }
}

/// The subscriber to the source of `debounce`, which holds back the last value.
///
/// At most one call of `timeReached`, which delivers the value, is scheduled at a time.
/// If a newer value has set a later due time, `timeReached` schedules itself again for that time. Therefore many values
/// in a short time need only one timer.
private final class DebounceInner<Downstream: Subscriber, Context: Scheduler>: Subscriber, Subscription {
    typealias Input = Downstream.Input
    typealias Failure = Downstream.Failure
    typealias Time = Context.SchedulerTimeType

    private let dueTime: Time.Stride
    private let scheduler: Context
    private let options: Context.SchedulerOptions?
    private let output: TimedOutput<Downstream>
    private let lock = NSLock()
    /// The value that waits, and the time at which it is delivered if no further value arrives.
    private var pending: (value: Input, due: Time)?
    /// Whether a call of `timeReached` is scheduled.
    private var isScheduled = false
    /// Whether the sequence has ended or was cancelled.
    private var hasEnded = false

    init(_ downstream: Downstream, _ dueTime: Time.Stride, _ scheduler: Context, _ options: Context.SchedulerOptions?) {
        self.output = TimedOutput(downstream)
        self.dueTime = dueTime
        self.scheduler = scheduler
        self.options = options
    }

    func receive(subscription: any Subscription) {
        self.output.start(upstream: subscription, operatorSubscription: self)
    }

    func receive(_ input: Input) -> Subscribers.Demand {
        let due = self.scheduler.now.advanced(by: self.dueTime)
        var replaced: (value: Input, due: Time)?
        let mustSchedule = self.lock.withLock {
            if self.hasEnded { return false }
            replaced = self.pending
            self.pending = (input, due)
            defer { self.isScheduled = true }
            return !self.isScheduled
        }
        // The replaced value must live until here, outside the lock, because its deinitializer may call back.
        withExtendedLifetime(replaced) {}
        if mustSchedule { self.schedule(after: due) }
        return .none
    }

    func receive(completion: Subscribers.Completion<Failure>) {
        let isFirst = self.end()
        if isFirst { self.scheduler.schedule(options: self.options) { self.output.send(.completion(completion)) } }
    }

    func request(_ demand: Subscribers.Demand) { self.output.request(demand) }

    func cancel() {
        _ = self.end()
        self.output.cancel()
    }

    /// Accepts no more values, and drops the value that waits.
    ///
    /// - Returns: Whether this is the first call.
    private func end() -> Bool {
        let (isFirst, dropped) = self.lock.withLock {
            defer { (self.hasEnded, self.pending) = (true, nil) }
            return (!self.hasEnded, self.pending)
        }
        // The dropped value must live until here, outside the lock, because its deinitializer may call back.
        withExtendedLifetime(dropped) {}
        return isFirst
    }

    private func schedule(after time: Time) {
        self.scheduler.schedule(after: time, tolerance: self.scheduler.minimumTolerance, options: self.options) {
            self.timeReached()
        }
    }

    private func timeReached() {
        let now = self.scheduler.now
        let pending = self.lock.withLock {
            guard let pending = self.pending else {
                self.isScheduled = false
                return nil as (value: Input, due: Time)?
            }
            if pending.due <= now { (self.pending, self.isScheduled) = (nil, false) }
            return pending
        }
        guard let pending else { return }
        if pending.due <= now {
            self.output.send(.value(pending.value))
        } else {
            // A newer value has set a later due time.
            self.schedule(after: pending.due)
        }
    }
}
#endif

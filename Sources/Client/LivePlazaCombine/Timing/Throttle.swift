// SPDX-License-Identifier: Apache-2.0
#if !canImport(Combine)
internal import Foundation

extension Publishers {
    /// A publisher that delivers at most one value in an interval.
    public struct Throttle<Upstream: Publisher, Context: Scheduler>: Publisher {
        /// The kind of values of the source.
        public typealias Output = Upstream.Output

        /// The kind of error of the source.
        public typealias Failure = Upstream.Failure

        /// The source.
        public let upstream: Upstream

        /// The minimum time between two values.
        public let interval: Context.SchedulerTimeType.Stride

        /// The scheduler that measures the time, and delivers the values and the completion.
        public let scheduler: Context

        /// Whether the last of the values that arrive in an interval is delivered instead of the first.
        public let latest: Bool

        /// Makes a publisher.
        ///
        /// - Parameters:
        ///   - upstream: The source.
        ///   - interval: The minimum time between two values.
        ///   - scheduler: The scheduler that measures the time, and delivers the values and the completion.
        ///   - latest: Whether the last of the values that arrive in an interval is delivered instead of the first.
        public init(
            upstream: Upstream, interval: Context.SchedulerTimeType.Stride, scheduler: Context, latest: Bool
        ) {
            self.upstream = upstream
            self.interval = interval
            self.scheduler = scheduler
            self.latest = latest
        }

        /// Attaches a subscriber.
        ///
        /// - Parameter subscriber: The subscriber, which gets the values.
        public func receive<S: Subscriber>(subscriber: S) where Output == S.Input, Failure == S.Failure {
            self.upstream.subscribe(ThrottleInner(subscriber, self.interval, self.scheduler, self.latest))
        }
    }
}

extension Publisher {
    /// Delivers at most one value in an interval.
    ///
    /// The first value is delivered at once. Of the values in the interval after a delivery, one is delivered at the
    /// end of the interval. A value that waits when the sequence ends is still delivered at the end of its interval,
    /// before the completion. When a value is due and the subscriber has no demand, the value is dropped.
    ///
    /// - Parameters:
    ///   - interval: The minimum time between two values.
    ///   - scheduler: The scheduler that measures the time, and delivers the values and the completion.
    ///   - latest: Whether the last of the values that arrive in an interval is delivered instead of the first.
    /// - Returns: The publisher.
    public func throttle<S: Scheduler>(
        for interval: S.SchedulerTimeType.Stride, scheduler: S, latest: Bool
    ) -> Publishers.Throttle<Self, S> {
        Publishers.Throttle(upstream: self, interval: interval, scheduler: scheduler, latest: latest)
    }
}

/// The subscriber to the source of `throttle`.
///
/// It holds back at most one value, and delivers the value when the interval after the last delivery is over.
private final class ThrottleInner<Downstream: Subscriber, Context: Scheduler>: Subscriber, Subscription {
    typealias Input = Downstream.Input
    typealias Failure = Downstream.Failure
    typealias Time = Context.SchedulerTimeType

    private struct State {
        /// The value that waits.
        var pending: Input?
        /// The completion that waits; it follows `pending`.
        var completion: Subscribers.Completion<Failure>?
        /// When `deliver` last ran; nil before the first time.
        var lastDelivery: Time?
        /// Whether a call of `deliver` is scheduled.
        var isScheduled = false
        /// Whether the sequence has ended or was cancelled.
        var hasEnded = false
    }

    private let interval: Time.Stride
    private let scheduler: Context
    private let latest: Bool
    private let output: TimedOutput<Downstream>
    private let lock = NSLock()
    private var state = State()

    init(_ downstream: Downstream, _ interval: Time.Stride, _ scheduler: Context, _ latest: Bool) {
        self.output = TimedOutput(downstream)
        self.interval = interval
        self.scheduler = scheduler
        self.latest = latest
    }

    func receive(subscription: any Subscription) {
        self.output.start(upstream: subscription, operatorSubscription: self)
    }

    func receive(_ input: Input) -> Subscribers.Demand {
        let now = self.scheduler.now
        var replaced: Input?
        let (mustSchedule, lastDelivery) = self.lock.withLock {
            if self.state.hasEnded { return (false, nil as Time?) }
            // If `latest` is false, the first value of an interval is kept, and the interval's later values are
            // ignored.
            if self.latest || !self.state.isScheduled {
                replaced = self.state.pending
                self.state.pending = .some(input)
            }
            defer { self.state.isScheduled = true }
            return (!self.state.isScheduled, self.state.lastDelivery)
        }
        // The replaced value must live until here, outside the lock, because its deinitializer may call back.
        withExtendedLifetime(replaced) {}
        if !mustSchedule { return .none }
        if let due = lastDelivery?.advanced(by: self.interval), due > now {
            self.scheduler.schedule(after: due, tolerance: self.scheduler.minimumTolerance, options: nil) {
                self.deliver()
            }
        } else {
            self.scheduler.schedule(options: nil) { self.deliver() }
        }
        return .none
    }

    func receive(completion: Subscribers.Completion<Failure>) {
        let mustSchedule = self.lock.withLock {
            if self.state.hasEnded { return false }
            self.state.hasEnded = true
            self.state.completion = completion
            return !self.state.isScheduled
        }
        // A delivery that is scheduled already also delivers the completion.
        if mustSchedule { self.scheduler.schedule(options: nil) { self.deliver() } }
    }

    func request(_ demand: Subscribers.Demand) { self.output.request(demand) }

    func cancel() {
        let dropped = self.lock.withLock {
            defer { (self.state.hasEnded, self.state.pending, self.state.completion) = (true, nil, nil) }
            return self.state.pending
        }
        // The dropped value must live until here, outside the lock, because its deinitializer may call back.
        withExtendedLifetime(dropped) {}
        self.output.cancel()
    }

    private func deliver() {
        let now = self.scheduler.now
        let (value, completion) = self.lock.withLock {
            defer {
                (self.state.pending, self.state.completion) = (nil, nil)
                self.state.isScheduled = false
                self.state.lastDelivery = now
            }
            return (self.state.pending, self.state.completion)
        }
        if let value { self.output.send(.value(value)) }
        if let completion { self.output.send(.completion(completion)) }
    }
}
#endif

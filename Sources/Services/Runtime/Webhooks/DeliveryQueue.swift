// SPDX-License-Identifier: Apache-2.0
package import MachineKit
package import PlazaModel

/// Decides which webhook event is sent when.
///
/// Events of one live are sent in order, at least once. After a failure the pause before the next attempt grows; after
/// `Limits.maxAttempts` the event is abandoned.
///
/// A slow backend must not use up the memory of other apps. Therefore each app has its share of the queue. An app that
/// has used up its share is lagging: its further events are not held but read again later (`ReadingProgress`).
///
/// The queue is pure: times and random numbers are parameters.
package struct DeliveryQueue: Sendable {
    /// How much is held, how much is sent at once, and how long a failed event waits.
    package struct Limits: Sendable {
        /// Events held, shared evenly by the apps that have webhooks.
        package var maxEvents = 5000
        /// Events held of one app at most.
        package var maxPerApp = 500
        /// Concurrent requests to one app.
        ///
        /// After a failure it is one, until an attempt succeeds.
        package var maxInFlightPerApp = 8
        /// Concurrent requests to all apps.
        ///
        /// Apps whose last attempt failed get at most half of them.
        package var maxInFlight = 64
        /// Attempts to deliver one event.
        package var maxAttempts = 8
        /// The pause after the first failure; it doubles with each further one.
        package var minRetryPause = Milliseconds(500)
        /// The longest pause.
        package var maxRetryPause = Milliseconds(30_000)

        /// The defaults.
        package init() {}
    }

    /// The partition and offset of an event's record.
    package struct EventPosition: Hashable, Sendable {
        package var partition: Int32
        package var offset: Int64

        package init(partition: Int32, offset: Int64) {
            self.partition = partition
            self.offset = offset
        }
    }

    /// What follows from a finished attempt.
    package enum AttemptOutcome: Hashable, Sendable {
        case delivered
        /// The event is sent again, not before this time.
        case retry(notBefore: MonotonicTime)
        case abandoned
        /// The event is not held here, for its partition was revoked.
        case notHeld
    }

    /// A part of a partition that is read again for apps that lagged.
    package struct CatchUp: Hashable, Sendable {
        package var partition: Int32
        /// The first offset.
        package var offset: Int64
        /// The apps whose events are read again; the events of all others were handled before.
        package var apps: Set<AppID>

        package init(partition: Int32, offset: Int64, apps: Set<AppID>) {
            self.partition = partition
            self.offset = offset
            self.apps = apps
        }
    }

    private struct PendingEvent: Sendable {
        var position: EventPosition
        var sequence: Int
        var attempts = 0
    }

    /// The events of one live, in order; only the first one can be in flight.
    private struct LiveQueue: Sendable {
        var items: [PendingEvent] = []
        var isInFlight = false
        var notBefore = MonotonicTime.distantPast
    }

    private let limits: Limits
    /// Events that may be held of one app.
    private let share: Int
    private var liveQueues: [LiveKey: LiveQueue] = [:]
    private var keys: [EventPosition: LiveKey] = [:]
    private var countOfApp: [AppID: Int] = [:]
    private var inFlightOfApp: [AppID: Int] = [:]
    private var inFlight = 0
    /// The apps whose last attempt failed.
    private var failing: Set<AppID> = []
    private var sequence = 0
    private var progress: [Int32: ReadingProgress] = [:]

    /// An empty queue.
    ///
    /// - Parameters:
    ///   - limits: sizes and pauses.
    ///   - apps: how many apps share the queue.
    package init(_ limits: Limits = Limits(), apps: Int = 1) {
        self.limits = limits
        self.share = max(1, min(limits.maxPerApp, limits.maxEvents / max(1, apps)))
    }

    /// How many events are held.
    package var count: Int { self.keys.count }

    /// How many apps lag; an app that lags in two partitions counts twice.
    package var laggingCount: Int { self.progress.values.reduce(0) { $0 + $1.laggingCount } }

    /// A partition was assigned to this instance.
    ///
    /// - Parameters:
    ///   - partition: its number.
    ///   - checkpoint: how far the previous owner came.
    package mutating func partitionAssigned(_ partition: Int32, _ checkpoint: ReadingProgress.Checkpoint) {
        self.progress[partition] = ReadingProgress(checkpoint)
    }

    /// Adds an event that was read for the first time.
    ///
    /// - Returns: false when its app lags; the event is read again later.
    package mutating func add(_ position: EventPosition, of key: LiveKey) -> Bool {
        self.progress[position.partition, default: ReadingProgress()].read(position.offset)
        guard self.progress[position.partition]?.laggingOffset(key.app) == nil else { return false }
        return self.hold(position, of: key)
    }

    /// Adds an event that was read again, if `catchUp` covers it.
    ///
    /// - Parameters:
    ///   - position: the position of the event's record.
    ///   - key: its live.
    ///   - catchUp: what is read again. An app without room is removed from it and lags from here on.
    /// - Returns: whether the event is held.
    package mutating func addInCatchUp(_ position: EventPosition, of key: LiveKey, in catchUp: inout CatchUp) -> Bool {
        guard catchUp.partition == position.partition, catchUp.apps.contains(key.app),
            let from = self.progress[position.partition]?.laggingOffset(key.app), position.offset >= from
        else { return false }
        guard self.hold(position, of: key) else {
            catchUp.apps.remove(key.app)
            return false
        }
        self.progress[position.partition]?.set(key.app, laggingFrom: position.offset + 1)
        return true
    }

    /// A record that concerns no app was read for the first time.
    package mutating func skip(_ position: EventPosition) {
        self.progress[position.partition, default: ReadingProgress()].read(position.offset)
    }

    /// Holds an event if there is room; otherwise its app lags from here on.
    private mutating func hold(_ position: EventPosition, of key: LiveKey) -> Bool {
        guard self.countOfApp[key.app, default: 0] < self.share else {
            self.progress[position.partition]?.set(key.app, laggingFrom: position.offset)
            return false
        }
        self.progress[position.partition]?.hold(position.offset, of: key.app)
        self.sequence += 1
        self.liveQueues[key, default: LiveQueue()].items.append(
            PendingEvent(position: position, sequence: self.sequence))
        self.keys[position] = key
        self.countOfApp[key.app, default: 0] += 1
        return true
    }

    /// The next part to read again, for lagging apps that have room: at least half of their share is free.
    ///
    /// - Parameter last: the partition that was read again last; other partitions come first.
    /// - Returns: nil when no app has something to read again and room for it.
    package func nextCatchUp(after last: Int32) -> CatchUp? {
        let partitions = self.progress.keys.sorted()
        for partition in partitions.filter({ $0 > last }) + partitions.filter({ $0 <= last }) {
            let ready = (self.progress[partition]?.laggingApps ?? [:]).filter {
                self.countOfApp[$0.key, default: 0] <= self.share / 2
            }
            guard let first = ready.values.min() else { continue }
            return CatchUp(partition: partition, offset: first, apps: Set(ready.keys))
        }
        return nil
    }

    /// Everything before `offset` was read again.
    ///
    /// Apps that had room all the time no longer lag once the whole partition was read.
    ///
    /// - Returns: true when the catch-up ends: everything was read, or no app has room any more.
    package mutating func catchUpRead(_ catchUp: CatchUp, upTo offset: Int64) -> Bool {
        guard let next = self.progress[catchUp.partition]?.next, !catchUp.apps.isEmpty else { return true }
        guard offset >= next else { return false }
        for app in catchUp.apps { self.progress[catchUp.partition]?.set(app, laggingFrom: nil) }
        return true
    }

    /// Takes the events that must be sent now, oldest first; from here on they are in flight.
    package mutating func takeDue(at now: MonotonicTime) -> [EventPosition] {
        guard self.inFlight < self.limits.maxInFlight else { return [] }
        var heads: [(key: LiveKey, item: PendingEvent)] = []
        for (key, lane) in self.liveQueues where !lane.isInFlight && lane.notBefore <= now {
            if let item = lane.items.first { heads.append((key, item)) }
        }
        heads.sort { $0.item.sequence < $1.item.sequence }
        var positions: [EventPosition] = []
        var failingInFlight = self.failing.reduce(0) { $0 + self.inFlightOfApp[$1, default: 0] }
        for (key, item) in heads {
            guard self.inFlight < self.limits.maxInFlight else { break }
            let isFailing = self.failing.contains(key.app)
            let maxInFlight = isFailing ? 1 : self.limits.maxInFlightPerApp
            guard self.inFlightOfApp[key.app, default: 0] < maxInFlight else { continue }
            if isFailing {
                guard failingInFlight < max(1, self.limits.maxInFlight / 2) else { continue }
                failingInFlight += 1
            }
            self.liveQueues[key]?.isInFlight = true
            self.inFlightOfApp[key.app, default: 0] += 1
            self.inFlight += 1
            positions.append(item.position)
        }
        return positions
    }

    /// When the next retry pause ends.
    ///
    /// Events that are due already wait for a free request, not for a time.
    package func nextDue(after now: MonotonicTime) -> MonotonicTime? {
        self.liveQueues.values.lazy.filter { !$0.isInFlight && $0.notBefore > now }.map(\.notBefore).min()
    }

    /// An attempt to deliver an event has ended.
    ///
    /// - Parameters:
    ///   - position: the position of the event's record.
    ///   - isDelivered: whether the backend accepted it.
    ///   - chance: a random number from 0 to 1 that places the pause between its half and its whole.
    ///   - now: the time.
    /// - Returns: what follows.
    package mutating func attemptEnded(
        _ position: EventPosition, isDelivered: Bool, chance: Double, at now: MonotonicTime
    ) -> AttemptOutcome {
        guard let key = self.keys[position], var lane = self.liveQueues[key], lane.isInFlight,
            var item = lane.items.first,
            item.position == position
        else { return .notHeld }
        lane.isInFlight = false
        self.requestEnded(key.app)
        if isDelivered { self.failing.remove(key.app) } else { self.failing.insert(key.app) }
        item.attempts += 1
        if !isDelivered, item.attempts < self.limits.maxAttempts {
            let doubled = self.limits.minRetryPause.count << Int64(min(20, item.attempts - 1))
            let pause = min(self.limits.maxRetryPause.count, doubled)
            let until = now + Milliseconds(pause / 2 + Int64(Double(pause - pause / 2) * min(1, max(0, chance))))
            lane.notBefore = until
            lane.items[0] = item
            self.liveQueues[key] = lane
            return .retry(notBefore: until)
        }
        lane.notBefore = .distantPast
        lane.items.removeFirst()
        self.liveQueues[key] = lane.items.isEmpty ? nil : lane
        self.forget(position, key)
        return isDelivered ? .delivered : .abandoned
    }

    /// What may be committed of a partition; nil while it is not assigned or nothing was read.
    package func checkpoint(_ partition: Int32) -> ReadingProgress.Checkpoint? { self.progress[partition]?.checkpoint }

    /// The partitions that are assigned or of which something was read.
    package var partitions: [Int32] { self.progress.keys.sorted() }

    /// A partition was revoked: its events are forgotten, also those in flight.
    package mutating func partitionRevoked(_ partition: Int32) {
        self.progress[partition] = nil
        for (key, lane) in self.liveQueues where lane.items.first?.position.partition == partition {
            // All events of a live are in one partition.
            if lane.isInFlight { self.requestEnded(key.app) }
            for item in lane.items { self.forget(item.position, key) }
            self.liveQueues[key] = nil
        }
    }

    private mutating func requestEnded(_ app: AppID) {
        self.inFlight -= 1
        let left = self.inFlightOfApp[app, default: 1] - 1
        self.inFlightOfApp[app] = left > 0 ? left : nil
    }

    private mutating func forget(_ position: EventPosition, _ key: LiveKey) {
        self.keys[position] = nil
        let left = self.countOfApp[key.app, default: 1] - 1
        self.countOfApp[key.app] = left > 0 ? left : nil
        self.progress[position.partition]?.end(position.offset, of: key.app)
    }
}

// SPDX-License-Identifier: Apache-2.0
package import MachineKit
package import PlazaModel

/// Decides which webhook event is sent when.
///
/// Events of one live are sent in order, at least once. After a failure the pause before the next attempt grows; after
/// `Limits.maxAttempts` the event is abandoned.
///
/// A slow backend must not use up the memory that other apps need. Therefore each app has a share of the queue. An app
/// that has used up its share is lagging: its further events are not queued but read again later (`ReadingProgress`).
///
/// The queue has no clock and no random numbers of its own; both are parameters.
package struct DeliveryQueue: Sendable {
    /// The size of the queue, the number of concurrent requests, and the attempts and pauses after failures.
    package struct Limits: Sendable {
        /// The maximum number of queued events, shared evenly by the apps that have webhooks.
        package var maxEvents = 5000
        /// The maximum number of queued events of one app, even if its share of `maxEvents` is greater.
        package var maxPerApp = 500
        /// The maximum number of concurrent requests to one app.
        ///
        /// After a failed attempt the limit is one request, until an attempt succeeds.
        package var maxInFlightPerApp = 8
        /// The maximum number of concurrent requests to all apps.
        ///
        /// The apps whose last attempt failed share at most half of these requests.
        package var maxInFlight = 64
        /// The maximum number of attempts to deliver one event.
        package var maxAttempts = 8
        /// The pause after an event's first failed attempt; each further failure doubles the pause.
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

    /// How the queue handles an event after an attempt.
    package enum AttemptOutcome: Hashable, Sendable {
        case delivered
        /// The event is sent again, not before this time.
        case retry(notBefore: MonotonicTime)
        case abandoned
        /// The event is not in the queue any more, because its partition was revoked.
        case notQueued
    }

    /// The part of a partition that is read again for lagging apps.
    package struct CatchUp: Hashable, Sendable {
        package var partition: Int32
        /// The offset at which the reading begins.
        package var offset: Int64
        /// The apps whose events are read again.
        ///
        /// Events of other apps are skipped, because they were queued at the first reading or because less than half of
        /// their app's share is free.
        package var apps: Set<AppID>

        package init(partition: Int32, offset: Int64, apps: Set<AppID>) {
            self.partition = partition
            self.offset = offset
            self.apps = apps
        }
    }

    /// A queued event; it stays queued while it is in flight, that is, while a request for it is open.
    private struct PendingEvent: Sendable {
        var position: EventPosition
        /// The event's number in the order of queueing.
        var sequence: Int
        /// The number of ended attempts; all of them have failed.
        var attempts = 0
    }

    /// The queued events of one live, in order; only the first one can be in flight.
    private struct LiveQueue: Sendable {
        var events: [PendingEvent] = []
        /// Whether the first event is in flight.
        var isInFlight = false
        /// The end of the pause after a failed attempt of the first event.
        var notBefore = MonotonicTime.distantPast
    }

    private let limits: Limits
    /// The share of each app: the maximum number of its queued events.
    private let sharePerApp: Int
    private var liveQueues: [LiveKey: LiveQueue] = [:]
    /// The live of each queued event, including the events in flight.
    private var liveKeys: [EventPosition: LiveKey] = [:]
    /// The number of queued events of each app, including those in flight; apps without events are left out.
    private var queuedPerApp: [AppID: Int] = [:]
    private var inFlightPerApp: [AppID: Int] = [:]
    /// The number of requests in flight to all apps.
    private var inFlightCount = 0
    /// The apps whose most recent attempt failed, whichever of their events it was for.
    private var failingApps: Set<AppID> = []
    /// The sequence number of the event that was queued last.
    private var lastSequence = 0
    /// The reading progress of each assigned partition.
    private var progress: [Int32: ReadingProgress] = [:]

    /// Creates an empty queue.
    ///
    /// - Parameters:
    ///   - limits: sizes, numbers of requests, attempts and pauses.
    ///   - apps: how many apps share the queue.
    package init(_ limits: Limits = Limits(), apps: Int = 1) {
        self.limits = limits
        self.sharePerApp = max(1, min(limits.maxPerApp, limits.maxEvents / max(1, apps)))
    }

    /// The number of queued events, including those in flight.
    package var count: Int { self.liveKeys.count }

    /// The number of lagging apps; an app that lags in two partitions counts twice.
    package var laggingCount: Int { self.progress.values.reduce(0) { $0 + $1.laggingCount } }

    /// Adds a partition that was assigned to this instance.
    ///
    /// - Parameters:
    ///   - partition: the number of the partition.
    ///   - checkpoint: the progress that the previous owner, the instance that had the partition before, has committed.
    package mutating func partitionAssigned(_ partition: Int32, _ checkpoint: ReadingProgress.Checkpoint) {
        self.progress[partition] = ReadingProgress(checkpoint)
    }

    /// Adds an event that was read for the first time.
    ///
    /// - Returns: whether the event is queued; the event of a lagging app is not queued but read again later.
    package mutating func add(_ position: EventPosition, of key: LiveKey) -> Bool {
        self.progress[position.partition, default: ReadingProgress()].recordRead(position.offset)
        guard self.progress[position.partition]?.laggingOffset(key.app) == nil else { return false }
        return self.enqueue(position, of: key)
    }

    /// Adds an event that was read again, if `catchUp` covers it.
    ///
    /// An event that is queued twice would hold up the other events of its live forever. After a takeover, a
    /// catch-up may be ahead of the first reading. Therefore this method ignores the events that the first reading has
    /// not reached: `add` will queue them.
    ///
    /// - Parameters:
    ///   - position: the position of the event's record.
    ///   - key: the event's live.
    ///   - catchUp: the catch-up that read the event. If the app's share is used up, the app is removed from the
    ///     catch-up and lags from this event on.
    /// - Returns: whether the event is queued.
    package mutating func addInCatchUp(_ position: EventPosition, of key: LiveKey, in catchUp: inout CatchUp) -> Bool {
        guard catchUp.partition == position.partition, catchUp.apps.contains(key.app),
            let progress = self.progress[position.partition], position.offset < progress.nextOffset,
            let firstOffset = progress.laggingOffset(key.app), position.offset >= firstOffset
        else { return false }
        guard self.enqueue(position, of: key) else {
            catchUp.apps.remove(key.app)
            return false
        }
        // The app lags from the next event on, until the catch-up has read all records.
        self.progress[position.partition]?.set(key.app, laggingFrom: position.offset + 1)
        return true
    }

    /// Records the first reading of a record that is not queued: no app subscribes to its event, or it is malformed.
    package mutating func skip(_ position: EventPosition) {
        self.progress[position.partition, default: ReadingProgress()].recordRead(position.offset)
    }

    /// Queues an event, or makes its app lag from this event on if the app's share is used up.
    ///
    /// - Returns: whether the event is queued.
    private mutating func enqueue(_ position: EventPosition, of key: LiveKey) -> Bool {
        guard self.queuedPerApp[key.app, default: 0] < self.sharePerApp else {
            self.progress[position.partition]?.set(key.app, laggingFrom: position.offset)
            return false
        }
        self.progress[position.partition]?.eventQueued(position.offset, of: key.app)
        self.lastSequence += 1
        self.liveQueues[key, default: LiveQueue()].events.append(
            PendingEvent(position: position, sequence: self.lastSequence))
        self.liveKeys[position] = key
        self.queuedPerApp[key.app, default: 0] += 1
        return true
    }

    /// The next catch-up, for the lagging apps that have at least half of their share free.
    ///
    /// - Parameter lastPartition: the partition of the previous catch-up. The search begins at the partition after it,
    ///   so that the partitions take turns.
    /// - Returns: the catch-up; nil if no lagging app has half of its share free.
    package func nextCatchUp(after lastPartition: Int32) -> CatchUp? {
        let partitions = self.progress.keys.sorted()
        for partition in partitions.filter({ $0 > lastPartition }) + partitions.filter({ $0 <= lastPartition }) {
            let readyOffsets = (self.progress[partition]?.laggingOffsets ?? [:]).filter {
                self.queuedPerApp[$0.key, default: 0] <= self.sharePerApp / 2
            }
            guard let firstOffset = readyOffsets.values.min() else { continue }
            return CatchUp(partition: partition, offset: firstOffset, apps: Set(readyOffsets.keys))
        }
        return nil
    }

    /// Records that a catch-up has read all records before `offset`.
    ///
    /// After the last record, the apps that are still part of the catch-up no longer lag.
    ///
    /// - Returns: whether the catch-up is finished, because it has read all records, the shares of all its apps are
    ///   used up, or the partition was revoked.
    package mutating func catchUpAdvanced(_ catchUp: CatchUp, upTo offset: Int64) -> Bool {
        guard let nextOffset = self.progress[catchUp.partition]?.nextOffset, !catchUp.apps.isEmpty else { return true }
        guard offset >= nextOffset else { return false }
        for app in catchUp.apps { self.progress[catchUp.partition]?.set(app, laggingFrom: nil) }
        return true
    }

    /// Marks the due events as in flight, as far as the limits permit, and returns their positions, oldest first.
    ///
    /// An event is due if it is the first of its live and its retry pause, if any, has ended.
    package mutating func startDueAttempts(at now: MonotonicTime) -> [EventPosition] {
        guard self.inFlightCount < self.limits.maxInFlight else { return [] }
        var dueEvents: [(key: LiveKey, event: PendingEvent)] = []
        for (key, liveQueue) in self.liveQueues where !liveQueue.isInFlight && liveQueue.notBefore <= now {
            if let event = liveQueue.events.first { dueEvents.append((key, event)) }
        }
        dueEvents.sort { $0.event.sequence < $1.event.sequence }
        var positions: [EventPosition] = []
        // The number of requests in flight to all failing apps together.
        var failingInFlight = self.failingApps.reduce(0) { $0 + self.inFlightPerApp[$1, default: 0] }
        for (key, event) in dueEvents {
            guard self.inFlightCount < self.limits.maxInFlight else { break }
            let isFailing = self.failingApps.contains(key.app)
            let maxInFlight = isFailing ? 1 : self.limits.maxInFlightPerApp
            guard self.inFlightPerApp[key.app, default: 0] < maxInFlight else { continue }
            if isFailing {
                guard failingInFlight < max(1, self.limits.maxInFlight / 2) else { continue }
                failingInFlight += 1
            }
            self.liveQueues[key]?.isInFlight = true
            self.inFlightPerApp[key.app, default: 0] += 1
            self.inFlightCount += 1
            positions.append(event.position)
        }
        return positions
    }

    /// When the next retry pause ends.
    ///
    /// An event whose pause has already ended is left out: it waits for the end of another request, not for a time.
    package func nextDue(after now: MonotonicTime) -> MonotonicTime? {
        self.liveQueues.values.lazy.filter { !$0.isInFlight && $0.notBefore > now }.map(\.notBefore).min()
    }

    /// Handles the end of an attempt to deliver an event.
    ///
    /// - Parameters:
    ///   - position: the position of the event's record.
    ///   - isDelivered: whether the backend accepted the event.
    ///   - jitter: a random number from 0 to 1; with 0 the pause is half as long as with 1.
    ///   - now: the time.
    /// - Returns: how the queue handles the event.
    package mutating func attemptEnded(
        _ position: EventPosition, isDelivered: Bool, jitter: Double, at now: MonotonicTime
    ) -> AttemptOutcome {
        guard let key = self.liveKeys[position], var liveQueue = self.liveQueues[key], liveQueue.isInFlight,
            var event = liveQueue.events.first,
            event.position == position
        else { return .notQueued }
        liveQueue.isInFlight = false
        self.requestEnded(key.app)
        if isDelivered { self.failingApps.remove(key.app) } else { self.failingApps.insert(key.app) }
        event.attempts += 1
        if !isDelivered, event.attempts < self.limits.maxAttempts {
            let backOff = ExponentialBackOff(
                firstPause: self.limits.minRetryPause, longestPause: self.limits.maxRetryPause)
            let pause = backOff.pause(afterEarlierFailures: event.attempts - 1).count
            let notBefore = now + Milliseconds(pause / 2 + Int64(Double(pause - pause / 2) * min(1, max(0, jitter))))
            liveQueue.notBefore = notBefore
            liveQueue.events[0] = event
            self.liveQueues[key] = liveQueue
            return .retry(notBefore: notBefore)
        }
        liveQueue.notBefore = .distantPast
        liveQueue.events.removeFirst()
        self.liveQueues[key] = liveQueue.events.isEmpty ? nil : liveQueue
        self.remove(position, key)
        return isDelivered ? .delivered : .abandoned
    }

    /// The progress of a partition as it may be committed now; nil if the partition is not assigned.
    package func checkpoint(_ partition: Int32) -> ReadingProgress.Checkpoint? { self.progress[partition]?.checkpoint }

    /// The assigned partitions, sorted.
    package var partitions: [Int32] { self.progress.keys.sorted() }

    /// Removes all events of a revoked partition, including those in flight.
    package mutating func partitionRevoked(_ partition: Int32) {
        self.progress[partition] = nil
        // All events of a live are in one partition, so the first event is enough to check.
        for (key, liveQueue) in self.liveQueues where liveQueue.events.first?.position.partition == partition {
            if liveQueue.isInFlight { self.requestEnded(key.app) }
            for event in liveQueue.events { self.remove(event.position, key) }
            self.liveQueues[key] = nil
        }
    }

    /// Decreases the numbers of requests in flight: to all apps, and to `app`.
    private mutating func requestEnded(_ app: AppID) {
        self.inFlightCount -= 1
        // The default is never used: an app with a request in flight has an entry.
        let remaining = self.inFlightPerApp[app, default: 1] - 1
        self.inFlightPerApp[app] = remaining > 0 ? remaining : nil
    }

    /// Removes an event that was delivered or abandoned, or whose partition was revoked.
    private mutating func remove(_ position: EventPosition, _ key: LiveKey) {
        self.liveKeys[position] = nil
        let remaining = self.queuedPerApp[key.app, default: 1] - 1
        self.queuedPerApp[key.app] = remaining > 0 ? remaining : nil
        self.progress[position.partition]?.eventFinished(position.offset, of: key.app)
    }
}

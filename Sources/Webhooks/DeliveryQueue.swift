// SPDX-License-Identifier: Apache-2.0
package import CoreKit
package import PlazaModel

/// Which events are told to which backend when: in order within a live, at least once, with growing pauses after a
/// failure, and given up at a bound.
///
/// Pure: times and chance come in. Each app has its share of memory; an app that uses its share up is behind, and its
/// further events are read again later (`ReadingProgress`). So a backend that is slow or dead costs no other app.
package struct DeliveryQueue: Sendable {
    /// Bounds and paces.
    package struct Limits: Sendable {
        /// Events held, shared evenly by the apps that have hooks.
        package var total = 5000
        /// Events held of one app at most.
        package var perApp = 500
        /// Requests to one app under way at once; one alone after a failure, until a try succeeds.
        package var inFlightPerApp = 8
        /// Requests under way at once; apps whose last try failed have at most half of them.
        package var inFlight = 64
        /// Tries of one event.
        package var attempts = 8
        /// The pause after the first failure; it doubles with each.
        package var firstPause = Milliseconds(500)
        /// The longest pause.
        package var longestPause = Milliseconds(30_000)

        /// The usual bounds.
        package init() {}
    }

    /// Where an event's record stands.
    package struct Place: Hashable, Sendable {
        package var partition: Int32
        package var offset: Int64

        package init(partition: Int32, offset: Int64) {
            self.partition = partition
            self.offset = offset
        }
    }

    /// What became of a try.
    package enum Ending: Hashable, Sendable {
        case delivered
        /// It is tried again, not before then.
        case again(Timestamp)
        case givenUp
        /// The partition is not ours any more.
        case unknown
    }

    /// Events to be read again.
    package struct Rereading: Hashable, Sendable {
        package var partition: Int32
        /// Where to begin.
        package var offset: Int64
        /// Whose events are meant; those of others were dealt with.
        package var apps: Set<AppID>

        package init(partition: Int32, offset: Int64, apps: Set<AppID>) {
            self.partition = partition
            self.offset = offset
            self.apps = apps
        }
    }

    private struct Item: Sendable {
        var place: Place
        var sequence: Int
        var attempts = 0
    }

    /// The events of one live, in order; only the first is under way.
    private struct Lane: Sendable {
        var items: [Item] = []
        var isInFlight = false
        var notBefore = Timestamp.distantPast
    }

    private let limits: Limits
    /// Events that may be held of one app.
    private let share: Int
    private var lanes: [LiveKey: Lane] = [:]
    private var keys: [Place: LiveKey] = [:]
    private var countOfApp: [AppID: Int] = [:]
    private var inFlightOfApp: [AppID: Int] = [:]
    private var inFlight = 0
    /// The apps whose last try failed.
    private var failing: Set<AppID> = []
    private var sequence = 0
    private var progress: [Int32: ReadingProgress] = [:]

    /// Nothing is held.
    ///
    /// - Parameters:
    ///   - limits: bounds and paces.
    ///   - apps: how many apps share the queue.
    package init(_ limits: Limits = Limits(), apps: Int = 1) {
        self.limits = limits
        self.share = max(1, min(limits.perApp, limits.total / max(1, apps)))
    }

    /// How many events are held.
    package var count: Int { self.keys.count }

    /// How many apps are behind, counted in each partition.
    package var behindCount: Int { self.progress.values.reduce(0) { $0 + $1.behindCount } }

    /// A partition is ours, and was read up to there.
    package mutating func assign(_ partition: Int32, _ commitment: ReadingProgress.Commitment) {
        self.progress[partition] = ReadingProgress(commitment)
    }

    /// Takes an event that was read for the first time.
    ///
    /// - Returns: false when its app is behind, and the event is read again later.
    package mutating func add(_ place: Place, of key: LiveKey) -> Bool {
        self.progress[place.partition, default: ReadingProgress()].read(place.offset)
        guard self.progress[place.partition]?.behind(key.app) == nil else { return false }
        return self.hold(place, of: key)
    }

    /// Takes an event that was read again, if it is one of those that are meant.
    ///
    /// - Parameters:
    ///   - place: the event's.
    ///   - key: its live.
    ///   - rereading: what is read again; an app that has no room once more leaves it, and is behind from here on.
    /// - Returns: whether the event is held.
    package mutating func addAgain(_ place: Place, of key: LiveKey, in rereading: inout Rereading) -> Bool {
        guard rereading.partition == place.partition, rereading.apps.contains(key.app),
            let from = self.progress[place.partition]?.behind(key.app), place.offset >= from
        else { return false }
        guard self.hold(place, of: key) else {
            rereading.apps.remove(key.app)
            return false
        }
        self.progress[place.partition]?.set(key.app, behind: place.offset + 1)
        return true
    }

    /// A record that tells nobody anything was read for the first time.
    package mutating func skip(_ place: Place) {
        self.progress[place.partition, default: ReadingProgress()].read(place.offset)
    }

    /// Holds an event if there is room; else its app is behind from here on.
    private mutating func hold(_ place: Place, of key: LiveKey) -> Bool {
        guard self.countOfApp[key.app, default: 0] < self.share else {
            self.progress[place.partition]?.set(key.app, behind: place.offset)
            return false
        }
        self.progress[place.partition]?.hold(place.offset, of: key.app)
        self.sequence += 1
        self.lanes[key, default: Lane()].items.append(Item(place: place, sequence: self.sequence))
        self.keys[place] = key
        self.countOfApp[key.app, default: 0] += 1
        return true
    }

    /// What is to be read again now, for apps that have room for it: at least half of their share.
    ///
    /// - Parameter last: the partition that was read again last; others come first.
    /// - Returns: where to begin and for whom, if anything is to be read again.
    package func rereading(after last: Int32) -> Rereading? {
        let partitions = self.progress.keys.sorted()
        for partition in partitions.filter({ $0 > last }) + partitions.filter({ $0 <= last }) {
            let ready = (self.progress[partition]?.allBehind ?? [:]).filter {
                self.countOfApp[$0.key, default: 0] <= self.share / 2
            }
            guard let first = ready.values.min() else { continue }
            return Rereading(partition: partition, offset: first, apps: Set(ready.keys))
        }
        return nil
    }

    /// All before `offset` was read again: apps that had room throughout are behind no more, if that was all there is.
    ///
    /// - Returns: whether it was all, or nobody has room any more.
    package mutating func readAgain(_ rereading: Rereading, upTo offset: Int64) -> Bool {
        guard let next = self.progress[rereading.partition]?.next, !rereading.apps.isEmpty else { return true }
        guard offset >= next else { return false }
        for app in rereading.apps { self.progress[rereading.partition]?.set(app, behind: nil) }
        return true
    }

    /// Which events are to be sent now, oldest first; they count as under way from here on.
    package mutating func due(at now: Timestamp) -> [Place] {
        guard self.inFlight < self.limits.inFlight else { return [] }
        var heads: [(key: LiveKey, item: Item)] = []
        for (key, lane) in self.lanes where !lane.isInFlight && lane.notBefore <= now {
            if let item = lane.items.first { heads.append((key, item)) }
        }
        heads.sort { $0.item.sequence < $1.item.sequence }
        var places: [Place] = []
        var ofFailing = self.failing.reduce(0) { $0 + self.inFlightOfApp[$1, default: 0] }
        for (key, item) in heads {
            guard self.inFlight < self.limits.inFlight else { break }
            let isFailing = self.failing.contains(key.app)
            let most = isFailing ? 1 : self.limits.inFlightPerApp
            guard self.inFlightOfApp[key.app, default: 0] < most else { continue }
            if isFailing {
                guard ofFailing < max(1, self.limits.inFlight / 2) else { continue }
                ofFailing += 1
            }
            self.lanes[key]?.isInFlight = true
            self.inFlightOfApp[key.app, default: 0] += 1
            self.inFlight += 1
            places.append(item.place)
        }
        return places
    }

    /// When the next pause ends, if one is held; what is due already waits for a place, not for a time.
    package func nextDue(after now: Timestamp) -> Timestamp? {
        self.lanes.values.lazy.filter { !$0.isInFlight && $0.notBefore > now }.map(\.notBefore).min()
    }

    /// A try has ended.
    ///
    /// - Parameters:
    ///   - place: the event's.
    ///   - isDelivered: whether the backend took it.
    ///   - chance: 0 to 1; the pause is between its half and its whole.
    ///   - now: the time.
    /// - Returns: what follows.
    package mutating func ended(_ place: Place, isDelivered: Bool, chance: Double, at now: Timestamp) -> Ending {
        guard let key = self.keys[place], var lane = self.lanes[key], lane.isInFlight, var item = lane.items.first,
            item.place == place
        else { return .unknown }
        lane.isInFlight = false
        self.leaveFlight(key.app)
        if isDelivered { self.failing.remove(key.app) } else { self.failing.insert(key.app) }
        item.attempts += 1
        if !isDelivered, item.attempts < self.limits.attempts {
            let doubled = self.limits.firstPause.count << Int64(min(20, item.attempts - 1))
            let pause = min(self.limits.longestPause.count, doubled)
            let until = now + Milliseconds(pause / 2 + Int64(Double(pause - pause / 2) * min(1, max(0, chance))))
            lane.notBefore = until
            lane.items[0] = item
            self.lanes[key] = lane
            return .again(until)
        }
        lane.notBefore = .distantPast
        lane.items.removeFirst()
        self.lanes[key] = lane.items.isEmpty ? nil : lane
        self.forget(place, key)
        return isDelivered ? .delivered : .givenUp
    }

    /// What may be committed of a partition; nil: it is not ours, or nothing was read.
    package func commitment(_ partition: Int32) -> ReadingProgress.Commitment? { self.progress[partition]?.commitment }

    /// The partitions that are ours or that something was read of.
    package var partitions: [Int32] { self.progress.keys.sorted() }

    /// A partition is not ours any more: its events are forgotten, what is under way too.
    package mutating func revoke(_ partition: Int32) {
        self.progress[partition] = nil
        for (key, lane) in self.lanes where lane.items.first?.place.partition == partition {
            // All events of a live stand in one partition.
            if lane.isInFlight { self.leaveFlight(key.app) }
            for item in lane.items { self.forget(item.place, key) }
            self.lanes[key] = nil
        }
    }

    private mutating func leaveFlight(_ app: AppID) {
        self.inFlight -= 1
        let left = self.inFlightOfApp[app, default: 1] - 1
        self.inFlightOfApp[app] = left > 0 ? left : nil
    }

    private mutating func forget(_ place: Place, _ key: LiveKey) {
        self.keys[place] = nil
        let left = self.countOfApp[key.app, default: 1] - 1
        self.countOfApp[key.app] = left > 0 ? left : nil
        self.progress[place.partition]?.end(place.offset, of: key.app)
    }
}

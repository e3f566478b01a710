// SPDX-License-Identifier: Apache-2.0
package import CoreKit
package import PlazaModel

/// Which events are told to which backend when: in order within a live, at least once, with growing pauses after a
/// failure, and given up at a bound.
///
/// Pure: times and chance come in. Holds at most `Limits.total` events, and of one app at most `Limits.perApp`; an app
/// that is behind further loses its newest events, so that no other app waits for it.
package struct DeliveryQueue: Sendable {
    /// Bounds and paces.
    package struct Limits: Sendable {
        /// Events held; beyond, no more are read.
        package var total = 5000
        /// Events held of one app; beyond, its further events are given up at once.
        package var perApp = 500
        /// Requests to one app under way at once.
        package var inFlightPerApp = 8
        /// Requests under way at once.
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

    /// A partition's progress.
    private struct Progress: Sendable {
        /// Behind the last record that was read.
        var next: Int64 = 0
        var open: Set<Int64> = []
    }

    private let limits: Limits
    private var lanes: [LiveKey: Lane] = [:]
    private var keys: [Place: LiveKey] = [:]
    private var countOfApp: [AppID: Int] = [:]
    private var inFlightOfApp: [AppID: Int] = [:]
    private var inFlight = 0
    private var sequence = 0
    private var progress: [Int32: Progress] = [:]

    /// Nothing is held.
    package init(_ limits: Limits = Limits()) { self.limits = limits }

    /// How many events are held.
    package var count: Int { self.keys.count }

    /// Whether no more should be read.
    package var isFull: Bool { self.count >= self.limits.total }

    /// Takes an event that was read.
    ///
    /// - Returns: false when its app is too far behind, and the event is given up.
    package mutating func add(_ place: Place, of key: LiveKey) -> Bool {
        self.progress[place.partition, default: Progress()].next = place.offset + 1
        guard self.countOfApp[key.app, default: 0] < self.limits.perApp else { return false }
        self.progress[place.partition]?.open.insert(place.offset)
        self.sequence += 1
        self.lanes[key, default: Lane()].items.append(Item(place: place, sequence: self.sequence))
        self.keys[place] = key
        self.countOfApp[key.app, default: 0] += 1
        return true
    }

    /// A record that tells nobody anything was read.
    package mutating func skip(_ place: Place) {
        self.progress[place.partition, default: Progress()].next = place.offset + 1
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
        for (key, item) in heads {
            guard self.inFlight < self.limits.inFlight else { break }
            guard self.inFlightOfApp[key.app, default: 0] < self.limits.inFlightPerApp else { continue }
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

    /// Up to where a partition's events are done with; nil: none was read.
    package func committable(_ partition: Int32) -> Int64? {
        guard let progress = self.progress[partition] else { return nil }
        return progress.open.min() ?? progress.next
    }

    /// The partitions that something was read of.
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
        self.progress[place.partition]?.open.remove(place.offset)
    }
}

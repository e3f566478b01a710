// SPDX-License-Identifier: Apache-2.0
package import MachineKit
import PlazaModel

/// The feed items of a stage: changes in quick succession are merged into few items (R12.11).
///
/// Each change is written at once to the topic `stages`, from which gateways answer reads and inform users who join.
/// The feed is copied to every viewer, so it gets all changes within `SeatStage.itemInterval` as one item.
extension SeatStep {
    /// Publishes the changed stage to the live's feed, or delays the item if the last item is too recent.
    ///
    /// An item with an urgent event or too many events is not delayed.
    mutating func publishItem(of record: StageRecord, interval: Milliseconds) {
        let events = self.stage.unpublishedEvents.map { $0 + self.events } ?? self.events
        let isTooEarly = self.stage.itemPublishedAt.map { self.moment.now < $0 + interval } ?? false
        if isTooEarly, events.count < SeatStage.undelayedEventCount, !self.events.contains(where: \.isUrgent) {
            self.stage.unpublishedEvents = events
        } else {
            self.effects.append(self.stage.makeItem(of: record, events, at: self.moment.now))
        }
    }
}

extension SeatStage {
    /// The minimum time between two feed items, so that any second has at most five; `publishItem` makes exceptions.
    package static let itemInterval = Milliseconds(200)
    /// An item with this many events is not delayed, so that rows and items have a limited size.
    static let undelayedEventCount = 64

    /// When the delayed feed item is published; nil when there is none.
    ///
    /// The time follows from `itemInterval`, because a row does not know the interval of its machine. A machine of a
    /// test may have the interval 0 instead, but such a machine delays no item.
    var nextItemTime: Timestamp? {
        self.unpublishedEvents.map { _ in (self.itemPublishedAt ?? .distantPast) + Self.itemInterval }
    }

    /// Takes the delayed feed item out of an open stage; nil when there is none.
    mutating func takeDelayedItem(at now: Timestamp) -> Effect? {
        guard self.removalTime == nil, let events = self.unpublishedEvents else { return nil }
        return self.makeItem(of: self.record, events, at: now)
    }

    /// Makes the feed item with all unpublished events, and records that it has been published at `now`.
    fileprivate mutating func makeItem(of record: StageRecord, _ events: [StageEvent], at now: Timestamp) -> Effect {
        self.unpublishedEvents = nil
        self.itemPublishedAt = now
        return .barrage(BarrageInput(self.key, .publish(content: .stage(record: record, events: events))))
    }
}

extension SeatRow {
    /// Takes the delayed feed item out of the row of an open stage; nil when there is none.
    mutating func takeDelayedItem(at now: Timestamp) -> Effect? {
        guard case .stage(var stage) = self, let item = stage.value.takeDelayedItem(at: now) else { return nil }
        self = .stage(stage: stage)
        return item
    }
}

extension StageEvent {
    /// Whether viewers must see the event at once: true for the rare events by which connections and battles begin, end
    /// or change their members.
    fileprivate var isUrgent: Bool {
        switch self {
        case .seatTaken, .seatLeft, .userMoved, .seatLocked, .seatUnlocked, .coHostMuted, .battleScored: false
        case .coHostJoined, .coHostLeft, .battleStarted, .battleUserJoined, .battleUserExited, .battleEnded: true
        }
    }
}

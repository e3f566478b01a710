// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel

/// The feed items of a stage: quick changes are merged into few items (R12.11).
///
/// Each change is written to the topic `stages` at once, from which gateways answer reads and members who join. Only
/// the feed, which is copied to every viewer, gets the changes of up to half a second in one item.
extension SeatStep {
    /// The number of events with which an item is published at once, so that rows and items have a limited size.
    static let eventsPerItem = 64

    /// Publishes the changed stage to the live's feed, or delays the item if there were too many in the last second.
    mutating func publishItem(of record: StageRecord, under limit: RateLimit?) {
        let events = self.stage.unpublishedEvents.map { $0 + self.events } ?? self.events
        var limiter = self.stage.itemLimiter ?? RateLimiter()
        let mustWait = limit.map { limiter.admit($0, at: self.moment.now) != nil } ?? false
        if limit != nil { self.stage.itemLimiter = limiter }
        if mustWait, events.count < Self.eventsPerItem, !self.events.contains(where: \.isUrgent) {
            self.stage.unpublishedEvents = events
        } else {
            self.appendItem(record, events)
        }
    }

    /// Publishes the delayed item, if there is one.
    mutating func publishDelayedItem() {
        guard let events = self.stage.unpublishedEvents else { return }
        _ = self.stage.itemLimiter?.admit(.stageItems, at: self.moment.now)
        self.appendItem(self.stage.record, events)
    }

    private mutating func appendItem(_ record: StageRecord, _ events: [StageEvent]) {
        self.stage.unpublishedEvents = nil
        self.effects.append(
            .barrage(BarrageInput(self.stage.key, .publish(content: .stage(record: record, events: events)))))
    }
}

extension SeatStage {
    /// When the delayed feed item is published; nil when there is none.
    var nextItemTime: Timestamp? {
        self.unpublishedEvents.map { _ in self.itemLimiter?.nextTime(.stageItems) ?? .distantPast }
    }
}

extension StageEvent {
    /// Whether viewers must see the event at once: beginnings and ends of connections and battles, which are few.
    fileprivate var isUrgent: Bool {
        switch self {
        case .seatTaken, .seatLeft, .userMoved, .seatLocked, .seatUnlocked, .coHostMuted, .battleScored: false
        case .coHostJoined, .coHostLeft, .battleStarted, .battleUserJoined, .battleUserExited, .battleEnded: true
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
import CoreKit
import PlazaModel
import Testing
import Webhooks

@Suite struct DeliveryQueueTests {
    private typealias Place = DeliveryQueue.Place

    private func place(_ offset: Int64, _ partition: Int32 = 0) -> Place { Place(partition: partition, offset: offset) }
    private func at(_ milliseconds: Int64) -> Timestamp { Timestamp(milliseconds: milliseconds) }
    private func key(_ live: String, app: AppID = "demo") -> LiveKey { LiveKey(app, LiveID(live)) }

    @Test func `events of one live go one after the other, those of others beside them`() {
        var queue = DeliveryQueue()
        for offset in 0..<3 { #expect(queue.add(self.place(Int64(offset)), of: self.key("a")) == true) }
        #expect(queue.add(self.place(3), of: self.key("b")) == true)
        #expect(queue.due(at: self.at(0)) == [self.place(0), self.place(3)])
        #expect(queue.due(at: self.at(0)).isEmpty)
        #expect(queue.ended(self.place(0), isDelivered: true, chance: 0, at: self.at(1)) == .delivered)
        #expect(queue.due(at: self.at(1)) == [self.place(1)])
    }

    @Test func `a failed event is tried again after growing pauses, and holds back its live alone`() {
        var queue = DeliveryQueue()
        #expect(queue.add(self.place(0), of: self.key("a")) == true)
        #expect(queue.add(self.place(1), of: self.key("a")) == true)
        #expect(queue.add(self.place(2), of: self.key("b")) == true)
        var now = self.at(1000)
        var pauses: [Int64] = []
        for attempt in 1...7 {
            #expect(queue.due(at: now).contains(self.place(0)), "\(attempt)")
            guard case .again(let until) = queue.ended(self.place(0), isDelivered: false, chance: 1, at: now) else {
                Issue.record("given up after \(attempt)")
                return
            }
            pauses.append((until - now).count)
            #expect(!queue.due(at: until - Milliseconds(1)).contains(self.place(0)))
            now = until
        }
        #expect(pauses == [500, 1000, 2000, 4000, 8000, 16_000, 30_000])
        #expect(queue.due(at: now) == [self.place(0)])
        #expect(queue.ended(self.place(0), isDelivered: false, chance: 1, at: now) == .givenUp, "after 8 tries")
        #expect(queue.due(at: now) == [self.place(1)])
    }

    @Test func `a pause is between its half and its whole`() {
        for chance in [0, 0.25, 1] {
            var queue = DeliveryQueue()
            #expect(queue.add(self.place(0), of: self.key("a")) == true)
            #expect(queue.due(at: self.at(0)) == [self.place(0)])
            let ending = queue.ended(self.place(0), isDelivered: false, chance: chance, at: self.at(0))
            #expect(ending == .again(self.at(250 + Int64(250 * chance))))
            #expect(queue.nextDue(after: self.at(0)) == self.at(250 + Int64(250 * chance)))
        }
    }

    @Test func `an offset is committed once all before it are done with`() {
        var queue = DeliveryQueue()
        #expect(queue.committable(0) == nil)
        for offset in 10..<13 { #expect(queue.add(self.place(Int64(offset)), of: self.key("\(offset)")) == true) }
        queue.skip(self.place(13))
        #expect(queue.due(at: self.at(0)).count == 3)
        #expect(queue.committable(0) == 10)
        #expect(queue.ended(self.place(11), isDelivered: true, chance: 0, at: self.at(0)) == .delivered)
        #expect(queue.committable(0) == 10)
        #expect(queue.ended(self.place(10), isDelivered: true, chance: 0, at: self.at(0)) == .delivered)
        #expect(queue.committable(0) == 12)
        #expect(queue.ended(self.place(12), isDelivered: true, chance: 0, at: self.at(0)) == .delivered)
        #expect(queue.committable(0) == 14)
        #expect(queue.partitions == [0] && queue.count == 0)
    }

    @Test func `I16 an app that is too far behind loses its newest events, and no other waits for it`() {
        var limits = DeliveryQueue.Limits()
        limits.perApp = 2
        limits.inFlightPerApp = 1
        var queue = DeliveryQueue(limits)
        #expect(queue.add(self.place(0), of: self.key("a")) == true)
        #expect(queue.add(self.place(1), of: self.key("b")) == true)
        #expect(queue.add(self.place(2), of: self.key("c")) == false)
        #expect(queue.add(self.place(3), of: self.key("a", app: "other")) == true)
        #expect(queue.due(at: self.at(0)) == [self.place(0), self.place(3)], "one of each app under way")
        #expect(queue.ended(self.place(0), isDelivered: true, chance: 0, at: self.at(0)) == .delivered)
        #expect(queue.add(self.place(4), of: self.key("c")) == true)
        #expect(queue.due(at: self.at(0)) == [self.place(1)])
    }

    @Test func `I16 no more is read than fits, and no more is under way than may be`() {
        var limits = DeliveryQueue.Limits()
        limits.total = 3
        limits.inFlight = 2
        var queue = DeliveryQueue(limits)
        for offset in 0..<3 {
            #expect(!queue.isFull)
            #expect(queue.add(self.place(Int64(offset)), of: self.key("\(offset)")) == true)
        }
        #expect(queue.isFull)
        #expect(queue.due(at: self.at(0)) == [self.place(0), self.place(1)])
        #expect(queue.nextDue(after: self.at(0)) == nil, "what waits for a place waits for no time")
        #expect(queue.ended(self.place(1), isDelivered: true, chance: 0, at: self.at(0)) == .delivered)
        #expect(!queue.isFull)
        #expect(queue.due(at: self.at(0)) == [self.place(2)])
    }

    @Test func `a partition that is another's is forgotten, with what is under way`() {
        var queue = DeliveryQueue()
        #expect(queue.add(self.place(0, 1), of: self.key("a")) == true)
        #expect(queue.add(self.place(0, 2), of: self.key("b")) == true)
        #expect(queue.due(at: self.at(0)).count == 2)
        queue.revoke(1)
        #expect(queue.ended(self.place(0, 1), isDelivered: true, chance: 0, at: self.at(0)) == .unknown)
        #expect(queue.committable(1) == nil && queue.count == 1)
        #expect(queue.add(self.place(0, 1), of: self.key("a")) == true, "it may come back")
        #expect(queue.due(at: self.at(0)) == [self.place(0, 1)])
    }
}

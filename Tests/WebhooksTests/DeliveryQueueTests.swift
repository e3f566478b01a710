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
        #expect(queue.due(at: self.at(0)) == [self.place(0), self.place(2)])
        _ = queue.ended(self.place(0), isDelivered: false, chance: 1, at: self.at(0))
        #expect(queue.ended(self.place(2), isDelivered: true, chance: 1, at: self.at(0)) == .delivered)
        var now = self.at(500)
        var pauses: [Int64] = []
        for attempt in 2...7 {
            #expect(queue.due(at: now).contains(self.place(0)), "\(attempt)")
            guard case .again(let until) = queue.ended(self.place(0), isDelivered: false, chance: 1, at: now) else {
                Issue.record("given up after \(attempt)")
                return
            }
            pauses.append((until - now).count)
            #expect(!queue.due(at: until - Milliseconds(1)).contains(self.place(0)))
            now = until
        }
        #expect(pauses == [1000, 2000, 4000, 8000, 16_000, 30_000])
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

    @Test func `what is committed says from where each app goes on, and no app holds back another`() {
        var queue = DeliveryQueue()
        #expect(queue.commitment(0) == nil)
        #expect(queue.add(self.place(10), of: self.key("a")) == true)
        #expect(queue.add(self.place(11), of: self.key("b")) == true)
        #expect(queue.add(self.place(12), of: self.key("a", app: "other")) == true)
        queue.skip(self.place(13))
        #expect(queue.due(at: self.at(0)).count == 3)
        #expect(queue.commitment(0) == .init(offset: 14, marks: ["demo": 10, "other": 12]))
        #expect(queue.ended(self.place(12), isDelivered: true, chance: 0, at: self.at(0)) == .delivered)
        #expect(queue.commitment(0) == .init(offset: 14, marks: ["demo": 10]))
        #expect(queue.ended(self.place(11), isDelivered: true, chance: 0, at: self.at(0)) == .delivered)
        #expect(queue.commitment(0) == .init(offset: 14, marks: ["demo": 10]))
        #expect(queue.ended(self.place(10), isDelivered: true, chance: 0, at: self.at(0)) == .delivered)
        #expect(queue.commitment(0) == .init(offset: 14))
        #expect(queue.partitions == [0] && queue.count == 0)
    }

    @Test func `I16 of more apps than have marks, those that are furthest hold back the offset`() {
        var queue = DeliveryQueue(DeliveryQueue.Limits(), apps: 100)
        for app in 0..<100 {
            #expect(queue.add(self.place(Int64(app)), of: self.key("a", app: AppID("app-\(app)"))) == true)
        }
        let commitment = queue.commitment(0)
        #expect(commitment?.offset == 64 && commitment?.marks.count == 64 && commitment?.marks["app-63"] == 63)
    }

    @Test func `what is committed beside an offset is read as it was written, and nothing else is`() {
        typealias Commitment = ReadingProgress.Commitment
        let commitment = Commitment(offset: 9, marks: ["shop": 4, "demo-1": 0])
        #expect(commitment.metadata == "v1 demo-1=0 shop=4")
        #expect(Commitment(offset: 9, metadata: commitment.metadata) == commitment)
        #expect(Commitment(offset: 9).metadata == "" && Commitment(offset: 9, metadata: "") == .init(offset: 9))
        for text in ["v2 shop=4", "v1 shop", "v1 shop=", "v1 =4", "v1 shop=-1", "v1 a=1=2", "v1 sh/op=4", "shop=4"] {
            #expect(Commitment(offset: 9, metadata: text) == nil, "\(text)")
        }
        let name = String(repeating: "a", count: 32)
        let most = Commitment(
            offset: .max,
            marks: Dictionary(
                uniqueKeysWithValues: (0..<ReadingProgress.marks).map { (AppID(name.dropLast(2) + "\($0 + 10)"), .max) }
            ))
        #expect(most.metadata.utf8.count < 4096, "as much as a broker keeps")
    }

    @Test func `I16 an app that has used up its share is passed over, and read again once it has room`() throws {
        var limits = DeliveryQueue.Limits()
        limits.perApp = 2
        var queue = DeliveryQueue(limits)
        let keys = [0: "a", 1: "b", 2: "a", 4: "c", 5: "a"]
        for offset in 0..<6 {
            let place = self.place(Int64(offset))
            let key = keys[offset].map { self.key($0) } ?? self.key("a", app: "other")
            #expect(queue.add(place, of: key) == [0, 1, 3].contains(offset), "\(offset)")
        }
        #expect(queue.behindCount == 1 && queue.count == 3)
        #expect(queue.due(at: self.at(0)) == [self.place(0), self.place(1), self.place(3)], "no other app waits")
        #expect(queue.rereading(after: -1) == nil, "there is no room")
        #expect(queue.ended(self.place(3), isDelivered: true, chance: 0, at: self.at(0)) == .delivered)
        #expect(queue.commitment(0) == .init(offset: 6, marks: ["demo": 0]))
        #expect(queue.ended(self.place(1), isDelivered: true, chance: 0, at: self.at(0)) == .delivered)

        var rereading = try #require(queue.rereading(after: -1))
        #expect(rereading == .init(partition: 0, offset: 2, apps: ["demo"]))
        #expect(queue.addAgain(self.place(2), of: self.key("a"), in: &rereading) == true)
        #expect(
            queue.addAgain(self.place(3), of: self.key("a", app: "other"), in: &rereading) == false, "it was delivered")
        #expect(queue.addAgain(self.place(4), of: self.key("c"), in: &rereading) == false, "full once more")
        #expect(queue.ended(self.place(0), isDelivered: true, chance: 0, at: self.at(0)) == .delivered)
        #expect(queue.addAgain(self.place(5), of: self.key("a"), in: &rereading) == false, "4 comes before")
        #expect(queue.readAgain(rereading, upTo: 6) == true, "nobody has room")
        #expect(queue.add(self.place(6), of: self.key("d")) == false, "it is still behind")
        #expect(queue.commitment(0) == .init(offset: 7, marks: ["demo": 2]))

        rereading = try #require(queue.rereading(after: 0))
        #expect(rereading == .init(partition: 0, offset: 4, apps: ["demo"]))
        #expect(queue.addAgain(self.place(4), of: self.key("c"), in: &rereading) == true)
        #expect(queue.due(at: self.at(0)) == [self.place(2), self.place(4)])
        for offset: Int64 in [2, 4] {
            #expect(queue.ended(self.place(offset), isDelivered: true, chance: 0, at: self.at(0)) == .delivered)
        }
        #expect(queue.addAgain(self.place(5), of: self.key("a"), in: &rereading) == true)
        #expect(queue.readAgain(rereading, upTo: 6) == false, "6 is to be read again as well")
        #expect(queue.addAgain(self.place(6), of: self.key("d"), in: &rereading) == true)
        #expect(queue.readAgain(rereading, upTo: 7) == true)
        #expect(queue.behindCount == 0)
        #expect(queue.rereading(after: 0) == nil)
        #expect(queue.add(self.place(7), of: self.key("a")) == false, "5 and 6 are its share")
    }

    @Test func `an owner goes on where the one before stopped, each app from its own place`() throws {
        var queue = DeliveryQueue()
        queue.assign(0, .init(offset: 9, marks: ["demo": 4]))
        #expect(queue.commitment(0) == .init(offset: 9, marks: ["demo": 4]))
        #expect(queue.add(self.place(9), of: self.key("a")) == false, "what is before comes first")
        #expect(queue.add(self.place(10), of: self.key("a", app: "other")) == true)
        var rereading = try #require(queue.rereading(after: -1))
        #expect(rereading == .init(partition: 0, offset: 4, apps: ["demo"]))
        for offset: Int64 in [4, 9] {
            #expect(queue.addAgain(self.place(offset), of: self.key("a"), in: &rereading) == true)
        }
        #expect(queue.readAgain(rereading, upTo: 11) == true)
        #expect(queue.behindCount == 0)
        #expect(queue.due(at: self.at(0)) == [self.place(10), self.place(4)])
    }

    @Test func `partitions take turns at being read again`() {
        var queue = DeliveryQueue()
        for partition: Int32 in 0...2 { queue.assign(partition, .init(offset: 9, marks: ["demo": 4])) }
        #expect(queue.rereading(after: -1)?.partition == 0)
        #expect(queue.rereading(after: 0)?.partition == 1)
        #expect(queue.rereading(after: 2)?.partition == 0)
    }

    @Test func `I16 no more is held than fits, whatever apps there are`() {
        var limits = DeliveryQueue.Limits()
        limits.total = 10
        var queue = DeliveryQueue(limits, apps: 3)
        for offset in 0..<30 {
            let key = self.key("a", app: AppID("app-\(offset % 3)"))
            #expect(queue.add(self.place(Int64(offset)), of: key) == (offset < 9))
        }
        #expect(queue.count == 9 && queue.behindCount == 3)
    }

    @Test func `I16 no more is under way than may be, and of an app that fails one, until it takes an event`() {
        var limits = DeliveryQueue.Limits()
        limits.inFlight = 4
        limits.inFlightPerApp = 2
        var queue = DeliveryQueue(limits)
        for offset in 0..<4 { #expect(queue.add(self.place(Int64(offset)), of: self.key("\(offset)")) == true) }
        #expect(queue.due(at: self.at(0)) == [self.place(0), self.place(1)])
        #expect(queue.nextDue(after: self.at(0)) == nil, "what waits for a place waits for no time")
        _ = queue.ended(self.place(0), isDelivered: false, chance: 0, at: self.at(0))
        #expect(queue.due(at: self.at(0)).isEmpty, "1 is under way")
        _ = queue.ended(self.place(1), isDelivered: false, chance: 0, at: self.at(0))
        #expect(queue.due(at: self.at(0)) == [self.place(2)])
        _ = queue.ended(self.place(2), isDelivered: true, chance: 0, at: self.at(0))
        #expect(queue.due(at: self.at(1000)) == [self.place(0), self.place(1)])
    }

    @Test func `I16 apps that fail leave half of the places to the others`() {
        var limits = DeliveryQueue.Limits()
        limits.inFlight = 4
        var queue = DeliveryQueue(limits, apps: 9)
        for app in 0..<4 {
            #expect(queue.add(self.place(Int64(app)), of: self.key("a", app: AppID("dead-\(app)"))) == true)
        }
        #expect(queue.due(at: self.at(0)).count == 4)
        for app in 0..<4 { _ = queue.ended(self.place(Int64(app)), isDelivered: false, chance: 0, at: self.at(0)) }
        for offset in 4..<9 { #expect(queue.add(self.place(Int64(offset)), of: self.key("\(offset)")) == true) }
        #expect(queue.due(at: self.at(1000)) == [self.place(0), self.place(1), self.place(4), self.place(5)])
    }

    @Test func `a partition that is another's is forgotten, with what is under way`() {
        var queue = DeliveryQueue()
        #expect(queue.add(self.place(0, 1), of: self.key("a")) == true)
        #expect(queue.add(self.place(0, 2), of: self.key("b")) == true)
        #expect(queue.due(at: self.at(0)).count == 2)
        queue.revoke(1)
        #expect(queue.ended(self.place(0, 1), isDelivered: true, chance: 0, at: self.at(0)) == .unknown)
        #expect(queue.commitment(1) == nil && queue.count == 1)
        #expect(queue.add(self.place(0, 1), of: self.key("a")) == true, "it may come back")
        #expect(queue.due(at: self.at(0)) == [self.place(0, 1)])
    }
}

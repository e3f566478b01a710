// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel
import Testing

@testable import GatewayCore

extension DeliveryLedger {
    /// Whether every item that is due to a viewer has one of four states (I10 in docs/RULES.md).
    ///
    /// It is delivered, shed, lost with the viewer's connection, or deferred until the viewer reads.
    fileprivate var isBalanced: Bool {
        self.due == self.delivered + self.shed.reduce(0, +) + self.disconnected + self.deferred && self.deferred >= 0
    }
}

/// When items and heartbeats are sent, which items are shed, when the broker counts as away, and stored notices.
///
/// Times are in milliseconds. To shed an item is to leave it out for a slow reader.
@Suite struct DeliveryTests {
    @Test
    func `a quiet live flushes immediately, a busy one at intervals that leave half of the loop's time to others`() {
        var plan = FlushPlan()
        #expect(plan.flushTime(for: .barrage, at: 1000) == 1000, "the first flush need not wait")
        // The plan keeps a moving average of the durations, which begins at 0. After forty flushes of 5 ms each, one
        // every 100 ms, it is nearly 5 ms.
        for flush in 0..<40 {
            plan.flushed(at: MonotonicTime(milliseconds: 1000 + Int64(flush) * 100), tookMicroseconds: 5000)
        }
        #expect((9...10).contains(plan.interval.count), "flushes of 5 ms may come every 10 ms, twice their duration")
        let lastFlush = MonotonicTime(milliseconds: 1000 + 39 * 100)
        #expect(plan.flushTime(for: .tip, at: lastFlush) == lastFlush + plan.interval)
        let withinInterval = lastFlush + Milliseconds(1)
        #expect(plan.flushTime(for: .barrage, at: withinInterval) > withinInterval)
        // The last flush was 21 ms ago, and the interval is 10 ms at most.
        let afterInterval = lastFlush + Milliseconds(21)
        #expect(plan.flushTime(for: .barrage, at: afterInterval) == afterInterval)
    }

    @Test func `control items and gifts are flushed immediately, other items within 100 ms`() {
        var plan = FlushPlan()
        // Flushes of 0.9 s would need an interval of 1.8 s, but an interval has at most 100 ms. All flushes are at time
        // 1000, so the next flush of barrage is at 1100.
        for _ in 0..<40 { plan.flushed(at: 1000, tookMicroseconds: 900_000) }
        #expect(plan.interval == FlushPlan.maxWait)
        #expect(plan.flushTime(for: .control, at: 1001) == 1001)
        #expect(plan.flushTime(for: .gift, at: 1001) == 1001)
        #expect(plan.flushTime(for: .barrage, at: 1001) == 1100)
    }

    @Test func `I16 items are shed for a slow reader by class, the lowest first`() {
        let budget = DeliveryBudget(bytes: 8000)
        // Counters are shed when at least an eighth of the budget is pending (1000 bytes). Tips, such as a user's
        // entry, are shed from a quarter on (2000), and barrage from a half on (4000). When the whole budget is
        // pending, all further items are deferred.
        #expect(budget.level(pendingBytes: 0) == .everything)
        #expect(budget.level(pendingBytes: 999) == .everything)
        #expect(budget.level(pendingBytes: 1000) == .withoutCounters)
        #expect(budget.level(pendingBytes: 2000) == .withoutTips)
        #expect(budget.level(pendingBytes: 4000) == .withoutBarrage)
        #expect(budget.level(pendingBytes: 8000) == .deferred)
        // A higher class has a smaller value of `FeedClass`, and a level that sheds less a smaller value of
        // `DeliveryLevel`.
        for level in DeliveryLevel.allCases {
            for feedClass in FeedClass.allCases where level.admits(feedClass) {
                for higher in FeedClass.allCases where higher < feedClass {
                    #expect(level.admits(higher), "a level that admits a class admits all higher classes")
                }
                for lowerLevel in DeliveryLevel.allCases where lowerLevel < level {
                    #expect(lowerLevel.admits(feedClass), "a level that sheds less admits at least the same classes")
                }
            }
        }
        #expect(DeliveryLevel.withoutBarrage.admits(.gift) && !DeliveryLevel.withoutBarrage.admits(.barrage))
    }

    @Test func `I10 the ledger balances after any order of events`() {
        var random = SeededRandom(seed: 5)
        var ledger = DeliveryLedger()
        // How many items are deferred for each of ten readers.
        var deferredItems = [Int](repeating: 0, count: 10)
        for _ in 0..<10_000 {
            let reader = Int.random(in: 0..<10, using: &random)
            let items = Int.random(in: 1...5, using: &random)
            switch Int.random(in: 0..<5, using: &random) {
            case 0: ledger.countDelivered(items: items, viewers: 7)
            case 1: ledger.countShed(.tip, items: items)
            case 2:
                ledger.countDeferred(items: items)
                deferredItems[reader] += items
            case 3:
                // A replay also sends `items` items that were never deferred.
                ledger.countDeliveredLate(items: deferredItems[reader] + items, ofDeferred: deferredItems[reader])
                deferredItems[reader] = 0
            default:
                ledger.countDisconnected(deferred: deferredItems[reader])
                deferredItems[reader] = 0
            }
            #expect(ledger.isBalanced)
            #expect(ledger.deferred == deferredItems.reduce(0, +))
        }
    }

    /// A gateway sends heartbeats to presence, which report that its members still watch.
    ///
    /// A round reports each member once. It has `stepsPerRound` steps, each of which reports some of the members.
    @Test func `each member's heartbeat is sent exactly once per round while others join and leave`() {
        var random = SeededRandom(seed: 11)
        for seed in 0..<40 {
            var heartbeatCursor = HeartbeatCursor(seed: seed)
            var members = Array(0..<Int.random(in: 0...60, using: &random))
            // Two of three members stay. The others may leave during the round.
            let staying = Set(members.filter { $0 % 3 != 0 })
            // Members who join during the round get the numbers from 1000 on.
            var nextMember = 1000
            // The measured round must begin at a round's first step, so the cursor first advances by a whole round or
            // more. The seed shifts the rounds: a round begins when `step + seed` is a multiple of `stepsPerRound`.
            var step = 0
            repeat {
                _ = heartbeatCursor.advance(step: step, memberCount: members.count)
                step += 1
            } while heartbeatCursor.reportedCount != 0 || step < HeartbeatPlan.stepsPerRound
            while (step + seed) % HeartbeatPlan.stepsPerRound != 0 {
                _ = heartbeatCursor.advance(step: step, memberCount: members.count)
                step += 1
            }
            var reportCounts: [Int: Int] = [:]
            for _ in 0..<HeartbeatPlan.stepsPerRound {
                for index in heartbeatCursor.advance(step: step, memberCount: members.count) {
                    reportCounts[members[index], default: 0] += 1
                }
                step += 1
                if Bool.random(using: &random), let index = members.indices.randomElement(using: &random),
                    !staying.contains(members[index])
                {
                    // A removal may move other members to free places, so that the reported ones stay together.
                    for (from, to) in heartbeatCursor.memberRemoved(at: index, last: members.count - 1) {
                        members[to] = members[from]
                    }
                    members.removeLast()
                }
                if Bool.random(using: &random) {
                    members.append(nextMember)
                    nextMember += 1
                }
            }
            #expect(heartbeatCursor.reportedCount == 0)
            for member in staying { #expect(reportCounts[member] == 1, "member \(member) with seed \(seed)") }
            #expect(reportCounts.values.allSatisfy { $0 == 1 }, "nobody is reported twice in the round")
        }
    }

    @Test func `lives with one member send their heartbeats in different steps, and a lease lasts nine rounds`() {
        var steps: Set<Int> = []
        for seed in 0..<HeartbeatPlan.stepsPerRound {
            var heartbeatCursor = HeartbeatCursor(seed: seed)
            for step in 0..<HeartbeatPlan.stepsPerRound
            where !heartbeatCursor.advance(step: step, memberCount: 1).isEmpty {
                steps.insert(step)
            }
        }
        #expect(steps.count == HeartbeatPlan.stepsPerRound, "each seed gives another step")
        // A lease, after which presence takes a member for lost, lasts 90 s here. 90 s / 9 rounds = 10 s a round, and
        // 10 s / 20 steps = 500 ms a step.
        #expect(HeartbeatPlan(lease: .seconds(90)).stepInterval == Milliseconds(500))
    }

    /// While the broker is away, calls are rejected, and a probe asks the broker whether it is back.
    ///
    /// `beginProbing` returns whether the caller must begin a probe, and `continueProbing` whether the running probe
    /// must ask again.
    @Test func `a broker without a delivery 1 s after a lost connection is away until a probe or delivery succeeds`() {
        var health = BrokerHealth()
        #expect(health.admitCall(at: 0) == true)
        #expect(health.isHealthy)
        health.connectionLost()
        health.connectionLost()
        // The broker has 1 s to deliver, from the first call after the loss on: here from 1500 to 2500.
        #expect(health.admitCall(at: 1500) == true)
        #expect(health.admitCall(at: 2499) == true)
        #expect(health.beginProbing() == false)
        for call in 0..<100 {
            #expect(health.admitCall(at: MonotonicTime(milliseconds: 2500 + 500 * Int64(call))) == false)
        }

        #expect(health.beginProbing() == true)
        #expect(health.beginProbing() == false, "a probe is running already")
        health.connectionLost()
        #expect(health.continueProbing() == true)
        health.probeAnswered()
        #expect(health.isHealthy == false, "the broker has delivered nothing yet")
        #expect(health.continueProbing() == false)

        // The probe was answered, so calls are admitted again. But the broker delivers no record, so after one second
        // calls are rejected again.
        #expect(health.admitCall(at: 60_000) == true)
        #expect(health.admitCall(at: 60_999) == true)
        #expect(health.admitCall(at: 61_000) == false)

        #expect(health.beginProbing() == true)
        health.recordDelivered()
        #expect(health.isHealthy && health.admitCall(at: 61_001) == true)
        health.probeAnswered()
        #expect(health.isHealthy, "a late probe answer changes nothing")
        #expect(health.continueProbing() == false)
    }

    @Test func `the broker is away as soon as a record times out`() {
        var health = BrokerHealth()
        #expect(health.admitCall(at: 0) == true)
        health.deliveryTimedOut()
        #expect(health.admitCall(at: 5000) == false)
        #expect(health.beginProbing() == true)
        health.probeAnswered()
        health.deliveryTimedOut()
        #expect(health.admitCall(at: 5001) == false)
        #expect(health.beginProbing() == false, "the first probe has not ended")
        #expect(health.continueProbing() == true)
        health.recordDelivered()
        // Before the probe notices that the broker is back, the broker is away again.
        health.deliveryTimedOut()
        #expect(health.continueProbing() == true, "the probe must not end")
    }

    @Test func `a connection that is lost and reopened immediately makes no call fail`() {
        var health = BrokerHealth()
        health.connectionLost()
        // Calls come for 100 ms, much less than 1 s, before the broker delivers again.
        for time in 60_000..<60_100 { #expect(health.admitCall(at: MonotonicTime(milliseconds: Int64(time))) == true) }
        health.recordDelivered()
        #expect(health.isHealthy)
    }

    @Test func `a user gets the notices after an id, and a notice is kept for 60 s and added only once`() {
        var ring = NoticeRing()
        let bob = UserKey("demo", "bob")
        func entry(_ offset: Int64, to user: UserKey) -> NoticeRing.Entry {
            NoticeRing.Entry(
                id: NoticeID(partition: 3, offset: offset),
                notice: Notice(to: user, live: "arena", at: 0, content: .battleNotStarted(battle: "b-1")), json: [])
        }
        // A notice's id is `PARTITION-OFFSET`. The ring has no notice yet, so its last offset is -1, as before offset
        // 0.
        #expect(ring.lastID(ofPartition: 3).text == "3--1")
        #expect(ring.append(entry(5, to: bob), at: 0) == true)
        #expect(ring.append(entry(5, to: bob), at: 0) == false, "a repeated notice")
        #expect(ring.append(entry(6, to: UserKey("demo", "eve")), at: 10) == true)
        #expect(ring.append(entry(9, to: bob), at: 20_000) == true)
        #expect(ring.entries(of: bob, after: NoticeID(partition: 3, offset: 5)).map(\.id.offset) == [9])
        #expect(ring.entries(of: bob, after: NoticeID(partition: 3, offset: -1)).map(\.id.offset) == [5, 9])
        #expect(
            ring.entries(of: UserKey("other", "bob"), after: ring.lastID(ofPartition: 0)).isEmpty,
            "I17: a user of another app gets none")

        // At 60,011 only the notice that was added at 20,000 is younger than 60 s.
        ring.prune(at: 60_011)
        #expect(ring.entries(of: bob, after: NoticeID(partition: 3, offset: -1)).map(\.id.offset) == [9])
        #expect(ring.count == 1)

        for text in ["3--1", "0-0", "12-99"] { #expect(NoticeID(text: text)?.text == text) }
        for text in ["", "3", "-1-2", "x-1", "1-x", "1--2"] { #expect(NoticeID(text: text) == nil) }
    }

    @Test func `a sign-in notice that ends no session is not stored, and is recognized when it is repeated`() {
        var ring = NoticeRing()
        let bob = UserKey("demo", "bob")
        /// A notice that the user has signed in elsewhere.
        ///
        /// If the sign-in ends the user's other sessions, the notice is stored, so that it can be resent to these
        /// sessions.
        func entry(_ offset: Int64, endsOtherSessions: Bool) -> NoticeRing.Entry {
            NoticeRing.Entry(
                id: NoticeID(partition: 3, offset: offset),
                notice: Notice(
                    to: bob, live: "", at: 0,
                    content: .signedInElsewhere(
                        session: "s-1", connection: "x", attempt: 1, isOnly: endsOtherSessions)),
                json: [])
        }
        #expect(ring.append(entry(5, endsOtherSessions: false), at: 0) == true)
        #expect(ring.append(entry(5, endsOtherSessions: false), at: 0) == false, "the ring recognizes the repetition")
        #expect(ring.count == 0, "the notice is not stored")
        #expect(ring.lastID(ofPartition: 3).offset == 5)
        #expect(ring.append(entry(6, endsOtherSessions: true), at: 0) == true)
        #expect(ring.entries(of: bob, after: NoticeID(partition: 3, offset: -1)).map(\.id.offset) == [6])
    }

    /// A notice of partition 0 whose JSON has this number of bytes.
    private static func entry(_ offset: Int64, to user: UserKey, bytes: Int = 0) -> NoticeRing.Entry {
        NoticeRing.Entry(
            id: NoticeID(partition: 0, offset: offset),
            notice: Notice(to: user, live: "arena", at: 0, content: .battleNotStarted(battle: "b-1")),
            json: Array(repeating: UInt8(ascii: " "), count: bytes))
    }

    @Test func `I16 the number of stored notices is limited, in all and for each user`() {
        var ring = NoticeRing()
        let bob = UserKey("demo", "bob")
        let start = NoticeID(partition: 0, offset: -1)
        let limit = NoticeRing.maxNoticesOfUser
        for offset in 0..<limit + 5 { _ = ring.append(Self.entry(Int64(offset), to: bob), at: 0) }
        #expect(ring.entries(of: bob, after: start).map(\.id.offset) == Array(5..<Int64(limit + 5)))
        for offset in limit + 5..<NoticeRing.maxNotices + 10 {
            _ = ring.append(Self.entry(Int64(offset), to: UserKey("demo", UserID("u-\(offset / 100)"))), at: 1)
        }
        #expect(ring.count == NoticeRing.maxNotices)
        #expect(ring.entries(of: bob, after: start).first?.id.offset == 10, "Bob's notices are the oldest")
        ring.prune(at: 60_001)
        #expect(ring.entries(of: bob, after: start).isEmpty && ring.count == NoticeRing.maxNotices - limit + 5)
        ring.prune(at: 60_002)
        #expect(ring.count == 0 && ring.byteCount == 0)
    }

    @Test func `I16 many notices of one user do not push out those of other users`() {
        var ring = NoticeRing()
        let eve = UserKey("demo", "eve")
        _ = ring.append(Self.entry(0, to: eve), at: 0)
        for offset in 1...Int64(4 * NoticeRing.maxNotices) {
            _ = ring.append(Self.entry(offset, to: UserKey("demo", "bob")), at: 0)
        }
        #expect(ring.count == NoticeRing.maxNoticesOfUser + 1)
        #expect(ring.entries(of: eve, after: NoticeID(partition: 0, offset: -1)).count == 1)
        ring.prune(at: 60_001)
        #expect(ring.count == 0 && ring.byteCount == 0)
    }

    @Test func `I16 an app with many notices does not push out those of another app`() {
        var ring = NoticeRing()
        let bob = UserKey("quiet", "bob")
        _ = ring.append(Self.entry(0, to: bob), at: 0)
        let bytes = 16_000
        // These notices have one and a half times the bytes that the ring may hold.
        let count = 3 * NoticeRing.maxBytes / (2 * bytes)
        for offset in 1...count {
            let user = UserKey("loud", UserID("u-\(offset % 50)"))
            _ = ring.append(Self.entry(Int64(offset), to: user, bytes: bytes), at: 0)
        }
        #expect(ring.byteCount <= NoticeRing.maxBytes && ring.byteCount > NoticeRing.maxBytes - 3 * bytes)
        #expect(ring.entries(of: bob, after: NoticeID(partition: 0, offset: -1)).count == 1)
    }
}

// SPDX-License-Identifier: Apache-2.0
import MachineKit
import MachineTestSupport
import PlazaModel
import StageCore
import Testing

/// How frequent changes of a stage are merged into few feed items: at most one item every 200 ms.
@Suite struct StageItemTests {
    /// A live whose machine leaves 200 ms between two feed items; the item of the opening was published 10 s ago.
    private func openedHarness(mode: TakeSeatMode = .apply) -> SeatHarness {
        var harness = SeatHarness.unopened
        harness.machine = MachineHarness(SeatMachine())
        _ = harness.handle(.opened(epoch: 7, info: SeatHarness.live(seats: 8, mode: mode)))
        _ = harness.advance(milliseconds: 10_000)
        return harness
    }

    /// The stage items that `effects` publish to the feed, in order.
    private func items(_ effects: [Effect]) -> [(record: StageRecord, events: [StageEvent])] {
        effects.feedItems.compactMap { if case .stage(let record, let events) = $0 { (record, events) } else { nil } }
    }

    /// Rules: R12.11.
    @Test
    func `I9 however fast devices change, any second has at most five stage items, and the last item is up to date`() {
        var harness = self.openedHarness()
        // olga takes seat 1, and then turns the microphone on and off.
        _ = harness.call("olga") { .take(seatIndex: 1, caller: $0) }
        _ = harness.advance(milliseconds: 10_000)
        var times: [Int64] = []
        var lastShown: StageRecord?
        /// Notes the times of the stage items among the effects, and the record of the last one.
        func recordItems(_ effects: [Effect]) {
            for item in self.items(effects) {
                times.append(harness.machine.moment.now.milliseconds)
                lastShown = item.record
            }
        }
        // 160 calls at uneven times, about 8 in a second. The topic `stages` has each change at once.
        for round in 0..<160 {
            let effects = harness.call("olga") {
                .device(microphone: round.isMultiple(of: 2), camera: nil, suspend: nil, caller: $0)
            }
            #expect(effects.code == .success && effects.stages.last == harness.stage?.record)
            recordItems(effects)
            // The pause after each call consists of five parts of 5 to 45 ms, on average 5 * 25 = 125 ms.
            for _ in 0..<5 { recordItems(harness.advance(milliseconds: Int64(5 + (round * 7) % 41))) }
        }
        for _ in 0..<20 { recordItems(harness.advance(milliseconds: 50)) }
        #expect(lastShown == harness.stage?.record, "the last item shows the last change")
        let itemsInSecond = times.map { start in times.count { $0 >= start && $0 < start + 1000 } }
        #expect(itemsInSecond.max() == 5)
    }

    /// Rules: R12.11.
    @Test func `a change is shown at once, and the changes of the next 200 ms in one item with all their events`() {
        var harness = self.openedHarness()
        #expect(self.items(harness.call("adam") { .take(seatIndex: 1, caller: $0) }).map(\.events.count) == [1])
        #expect(self.items(harness.call("anna") { .take(seatIndex: 2, caller: $0) }).isEmpty)
        #expect(self.items(harness.call("adam") { .leave(caller: $0) }).isEmpty)
        #expect(self.items(harness.advance(milliseconds: 199)).isEmpty)
        let merged = self.items(harness.advance(milliseconds: 1))
        #expect(merged.map(\.record) == [harness.stage?.record])
        #expect(
            merged.map(\.events) == [
                [.seatTaken(index: 2, user: userInfo("anna")), .seatLeft(index: 1, user: userInfo("adam"))]
            ])
        #expect(self.items(harness.advance(milliseconds: 5000)).isEmpty, "an item is published once")
    }

    /// Rules: R12.11.
    @Test func `a delayed item is published early when the live ends and when a battle begins`() {
        for liveEnds in [true, false] {
            var harness = self.openedHarness()
            for _ in 1...2 {
                _ = harness.call("olga") { .take(seatIndex: 1, caller: $0) }
                _ = harness.call("olga") { .leave(caller: $0) }
            }
            _ = harness.call("olga") { .take(seatIndex: 1, caller: $0) }
            // Of the five events (three takes and two leaves), the first was published at once.
            #expect(harness.stage?.unpublishedEvents?.count == 4)
            let effects =
                liveEnds
                ? harness.handle(.ended(ending: ending()))
                : harness.handle(
                    .connection(
                        view: nil, battle: nil, revision: 1, events: [.battleStarted(battle: "b")], otherBattles: nil))
            // The beginning of the battle is the fifth event.
            #expect(self.items(effects).map(\.events.count) == [liveEnds ? 4 : 5])
            #expect(self.items(harness.advance(milliseconds: 1000)).isEmpty, "the delayed item is published only once")
        }
    }

    /// Rules: R12.11.
    @Test func `the 64th event of a delayed item publishes it early, and the stage's row is decoded as encoded`()
        throws
    {
        var harness = self.openedHarness(mode: .free)
        var eventCounts: [Int] = []
        // Each of ten users takes seat 1 and leaves it, four times: 80 events, during which the clock does not advance.
        // The eight calls of a user are below the rate limit of ten a second.
        for round in 0..<40 {
            let user = UserID("guest\(round % 10)")
            let taken = harness.call(user) { .take(seatIndex: 1, caller: $0) }
            let left = harness.call(user) { .leave(caller: $0) }
            #expect(taken.code == .success && left.code == .success)
            eventCounts += self.items(taken + left).map(\.events.count)
            #expect(try harness.machine.roundTripsThroughStateTopic())
        }
        // The first event is published at once, the next 64 in one item, and the last 15 when the 200 ms are over.
        #expect(eventCounts == [1, 64])
        #expect(self.items(harness.advance(milliseconds: 200)).map(\.events.count) == [15])
    }
}

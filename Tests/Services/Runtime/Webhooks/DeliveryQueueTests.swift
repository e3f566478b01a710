// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel
import Testing
import Webhooks

/// Tests of `DeliveryQueue`, the queue of the webhook events of all apps.
///
/// An event is identified by its position: its partition and offset in the topic of webhook events. `add` returns
/// whether it has queued the event. It returns `false` if the app lags, that is, if the app has used up its share of
/// the queue. Then a catch-up reads the event again later. `attemptEnded` reports the end of an HTTP request with the
/// event. Events are in partition 0 and belong to the app "demo", unless a test says otherwise.
@Suite struct DeliveryQueueTests {
    private typealias EventPosition = DeliveryQueue.EventPosition

    /// The jitter (a random number from 0 to 1) with which a retry pause has its nominal length.
    private static let fullPause = 1.0
    /// The jitter with which a retry pause has half of its nominal length.
    private static let halfPause = 0.0
    /// The argument of `nextCatchUp(after:)` before the first catch-up; later it is the last catch-up's partition.
    private static let noPartition: Int32 = -1

    private func position(_ offset: Int64, partition: Int32 = 0) -> EventPosition {
        EventPosition(partition: partition, offset: offset)
    }
    private func time(_ milliseconds: Int64) -> MonotonicTime { MonotonicTime(milliseconds: milliseconds) }
    private func key(_ live: String, app: AppID = "demo") -> LiveKey { LiveKey(app, LiveID(live)) }

    @Test func `events of one live are sent one after the other, events of different lives concurrently`() {
        var queue = DeliveryQueue()
        for offset in 0..<3 { #expect(queue.add(self.position(Int64(offset)), of: self.key("arena")) == true) }
        #expect(queue.add(self.position(3), of: self.key("bistro")) == true)
        #expect(queue.startDueAttempts(at: self.time(0)) == [self.position(0), self.position(3)])
        #expect(queue.startDueAttempts(at: self.time(0)).isEmpty)
        #expect(
            queue.attemptEnded(self.position(0), isDelivered: true, jitter: Self.halfPause, at: self.time(1))
                == .delivered)
        #expect(queue.startDueAttempts(at: self.time(1)) == [self.position(1)])
    }

    @Test func `a failed event is retried after growing pauses, and delays only the events of its own live`() {
        var queue = DeliveryQueue()
        #expect(queue.add(self.position(0), of: self.key("arena")) == true)
        #expect(queue.add(self.position(1), of: self.key("arena")) == true)
        #expect(queue.add(self.position(2), of: self.key("bistro")) == true)
        #expect(queue.startDueAttempts(at: self.time(0)) == [self.position(0), self.position(2)])
        _ = queue.attemptEnded(self.position(0), isDelivered: false, jitter: Self.fullPause, at: self.time(0))
        #expect(
            queue.attemptEnded(self.position(2), isDelivered: true, jitter: Self.fullPause, at: self.time(0))
                == .delivered)
        // The first attempt failed at 0 ms and the first pause is 500 ms, so the second attempt starts at 500 ms.
        var now = self.time(500)
        var pauses: [Int64] = []
        for attempt in 2...7 {
            #expect(queue.startDueAttempts(at: now).contains(self.position(0)), "attempt \(attempt)")
            guard
                case .retry(notBefore: let notBefore) = queue.attemptEnded(
                    self.position(0), isDelivered: false, jitter: Self.fullPause, at: now)
            else {
                Issue.record("the event was abandoned after \(attempt) attempts")
                return
            }
            pauses.append((notBefore - now).count)
            #expect(!queue.startDueAttempts(at: notBefore - Milliseconds(1)).contains(self.position(0)))
            now = notBefore
        }
        #expect(pauses == [1000, 2000, 4000, 8000, 16_000, 30_000])
        #expect(queue.startDueAttempts(at: now) == [self.position(0)])
        // The eighth attempt is the last one.
        #expect(
            queue.attemptEnded(self.position(0), isDelivered: false, jitter: Self.fullPause, at: now) == .abandoned)
        #expect(queue.startDueAttempts(at: now) == [self.position(1)])
    }

    @Test func `random jitter makes a retry pause between half and all of its nominal length`() {
        for jitter in [0, 0.25, 1] {
            var queue = DeliveryQueue()
            #expect(queue.add(self.position(0), of: self.key("arena")) == true)
            #expect(queue.startDueAttempts(at: self.time(0)) == [self.position(0)])
            let outcome = queue.attemptEnded(self.position(0), isDelivered: false, jitter: jitter, at: self.time(0))
            // The pause is 250 ms, half of its nominal 500 ms, plus the fraction `jitter` of the other 250 ms.
            let endOfPause = self.time(250 + Int64(250 * jitter))
            #expect(outcome == .retry(notBefore: endOfPause))
            #expect(queue.nextDue(after: self.time(0)) == endOfPause)
        }
    }

    @Test func `a checkpoint has the offset at which each app continues, so that no app delays another`() {
        var queue = DeliveryQueue()
        let partition: Int32 = 0
        #expect(queue.checkpoint(partition) == nil, "nothing was read")
        #expect(queue.add(self.position(10), of: self.key("arena")) == true)
        #expect(queue.add(self.position(11), of: self.key("bistro")) == true)
        #expect(queue.add(self.position(12), of: self.key("arena", app: "other")) == true)
        // No app subscribes to the event at 13.
        queue.skip(self.position(13))
        #expect(queue.startDueAttempts(at: self.time(0)).count == 3)
        // Everything before the offset 14 was read. The first undelivered event of "demo" is at the offset 10, and that
        // of "other" is at 12.
        #expect(queue.checkpoint(partition) == .init(offset: 14, laggingOffsets: ["demo": 10, "other": 12]))
        #expect(
            queue.attemptEnded(self.position(12), isDelivered: true, jitter: Self.halfPause, at: self.time(0))
                == .delivered)
        #expect(queue.checkpoint(partition) == .init(offset: 14, laggingOffsets: ["demo": 10]))
        #expect(
            queue.attemptEnded(self.position(11), isDelivered: true, jitter: Self.halfPause, at: self.time(0))
                == .delivered)
        #expect(queue.checkpoint(partition) == .init(offset: 14, laggingOffsets: ["demo": 10]))
        #expect(
            queue.attemptEnded(self.position(10), isDelivered: true, jitter: Self.halfPause, at: self.time(0))
                == .delivered)
        #expect(queue.checkpoint(partition) == .init(offset: 14))
        #expect(queue.partitions == [0] && queue.count == 0)
    }

    @Test
    func
        `I16 if more than 64 apps have undelivered events, the committed offset is that of the 65th app's first event`()
    {
        var queue = DeliveryQueue(DeliveryQueue.Limits(), apps: 100)
        // Each app has one event. The event of the app `app-n` is at the offset n, so that of the 65th app, `app-64`,
        // is at the offset 64.
        for app in 0..<100 {
            #expect(queue.add(self.position(Int64(app)), of: self.key("arena", app: AppID("app-\(app)"))) == true)
        }
        let checkpoint = queue.checkpoint(0)
        #expect(checkpoint?.offset == 64)
        #expect(checkpoint?.laggingOffsets.count == 64 && checkpoint?.laggingOffsets["app-63"] == 63)
    }

    @Test func `a checkpoint's metadata is read back as written, and invalid metadata is rejected`() {
        typealias Checkpoint = ReadingProgress.Checkpoint
        let checkpoint = Checkpoint(offset: 9, laggingOffsets: ["shop": 4, "demo-1": 0])
        #expect(checkpoint.metadata == "v1 demo-1=0 shop=4")
        #expect(Checkpoint(offset: 9, metadata: checkpoint.metadata) == checkpoint)
        #expect(Checkpoint(offset: 9).metadata == "" && Checkpoint(offset: 9, metadata: "") == .init(offset: 9))
        for text in ["v2 shop=4", "v1 shop", "v1 shop=", "v1 =4", "v1 shop=-1", "v1 a=1=2", "v1 sh/op=4", "shop=4"] {
            #expect(Checkpoint(offset: 9, metadata: text) == nil, "\(text)")
        }
        // The largest metadata has 64 apps with names of 32 characters: 30 letters and a number of two digits.
        let longNames = (0..<ReadingProgress.maxLaggingApps).map { String(repeating: "a", count: 30) + "\($0 + 10)" }
        let laggingOffsets = longNames.map { (AppID($0), Int64.max) }
        let largestCheckpoint = Checkpoint(
            offset: .max, laggingOffsets: Dictionary(uniqueKeysWithValues: laggingOffsets))
        #expect(largestCheckpoint.metadata.utf8.count < 4096, "a broker accepts less than 4096 bytes of metadata")
    }

    @Test func `I16 events of an app whose share is used up are skipped, and read again once half the share is free`()
        throws
    {
        var limits = DeliveryQueue.Limits()
        limits.maxPerApp = 2
        var queue = DeliveryQueue(limits)
        // The live of each event of the app "demo", by the event's offset. The event at the offset 3 belongs to the app
        // "other".
        let livesByOffset = [0: "arena", 1: "bistro", 2: "arena", 4: "cafe", 5: "arena"]
        for offset in 0..<6 {
            let position = self.position(Int64(offset))
            let key = livesByOffset[offset].map { self.key($0) } ?? self.key("arena", app: "other")
            // The first two events of "demo" are its share. The event of "other" is queued, too.
            #expect(queue.add(position, of: key) == [0, 1, 3].contains(offset), "the event at \(offset)")
        }
        #expect(queue.laggingCount == 1 && queue.count == 3)
        #expect(
            queue.startDueAttempts(at: self.time(0)) == [self.position(0), self.position(1), self.position(3)],
            "the event of \"other\" is sent, too")
        #expect(queue.nextCatchUp(after: Self.noPartition) == nil, "less than half of the share of \"demo\" is free")
        #expect(
            queue.attemptEnded(self.position(3), isDelivered: true, jitter: Self.halfPause, at: self.time(0))
                == .delivered)
        #expect(queue.checkpoint(0) == .init(offset: 6, laggingOffsets: ["demo": 0]))
        #expect(
            queue.attemptEnded(self.position(1), isDelivered: true, jitter: Self.halfPause, at: self.time(0))
                == .delivered)

        // "demo" has a share of two events. Only its event at 0 is still queued, so half of the share is free. The
        // event at 2 is the first one that must be read again.
        var catchUp = try #require(queue.nextCatchUp(after: Self.noPartition))
        #expect(catchUp == .init(partition: 0, offset: 2, apps: ["demo"]))
        #expect(queue.addInCatchUp(self.position(2), of: self.key("arena"), in: &catchUp) == true)
        #expect(
            queue.addInCatchUp(self.position(3), of: self.key("arena", app: "other"), in: &catchUp) == false,
            "the event of \"other\" was delivered before")
        #expect(
            queue.addInCatchUp(self.position(4), of: self.key("cafe"), in: &catchUp) == false,
            "the share of \"demo\" is used up again"
        )
        #expect(
            queue.attemptEnded(self.position(0), isDelivered: true, jitter: Self.halfPause, at: self.time(0))
                == .delivered)
        #expect(
            queue.addInCatchUp(self.position(5), of: self.key("arena"), in: &catchUp) == false,
            "the event at 4 must be queued before the event at 5"
        )
        #expect(queue.catchUpAdvanced(catchUp, upTo: 6) == true, "the catch-up ends, because it has no apps left")
        #expect(queue.add(self.position(6), of: self.key("disco")) == false, "\"demo\" still lags")
        #expect(queue.checkpoint(0) == .init(offset: 7, laggingOffsets: ["demo": 2]))

        // Only the event at 2 is queued, so half of the share is free again.
        catchUp = try #require(queue.nextCatchUp(after: 0))
        #expect(catchUp == .init(partition: 0, offset: 4, apps: ["demo"]))
        #expect(queue.addInCatchUp(self.position(4), of: self.key("cafe"), in: &catchUp) == true)
        #expect(queue.startDueAttempts(at: self.time(0)) == [self.position(2), self.position(4)])
        for offset: Int64 in [2, 4] {
            #expect(
                queue.attemptEnded(self.position(offset), isDelivered: true, jitter: Self.halfPause, at: self.time(0))
                    == .delivered)
        }
        #expect(queue.addInCatchUp(self.position(5), of: self.key("arena"), in: &catchUp) == true)
        #expect(queue.catchUpAdvanced(catchUp, upTo: 6) == false, "the event at 6 must be read again too")
        #expect(queue.addInCatchUp(self.position(6), of: self.key("disco"), in: &catchUp) == true)
        #expect(queue.catchUpAdvanced(catchUp, upTo: 7) == true)
        #expect(queue.laggingCount == 0)
        #expect(queue.nextCatchUp(after: 0) == nil)
        #expect(
            queue.add(self.position(7), of: self.key("arena")) == false,
            "the events at 5 and 6 use up the share of \"demo\"")
    }

    @Test func `a new owner resumes at the committed checkpoint, each lagging app from its own offset`() throws {
        var queue = DeliveryQueue()
        queue.partitionAssigned(0, .init(offset: 9, laggingOffsets: ["demo": 4]))
        #expect(queue.checkpoint(0) == .init(offset: 9, laggingOffsets: ["demo": 4]))
        #expect(queue.add(self.position(9), of: self.key("arena")) == false, "\"demo\" lags")
        #expect(queue.add(self.position(10), of: self.key("arena", app: "other")) == true)
        var catchUp = try #require(queue.nextCatchUp(after: Self.noPartition))
        #expect(catchUp == .init(partition: 0, offset: 4, apps: ["demo"]))
        for offset: Int64 in [4, 9] {
            #expect(queue.addInCatchUp(self.position(offset), of: self.key("arena"), in: &catchUp) == true)
        }
        #expect(queue.catchUpAdvanced(catchUp, upTo: 11) == true)
        #expect(queue.laggingCount == 0)
        // The attempts start in the order of queueing. The event at 9 waits for the event at 4 of its live.
        #expect(queue.startDueAttempts(at: self.time(0)) == [self.position(10), self.position(4)])
    }

    @Test func `after a takeover, a catch-up that is ahead of the first reading queues no event twice`() throws {
        var queue = DeliveryQueue()
        queue.partitionAssigned(0, .init(offset: 6, laggingOffsets: ["demo": 4]))
        // The first reading (of events that no owner has read before) begins at the committed offset, 6. It has not
        // begun yet, and the catch-up reads up to the topic's end.
        var catchUp = try #require(queue.nextCatchUp(after: Self.noPartition))
        let added = [Int64](4...8).map { queue.addInCatchUp(self.position($0), of: self.key("arena"), in: &catchUp) }
        #expect(added == [true, true, false, false, false], "the first reading will read 6 to 8")
        #expect(queue.catchUpAdvanced(catchUp, upTo: 9) == true)
        for offset: Int64 in 6...8 { #expect(queue.add(self.position(offset), of: self.key("arena")) == true) }
        // Each event is sent once, in order, and nothing remains.
        for offset: Int64 in 4...8 {
            #expect(queue.startDueAttempts(at: self.time(0)) == [self.position(offset)])
            #expect(
                queue.attemptEnded(
                    self.position(offset), isDelivered: true, jitter: Self.fullPause, at: self.time(0)) == .delivered)
        }
        #expect(queue.startDueAttempts(at: self.time(0)) == [] && queue.count == 0)
        #expect(queue.checkpoint(0) == .init(offset: 9))
    }

    @Test func `consecutive catch-ups read the partitions in rotation`() {
        var queue = DeliveryQueue()
        for partition: Int32 in 0...2 {
            queue.partitionAssigned(partition, .init(offset: 9, laggingOffsets: ["demo": 4]))
        }
        #expect(queue.nextCatchUp(after: Self.noPartition)?.partition == 0)
        #expect(queue.nextCatchUp(after: 0)?.partition == 1)
        #expect(queue.nextCatchUp(after: 2)?.partition == 0, "the last partition is followed by the first one")
    }

    @Test func `I16 the queue never exceeds its capacity, whichever apps the events belong to`() {
        var limits = DeliveryQueue.Limits()
        limits.maxEvents = 10
        var queue = DeliveryQueue(limits, apps: 3)
        // The share of each app is a third of the capacity, rounded down: three events.
        for offset in 0..<30 {
            let key = self.key("arena", app: AppID("app-\(offset % 3)"))
            #expect(queue.add(self.position(Int64(offset)), of: key) == (offset < 9))
        }
        #expect(queue.count == 9 && queue.laggingCount == 3)
    }

    @Test func `I16 requests in flight are limited, and an app whose last attempt failed has only one`() {
        var limits = DeliveryQueue.Limits()
        limits.maxInFlight = 4
        limits.maxInFlightPerApp = 2
        var queue = DeliveryQueue(limits)
        for offset in 0..<4 { #expect(queue.add(self.position(Int64(offset)), of: self.key("\(offset)")) == true) }
        #expect(queue.startDueAttempts(at: self.time(0)) == [self.position(0), self.position(1)])
        #expect(queue.nextDue(after: self.time(0)) == nil, "the other events wait for a request to end, not for a time")
        _ = queue.attemptEnded(self.position(0), isDelivered: false, jitter: Self.halfPause, at: self.time(0))
        #expect(queue.startDueAttempts(at: self.time(0)).isEmpty, "the failing app already has a request in flight")
        _ = queue.attemptEnded(self.position(1), isDelivered: false, jitter: Self.halfPause, at: self.time(0))
        #expect(queue.startDueAttempts(at: self.time(0)) == [self.position(2)])
        _ = queue.attemptEnded(self.position(2), isDelivered: true, jitter: Self.halfPause, at: self.time(0))
        // After a success the app may have two requests again. At 1000 ms the retry pauses of the events 0 and 1 have
        // ended, so these oldest two events are sent.
        #expect(queue.startDueAttempts(at: self.time(1000)) == [self.position(0), self.position(1)])
    }

    @Test func `I16 failing apps use at most half of the concurrent requests`() {
        var limits = DeliveryQueue.Limits()
        limits.maxInFlight = 4
        var queue = DeliveryQueue(limits, apps: 9)
        for app in 0..<4 {
            #expect(queue.add(self.position(Int64(app)), of: self.key("arena", app: AppID("dead-\(app)"))) == true)
        }
        #expect(queue.startDueAttempts(at: self.time(0)).count == 4)
        // The first attempt of each of the four apps fails.
        for app in 0..<4 {
            _ = queue.attemptEnded(
                self.position(Int64(app)), isDelivered: false, jitter: Self.halfPause, at: self.time(0))
        }
        for offset in 4..<9 { #expect(queue.add(self.position(Int64(offset)), of: self.key("\(offset)")) == true) }
        // Of the four concurrent requests, two are for failing apps. The other two are for the first events of "demo".
        #expect(
            queue.startDueAttempts(at: self.time(1000)) == [
                self.position(0), self.position(1), self.position(4), self.position(5),
            ])
    }

    @Test func `the events of a revoked partition are removed, even those in flight`() {
        var queue = DeliveryQueue()
        #expect(queue.add(self.position(0, partition: 1), of: self.key("arena")) == true)
        #expect(queue.add(self.position(0, partition: 2), of: self.key("bistro")) == true)
        #expect(queue.startDueAttempts(at: self.time(0)).count == 2)
        queue.partitionRevoked(1)
        #expect(
            queue.attemptEnded(
                self.position(0, partition: 1), isDelivered: true, jitter: Self.halfPause, at: self.time(0))
                == .notQueued)
        #expect(queue.checkpoint(1) == nil && queue.count == 1)
        #expect(
            queue.add(self.position(0, partition: 1), of: self.key("arena")) == true,
            "the partition may be assigned again")
        #expect(queue.startDueAttempts(at: self.time(0)) == [self.position(0, partition: 1)])
    }
}

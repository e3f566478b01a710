// SPDX-License-Identifier: Apache-2.0
import Concurrency
import GatewayCore
import MachineKit
import PlazaModel
import PlazaWire
import Settings
import Testing

@testable import Gateway

/// The limits of output that waits because clients do not read: for one connection, and for all connections together.
///
/// The metric `gateway_feed_owed` counts the items that are held back for slow viewers, once for each viewer.
@Suite(.serialized, .timeLimit(.minutes(1))) struct OutputLimitTests {
    private let live = FakeCluster.key("room")

    /// A gateway with small send buffers and the live room.
    ///
    /// All other limits are so high that they end no connection within a test, unless `change` lowers them.
    private func cluster(_ change: (inout GatewaySettings) -> Void) throws -> FakeCluster {
        let cluster = try FakeCluster { settings in
            settings.shards = 1
            settings.budget = DeliveryBudget(bytes: 128 << 10, timeout: .seconds(60))
            settings.sendBufferBytes = 32 << 10
            settings.admission.reads = RateLimit(1_000_000)
            settings.admission.readPercent = 100
            settings.admission.unreadBytes = .max
            settings.admission.frames = RateLimit(1_000_000)
            settings.slowReaderTimeout = .seconds(60)
            change(&settings)
        }
        cluster.create("room")
        return cluster
    }

    /// Rules: R12.16.
    @Test func `I16 a viewer that reads nothing for the timeout is cut off, and others are served`() throws {
        // The timeout is 0.5 s here. The slow viewer never reads; the quick one reads each item at once.
        let cluster = try self.cluster { $0.slowReaderTimeout = Milliseconds(500) }
        let slow = try cluster.viewer("slow", of: "room", receiveBuffer: 8 << 10)
        let quick = try cluster.viewer("quick", of: "room")
        let text = String(repeating: "x", count: 4000)
        var number: Int64 = 0
        let deadline = ContinuousClock.now + .seconds(30)
        // The feed continues until the slow reader is cut off; the test waits for 30 s at most.
        while cluster.refusalCount(.outputStalled) == 0, ContinuousClock.now < deadline {
            cluster.publishText(self.live, text)
            number += 1
            #expect(try quick.itemNumbers(upTo: number).last == number)
        }
        #expect(cluster.refusalCount(.outputStalled) == 1)
        #expect(cluster.refusalCount(.outputOfAll) == 0 && cluster.refusalCount(.outputOfConnection) == 0)
        #expect(try quick.getsPong())
        slow.cutConnection()
    }

    /// Rules: R12.16.
    @Test func `I16 a viewer that reads a few kilobytes a second is served, and cut off when it stops reading`()
        throws
    {
        let timeout = Milliseconds(3_000)
        let cluster = try self.cluster { $0.slowReaderTimeout = timeout }
        let slow = try cluster.viewer("slow", of: "room", receiveBuffer: 8 << 10)
        let quick = try cluster.viewer("quick", of: "room")
        let text = String(repeating: "x", count: 4000)
        var last: Int64 = 0
        // The feed continues until the gateway holds back an item. Then 128 KiB, the budget of a connection, wait for
        // the slow viewer, besides the bytes in the kernel. The loop ends at item 10,000 in any case. Changes of
        // metadata are control items, which are never left out for a slow viewer.
        while cluster.metric("gateway_feed_owed") == 0, last < 10_000 {
            cluster.publish(self.live, .metadataChanged(set: ["k": text], removed: []))
            last += 1
            #expect(try quick.itemNumbers(upTo: last).last == last)
        }
        // The slow viewer reads 2000 bytes every 250 ms, so 8 KB a second, for 9 s, three times the timeout. These 72
        // KB are less than the 128 KiB that wait for it. The bounds of the check allow for a slow machine.
        let begin = ContinuousClock.now
        var readBytes = 0
        while ContinuousClock.now - begin < .seconds(9), cluster.refusalCount(.outputStalled) == 0 {
            readBytes += slow.discardBytes(upTo: 2_000) ?? 0
            DedicatedThread.sleep(for: .milliseconds(250))
        }
        #expect((20_000..<100_000).contains(readBytes), "the viewer has read \(readBytes) bytes")
        #expect(cluster.refusalCount(.outputStalled) == 0, "a viewer that reads is not stalled")
        #expect(cluster.metric("gateway_feed_owed") > 0, "something has waited for the viewer all the time")
        let stoppedAt = ContinuousClock.now
        while cluster.refusalCount(.outputStalled) == 0, ContinuousClock.now - stoppedAt < .seconds(20) {
            DedicatedThread.sleep(for: .milliseconds(50))
        }
        #expect(cluster.refusalCount(.outputStalled) == 1)
        let timeToCutOff = ContinuousClock.now - stoppedAt
        // The timeout begins when the kernel acknowledges the viewer's last bytes, which may be a second before the
        // viewer stopped. The check allows two seconds for that, and five more seconds for a slow machine.
        #expect(
            timeToCutOff > Duration(timeout) - .seconds(2) && timeToCutOff < Duration(timeout) + .seconds(5),
            "the viewer was cut off after \(timeToCutOff)")
        #expect(try quick.getsPong())
        slow.cutConnection()
    }

    /// Rules: R12.17.
    @Test func `I16 beyond the limit of all output, clients that read no replies are cut off, slow viewers are not`()
        throws
    {
        let cluster = try self.cluster { $0.maxQueuedBytes = 900_000 }
        self.createLiveWithLargeMetadata(cluster)
        // The same 128 KiB of the feed wait for each of these ten viewers. If these bytes counted once for each viewer,
        // they would be 1.3 MB, more than the limit of 0.9 MB.
        let viewers = try (0..<10).map { try cluster.viewer("v\($0)", of: "room", receiveBuffer: 8 << 10) }
        let quick = try cluster.viewer("quick", of: "room")
        let text = String(repeating: "x", count: 4000)
        var last: Int64 = 0
        // The feed continues until 128 KiB wait for each viewer and 20 further items are held back: two for each of the
        // ten viewers.
        while cluster.metric("gateway_feed_owed") < 20, last < 10_000 {
            cluster.publish(self.live, .metadataChanged(set: ["k": text], removed: []))
            last += 1
            #expect(try quick.itemNumbers(upTo: last).last == last)
        }
        // Four attackers request the large metadata (16 KB) and read no reply, until three of them are cut off. The
        // test waits for 30 s at most.
        let attackers = try (0..<4).map { try cluster.client("a\($0)", receiveBuffer: 8 << 10).client }
        let deadline = ContinuousClock.now + .seconds(30)
        while cluster.refusalCount(.outputOfAll) < 3, ContinuousClock.now < deadline {
            // On a connection that was cut off, `begin` throws.
            for attacker in attackers { _ = try? attacker.begin("metadata.get", #"{"live":"large"}"#) }
            #expect(try quick.getsPong())
        }
        #expect(cluster.metric("gateway_feed_owed") >= 20)
        #expect(cluster.refusalCount(.outputOfAll) >= 3)
        #expect(cluster.refusalCount(.outputStalled) == 0)
        // None of the viewers was cut off: each still gets the next control item.
        cluster.publish(self.live, .metadataChanged(set: ["k": "v"], removed: []))
        for viewer in viewers {
            let numbers = try viewer.itemNumbers(upTo: last + 1)
            #expect(numbers.last == last + 1 && numbers == numbers.sorted())
        }
    }

    /// Rules: R12.17.
    @Test(arguments: [600_000, 250_000])
    func `I16 viewers that resume all at once get all they missed, within little memory`(maxQueuedBytes: Int) throws {
        // The items of a replay are copied for each viewer. If each of 20 viewers got 64 KiB at once, this would be 1.3
        // MB, more than the limit. Eve has read the 400 items of the feed.
        let (cluster, eve) = try FakeCluster.makeWithLongFeed(in: self.live, messageBytes: 8000, shards: 1) {
            $0.maxQueuedBytes = maxQueuedBytes
        }
        self.waitForMetric("gateway_feed_delivered_total", 400, cluster)
        // Ticket 101 is the first one of the fake cluster.
        let viewers = try (0..<20).map { number in
            let point = ResumePoint(
                live: "room", ticket: Ticket(101), position: FeedPosition(epoch: FakeCluster.epoch, number: 300))
            return try cluster.client(
                "v\(number)", session: "s\(number)", resume: point, firstID: 50, receiveBuffer: 8 << 10
            ).client
        }
        // The gateway has 600 ms to send, while none of the viewers reads, and none may be cut off. A shard checks the
        // memory of all queues every 250 ms, so it makes at least two checks in this time.
        DedicatedThread.sleep(for: .milliseconds(600))
        for viewer in viewers { #expect(try viewer.itemNumbers(upTo: 400) == Array(301...400)) }
        #expect(cluster.refusalCount(.outputOfAll) == 0 && cluster.refusalCount(.outputOfConnection) == 0)
        // Eve got 400 items, and each of the 20 viewers got 100.
        self.waitForMetric("gateway_feed_delivered_total", 400 + 20 * 100, cluster)
        #expect(try eve.getsPong())
    }

    /// Creates the live large, whose metadata have 16 KB, for calls with large replies.
    private func createLiveWithLargeMetadata(_ cluster: FakeCluster) {
        var info = LiveInfo(liveID: LiveID("large"), liveOwner: UserInfo(userID: "anna"))
        for key in 0..<8 { info.metaData["k\(key)"] = String(repeating: "x", count: 2000) }
        cluster.gateway.received(
            LiveRecord(app: FakeCluster.app, info: info, epoch: FakeCluster.epoch, revision: 1))
    }

    /// Checks a condition every 20 ms until it is true, for at most 10 s.
    private func wait(until condition: () -> Bool) {
        let deadline = ContinuousClock.now + .seconds(10)
        while !condition(), ContinuousClock.now < deadline { DedicatedThread.sleep(for: .milliseconds(20)) }
    }

    /// Waits until a metric has reached a value, which it must not exceed.
    ///
    /// A shard updates its metrics ten times a second.
    private func waitForMetric(_ name: String, _ value: Int, _ cluster: FakeCluster) {
        self.wait { cluster.metric(name) >= value }
        #expect(cluster.metric(name) == value)
    }

    @Test func `I10 items that wait for a connection that is being closed are not delivered`() throws {
        let cluster = try self.cluster { _ in }
        self.createLiveWithLargeMetadata(cluster)
        let slow = try cluster.viewer("slow", of: "room", receiveBuffer: 8 << 10)
        let quick = try cluster.viewer("quick", of: "room")
        let text = String(repeating: "x", count: 4000)
        var last: Int64 = 0
        // The feed continues until 20 items are held back for the slow viewer.
        while cluster.metric("gateway_feed_owed") < 20, last < 10_000 {
            cluster.publish(self.live, .metadataChanged(set: ["k": text], removed: []))
            last += 1
            #expect(try quick.itemNumbers(upTo: last).last == last)
        }
        // Each item is due to two viewers. Because control items are never left out, each due item is delivered or
        // owed.
        let dueItems = 2 * Int(last)
        self.wait {
            cluster.metric("gateway_feed_delivered_total") + cluster.metric("gateway_feed_owed") == dueItems
        }
        let owed = cluster.metric("gateway_feed_owed")
        let delivered = cluster.metric("gateway_feed_delivered_total")
        #expect(delivered + owed == dueItems && owed >= 20)
        // 100 replies of 16 KB exceed the connection's limit: twice the budget of 128 KiB, and 512 KiB, together 768
        // KiB. So the gateway sends a close frame. The client does not answer the frame, so the connection stays open.
        for _ in 0..<100 { try slow.begin("metadata.get", #"{"live":"large"}"#) }
        // The refusal is counted only when the connection has ended, and the client reads nothing meanwhile. So there
        // is no condition to wait for; the gateway reads 100 calls in far less than this time.
        DedicatedThread.sleep(for: .milliseconds(450))
        #expect(try slow.closeCode() == DisconnectCode.slowReader.code)
        // The client has read all that was queued. If the gateway still delivered an item, it would send the item now,
        // and the shard's metrics, which are updated ten times a second, would show this within 450 ms.
        DedicatedThread.sleep(for: .milliseconds(450))
        #expect(
            cluster.metric("gateway_feed_delivered_total") == delivered,
            "none of the items that were held back is delivered after the close frame")
        slow.cutConnection()
        self.waitForMetric("gateway_feed_disconnected_total", owed, cluster)
        #expect(cluster.refusalCount(.outputOfConnection) == 1)
    }

    /// Rules: R12.16, R12.17, R13.39, R13.41.
    @Test func `settings change the limits of output and of anonymous requests`() throws {
        func read(_ arguments: [String]) throws -> GatewaySettings {
            var reader = SettingsReader(program: "gateway", summary: "", arguments: arguments, environment: [:])
            // `hardLimit` is the operating system's limit of open files.
            let admission = AdmissionSettings(&reader, hardLimit: 1_048_576)
            try reader.finish()
            var settings = GatewaySettings(id: "gateway-1")
            admission.apply(to: &settings, appCount: 1)
            return settings
        }
        let defaults = try read([])
        #expect(defaults.maxQueuedBytes == 256 << 20 && defaults.slowReaderTimeout == .seconds(20))
        #expect(defaults.admission.anonymousRequests == RateLimit(100))
        #expect(defaults.admission.refusedTokens == RateLimit(20))
        #expect(defaults.admission.tokenChecks == RateLimit(200))
        let changed = try read([
            "--pending-output-mib", "64", "--slow-reader-seconds", "7", "--http-anonymous-per-second", "5",
            "--http-refused-tokens-per-second", "3", "--http-token-checks-per-second", "4",
        ])
        #expect(changed.maxQueuedBytes == 64 << 20 && changed.slowReaderTimeout == .seconds(7))
        #expect(changed.admission.anonymousRequests == RateLimit(5))
        #expect(changed.admission.refusedTokens == RateLimit(3))
        #expect(changed.admission.tokenChecks == RateLimit(4))
    }
}

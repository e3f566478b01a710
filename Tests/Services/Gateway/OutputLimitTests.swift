// SPDX-License-Identifier: Apache-2.0
import GatewayCore
import MachineKit
import PlazaModel
import PlazaWire
import Settings
import Testing

@testable import Gateway

/// Clients that do not read, one alone and all together.
@Suite(.serialized, .timeLimit(.minutes(1))) struct OutputLimitTests {
    private let room = FakeCluster.key("room")

    /// A gateway whose system buffers little, and whose feed budget never ends a connection.
    private func cluster(_ change: (inout GatewaySettings) -> Void) throws -> FakeCluster {
        let cluster = try FakeCluster { settings in
            settings.shards = 1
            settings.budget = DeliveryBudget(bytes: 128 << 10, timeout: .seconds(60))
            settings.sendBufferBytes = 32 << 10
            settings.admission.reads = RateLimit(1_000_000)
            settings.admission.frames = RateLimit(1_000_000)
            settings.slowReaderTimeout = .seconds(60)
            change(&settings)
        }
        cluster.create("room")
        return cluster
    }

    /// Rules: R12.16.
    @Test func `I16 a viewer that takes nothing for the timeout is cut off, and others are served`() throws {
        let cluster = try self.cluster { $0.slowReaderTimeout = Milliseconds(500) }
        let slow = try cluster.viewer("slow", of: "room", receiveBuffer: 8 << 10)
        let quick = try cluster.viewer("quick", of: "room")
        let text = String(repeating: "x", count: 4000)
        var number: Int64 = 0
        let deadline = ContinuousClock.now + .seconds(30)
        // A feed is sent for as long as the slow reader is there; its own budget never ends the connection.
        while cluster.refusalCount(.outputStalled) == 0, ContinuousClock.now < deadline {
            cluster.publishText(self.room, text)
            number += 1
            #expect(try quick.feed(upTo: number).last == number)
        }
        #expect(cluster.refusalCount(.outputStalled) == 1)
        #expect(cluster.refusalCount(.outputOfAll) == 0 && cluster.refusalCount(.outputOfConnection) == 0)
        #expect(try quick.answersPing())
        slow.cut()
    }

    /// Rules: R12.17.
    @Test func `I16 who reads no answers is cut off beyond the limit of all, and viewers with a waiting feed are not`()
        throws
    {
        let cluster = try self.cluster { $0.maxQueuedBytes = 900_000 }
        var info = LiveInfo(liveID: LiveID("large"), liveOwner: UserInfo(userID: "anna"))
        for key in 0..<8 { info.metaData["k\(key)"] = String(repeating: "x", count: 2000) }
        cluster.gateway.received(
            LiveRecord(app: FakeCluster.app, info: info, epoch: FakeCluster.epoch, revision: 1))
        // The feed that waits for all these viewers is the same 128 KiB. Counted once for each, it would exceed the limit.
        let viewers = try (0..<10).map { try cluster.viewer("v\($0)", of: "room", receiveBuffer: 8 << 10) }
        let quick = try cluster.viewer("quick", of: "room")
        let text = String(repeating: "x", count: 4000)
        var last: Int64 = 0
        // Until 128 KiB wait for each of the viewers, so that items are held back for all of them.
        while cluster.metric("gateway_feed_owed") < 20, last < 10_000 {
            cluster.publish(self.room, .metadataChanged(set: ["k": text], removed: []))
            last += 1
            #expect(try quick.feed(upTo: last).last == last)
        }
        let attackers = try (0..<4).map { try cluster.client("a\($0)", receiveBuffer: 8 << 10).client }
        let deadline = ContinuousClock.now + .seconds(30)
        while cluster.refusalCount(.outputOfAll) < 3, ContinuousClock.now < deadline {
            // A connection that was cut off takes nothing.
            for attacker in attackers { _ = try? attacker.begin("metadata.get", #"{"live":"large"}"#) }
            #expect(try quick.answersPing())
        }
        #expect(cluster.metric("gateway_feed_owed") >= 20)
        #expect(cluster.refusalCount(.outputOfAll) >= 3)
        #expect(cluster.refusalCount(.outputStalled) == 0)
        // None of the viewers was cut off: each still gets the next control item.
        cluster.publish(self.room, .metadataChanged(set: ["k": "v"], removed: []))
        for viewer in viewers {
            let numbers = try viewer.feed(upTo: last + 1)
            #expect(numbers.last == last + 1 && numbers == numbers.sorted())
        }
    }

    /// Rules: R12.16, R12.17, R13.39.
    @Test func `settings change the limits of output and of anonymous requests`() throws {
        func read(_ arguments: [String]) throws -> GatewaySettings {
            var reader = SettingsReader(program: "gateway", summary: "", arguments: arguments, environment: [:])
            let admission = AdmissionSettings(&reader, hardLimit: 1_048_576)
            try reader.finish()
            var settings = GatewaySettings(id: "gateway-1")
            admission.apply(to: &settings, apps: 1)
            return settings
        }
        let defaults = try read([])
        #expect(defaults.maxQueuedBytes == 268_435_456 && defaults.slowReaderTimeout == .seconds(20))
        #expect(defaults.admission.anonymousRequests == RateLimit(100))
        #expect(defaults.admission.refusedTokens == RateLimit(20))
        let changed = try read([
            "--pending-output-mib", "64", "--slow-reader-seconds", "7", "--http-anonymous-per-second", "5",
            "--http-refused-tokens-per-second", "3",
        ])
        #expect(changed.maxQueuedBytes == 67_108_864 && changed.slowReaderTimeout == .seconds(7))
        #expect(changed.admission.anonymousRequests == RateLimit(5))
        #expect(changed.admission.refusedTokens == RateLimit(3))
    }
}

// SPDX-License-Identifier: Apache-2.0
import ClusterKit
import Foundation
import LivePlazaKit
import LoadKit
import PlazaModel
import TestSupport
import Testing

/// Who is in a live, on which device, and whether its owner is, through real processes.
@Suite(.serialized, .enabled(if: LiveCluster.kafkaHome != nil, "needs a real Kafka: set KAFKA_HOME"))
struct DeviceClusterTests {
    /// Options of a cluster whose demo app allows a user one device.
    private static func oneDevice() throws -> ClusterOptions {
        var options = LiveCluster.options(realKafka: 1)
        options.scale = [.gateway: 2]
        try RunDirectory(options.runDirectory).create()
        let path = options.runDirectory + "/apps.json"
        try AppsFile.prepare(at: path, feedBudget: nil)
        let text = String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self)
        let changed = text.replacing("\"policy\" : {", with: #""policy" : { "devices" : "one","#, maxReplacements: 1)
        try #require(changed != text)
        try Data(changed.utf8).write(to: URL(filePath: path))
        return options
    }

    private static func endCode(_ update: ClientUpdate) -> UInt16? {
        if case .event(.ended(let code)) = update { code } else { nil }
    }

    @Test(.timeLimit(.minutes(3)))
    func `a user who signs in on another device is out of its live on the first, whichever gateway it is at`()
        async throws
    {
        try await LiveCluster.with(Self.oneDevice()) { cluster in
            let hub = try ClientHub()
            defer { hub.stop() }
            let harness = try ClusterHarness(cluster)
            let live = LiveID(ClusterHarness.name("room"))
            func person(_ user: String, device: String, gateway: Int) -> Person {
                var options = ClientCore.Options(token: harness.token(user), session: SessionID(device))
                options.pingMilliseconds = 1000
                return Person(device, hub.client(addresses: [harness.addresses[gateway]], options: options))
            }
            let host = person("host", device: "studio", gateway: 0)
            try await host.call("live.create", CallParams(live: live), live: live)
            try await host.call("live.join", CallParams(live: live), live: live)
            let phone = person("alice", device: "phone", gateway: 0)
            try await phone.call("live.join", CallParams(live: live), live: live)
            let joined = try await host.see("that alice joined") { content -> UserID? in
                if case .audienceJoined(let user) = content { user.userID } else { nil }
            }
            #expect(joined == "alice")

            let tablet = person("alice", device: "tablet", gateway: 1)
            let code = try await phone.hear("the end of its connection", Self.endCode)
            #expect(code == DisconnectCode.kickedOffline.code)
            let left = try await host.see("that alice left") { content -> UserID? in
                if case .audienceLeft(let user) = content { user.userID } else { nil }
            }
            #expect(left == "alice")
            try await tablet.call("live.join", CallParams(live: live), live: live)
            try await tablet.call("barrage.sendText", CallParams(live: live, text: "from the tablet"), live: live)
            guard case .audience(let page) = try await host.call("audience.list", CallParams(live: live), live: live)
            else { return #expect(Bool(false), "no list") }
            #expect(page.members.map(\.user.userID) == ["alice"])
            #expect(page.count == 1)
        }
    }

    @Test(.timeLimit(.minutes(3)))
    func `a session that goes on at another gateway has ended at the first, and can do nothing there when it leaves`()
        async throws
    {
        var options = LiveCluster.options(realKafka: 1)
        options.scale = [.gateway: 2]
        try await LiveCluster.with(options) { cluster in
            let hub = try ClientHub()
            defer { hub.stop() }
            let harness = try ClusterHarness(cluster)
            let live = LiveID(ClusterHarness.name("room"))
            func person(_ user: String, _ name: String, gateway: Int) -> Person {
                var options = ClientCore.Options(token: harness.token(user), session: "the-one")
                options.pingMilliseconds = 1000
                return Person(name, hub.client(addresses: [harness.addresses[gateway]], options: options))
            }
            let host = person("host", "host", gateway: 0)
            try await host.call("live.create", CallParams(live: live), live: live)
            try await host.call("live.join", CallParams(live: live), live: live)
            for gateway in [0, 1] {
                let user = "guest-\(gateway)"
                let old = person(user, "the older connection", gateway: gateway)
                try await old.call("live.join", CallParams(live: live), live: live)
                let new = person(user, "the newer connection", gateway: 1 - gateway)
                let code = try await old.hear("the end of its connection", Self.endCode)
                #expect(code == DisconnectCode.replaced.code)
                // The numbers of a session's calls grow, whatever its connection: the older one had used the first.
                for _ in 0..<3 { try await new.call("live.get", CallParams(live: live), live: live) }
                try await new.call("live.join", CallParams(live: live), live: live)
                try await new.call("barrage.sendText", CallParams(live: live, text: "from here"), live: live)
                try await new.call("live.leave", CallParams(live: live), live: live)
                let left = try await host.see("that \(user) left") { content -> UserID? in
                    if case .audienceLeft(let user) = content { user.userID } else { nil }
                }
                #expect(left.text == user)
                let list = try await host.call("audience.list", CallParams(live: live), live: live)
                guard case .audience(let page) = list else { return #expect(Bool(false), "no list") }
                #expect(page.members.isEmpty)
            }
        }
    }

    @Test(.timeLimit(.minutes(3)))
    func `a live is suspended while its owner is lost, and goes on when the owner is back`() async throws {
        var options = LiveCluster.options(realKafka: 1)
        options.leaseSeconds = 4
        try await LiveCluster.with(options) { cluster in
            let hub = try ClientHub()
            defer { hub.stop() }
            let harness = try ClusterHarness(cluster)
            let live = LiveID(ClusterHarness.name("room"))
            let host = Person("host", harness.client("\(live)-host", on: hub))
            try await host.call("live.create", CallParams(live: live), live: live)
            try await host.call("live.join", CallParams(live: live), live: live)
            let viewer = Person("viewer", harness.client("\(live)-v", on: hub))
            try await viewer.call("live.join", CallParams(live: live), live: live)

            func seen(_ status: LiveStatus, within seconds: Double) async throws {
                _ = try await viewer.see("that the live is \(status)", within: seconds) { content -> Bool? in
                    if case .infoChanged(let info) = content, info.status == status { true } else { nil }
                }
            }
            host.client.stop()
            try await seen(.suspended, within: 12)
            let back = Person("host again", harness.client("\(live)-host", on: hub))
            try await back.call("live.join", CallParams(live: live), live: live)
            try await seen(.running, within: 5)
            try await back.call("live.leave", CallParams(live: live), live: live)
            try await seen(.suspended, within: 5)
            // Redis's loss makes nobody come or go.
            try await back.call("live.join", CallParams(live: live), live: live)
            try await seen(.running, within: 5)
            try await cluster.kill("redis")
            await viewer.listen(seconds: 2)
            try await cluster.restart("redis")
            _ = try await viewer.hear("a true count", within: 16) { update -> Bool? in
                guard case .event(.counts(let count)) = update, count.count == 1, !count.stale else { return nil }
                return true
            }
            await viewer.listen(seconds: 3)
            let changed = try? await viewer.see("a change", within: 0.1) { content -> LiveInfo? in
                if case .infoChanged(let info) = content { info } else { nil }
            }
            #expect(changed == nil)
        }
    }
}

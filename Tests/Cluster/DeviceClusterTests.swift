// SPDX-License-Identifier: Apache-2.0
import ClusterKit
import Foundation
import LoadKit
import PlazaModel
import ProtocolClient
import TestSupport
import Testing

/// Tests in real processes of a user's devices, and of a live whose owner is absent.
@Suite(.serialized, .enabled(if: TestCluster.kafkaHome != nil, "needs a real Kafka: set KAFKA_HOME"))
struct DeviceClusterTests {
    /// Writes an apps file whose demo app allows each user one device, and returns the options of a cluster with two
    /// gateways that reads this file.
    private static func oneDeviceOptions() throws -> ClusterOptions {
        var options = TestCluster.options(kafkaBrokers: 1)
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

    /// The code with which the client's connection ended; nil for an update that is no end.
    private static func endCode(_ update: ClientUpdate) -> UInt16? {
        if case .event(.ended(let code)) = update { code } else { nil }
    }

    /// Rules: R2.18.
    @Test(.timeLimit(.minutes(3)))
    func `a login on another device at another gateway removes the user from the live on the first device`()
        async throws
    {
        try await TestCluster.with(Self.oneDeviceOptions()) { cluster in
            let hub = try ClientHub()
            defer { hub.stop() }
            let harness = try ClusterHarness(cluster)
            let live = LiveID(ClusterHarness.uniqueName("room"))
            // A client at one of the two gateways, 0 or 1, whose session has the name of its device.
            func makeClient(_ user: String, device: String, gateway: Int) -> DemoUser {
                var options = BareClientCore.Options(token: harness.token(user), session: SessionID(device))
                options.pingInterval = .seconds(1)
                return DemoUser(device, hub.client(addresses: [harness.addresses[gateway]], options: options))
            }
            let host = makeClient("host", device: "studio", gateway: 0)
            try await host.call("live.create", CallParams(live: live), live: live)
            try await host.call("live.join", CallParams(live: live), live: live)
            let phone = makeClient("alice", device: "phone", gateway: 0)
            try await phone.call("live.join", CallParams(live: live), live: live)
            let joinedUser = try await host.waitForFeedItem("that alice joined") { content -> UserID? in
                if case .audienceJoined(let user, _) = content { user.userID } else { nil }
            }
            #expect(joinedUser == "alice")

            // Alice logs in on a second device, at the other gateway.
            let tablet = makeClient("alice", device: "tablet", gateway: 1)
            let code = try await phone.waitForUpdate("the end of its connection", Self.endCode)
            #expect(code == DisconnectCode.kickedOffline.code)
            let leftUser = try await host.waitForFeedItem("that alice left") { content -> UserID? in
                if case .audienceLeft(let user) = content { user.userID } else { nil }
            }
            #expect(leftUser == "alice")
            try await tablet.call("live.join", CallParams(live: live), live: live)
            try await tablet.call("barrage.sendText", CallParams(live: live, text: "from the tablet"), live: live)
            guard case .audience(let page) = try await host.call("audience.list", CallParams(live: live), live: live)
            else { throw ScenarioFailure("audience.list gave no list") }
            #expect(page.members.map(\.user.userID) == ["alice"])
            #expect(page.count == 1)
        }
    }

    /// Rules: R2.22.
    @Test(.timeLimit(.minutes(3)))
    func `a session that connects at a second gateway ends at the first, which no longer renews the user's lease`()
        async throws
    {
        var options = TestCluster.options(kafkaBrokers: 1)
        options.scale = [.gateway: 2]
        try await TestCluster.with(options) { cluster in
            let hub = try ClientHub()
            defer { hub.stop() }
            let harness = try ClusterHarness(cluster)
            let live = LiveID(ClusterHarness.uniqueName("room"))
            // A client at one of the two gateways, 0 or 1. All clients of a user have the same session; `name` names a
            // client in errors.
            func makeClient(_ user: String, _ name: String, gateway: Int) -> DemoUser {
                var options = BareClientCore.Options(token: harness.token(user), session: "only-session")
                options.pingInterval = .seconds(1)
                return DemoUser(name, hub.client(addresses: [harness.addresses[gateway]], options: options))
            }
            let host = makeClient("host", "host", gateway: 0)
            try await host.call("live.create", CallParams(live: live), live: live)
            try await host.call("live.join", CallParams(live: live), live: live)
            // A viewer moves from gateway 0 to gateway 1, then another viewer from 1 to 0.
            for gateway in [0, 1] {
                let user = "viewer-\(gateway)"
                let olderClient = makeClient(user, "the older connection", gateway: gateway)
                try await olderClient.call("live.join", CallParams(live: live), live: live)
                let newerClient = makeClient(user, "the newer connection", gateway: 1 - gateway)
                let code = try await olderClient.waitForUpdate("the end of its connection", Self.endCode)
                #expect(code == DisconnectCode.replaced.code)
                // The newer client counts its calls from 1 again, but a call with a number that this session has used
                // is taken as a repetition. Three reads use up those numbers, so the further calls have new ones.
                for _ in 0..<3 { try await newerClient.call("live.get", CallParams(live: live), live: live) }
                try await newerClient.call("live.join", CallParams(live: live), live: live)
                try await newerClient.call("barrage.sendText", CallParams(live: live, text: "from here"), live: live)
                try await newerClient.call("live.leave", CallParams(live: live), live: live)
                let leftUser = try await host.waitForFeedItem("that \(user) left") { content -> UserID? in
                    if case .audienceLeft(let user) = content { user.userID } else { nil }
                }
                #expect(leftUser.text == user)
                let list = try await host.call("audience.list", CallParams(live: live), live: live)
                guard case .audience(let page) = list else { throw ScenarioFailure("audience.list gave no list") }
                #expect(page.members.isEmpty, "the older connection must not keep the user in the live")
            }
        }
    }

    /// Rules: R4.15.
    @Test(.timeLimit(.minutes(3)))
    func `a live is suspended while its owner is absent, and continues when the owner returns`() async throws {
        var options = TestCluster.options(kafkaBrokers: 1)
        options.lease = .seconds(4)
        try await TestCluster.with(options) { cluster in
            let hub = try ClientHub()
            defer { hub.stop() }
            let harness = try ClusterHarness(cluster)
            let live = LiveID(ClusterHarness.uniqueName("room"))
            let host = DemoUser("host", harness.client("\(live)-host", on: hub))
            try await host.call("live.create", CallParams(live: live), live: live)
            try await host.call("live.join", CallParams(live: live), live: live)
            let viewer = DemoUser("viewer", harness.client("\(live)-viewer", on: hub))
            try await viewer.call("live.join", CallParams(live: live), live: live)

            // Waits until the viewer receives that the live has this status.
            func waitForStatus(_ status: LiveStatus) async throws {
                _ = try await viewer.waitForFeedItem("that the live is \(status)", within: 20) {
                    content -> Bool? in
                    if case .infoChanged(let info, _) = content, info.status == status { true } else { nil }
                }
            }
            // The host sends nothing from now on, so its lease of 4 s expires.
            host.client.stop()
            try await waitForStatus(.suspended)
            let returnedHost = DemoUser("host again", harness.client("\(live)-host", on: hub))
            try await returnedHost.call("live.join", CallParams(live: live), live: live)
            try await waitForStatus(.running)
            try await returnedHost.call("live.leave", CallParams(live: live), live: live)
            try await waitForStatus(.suspended)
            try await returnedHost.call("live.join", CallParams(live: live), live: live)
            try await waitForStatus(.running)
            // Redis restarts without its data. Nobody joins or leaves from now on, so the live's status must stay.
            try await cluster.kill("redis")
            await viewer.collectUpdates(seconds: 2)
            try await cluster.restart("redis")
            // The count is stale for the 12 s in which gateways assert their sessions.
            _ = try await viewer.waitForUpdate("a count that is not stale", within: 16) { update -> Bool? in
                guard case .event(.counts(let count)) = update, count.count == 1, !count.stale else { return nil }
                return true
            }
            await viewer.collectUpdates(seconds: 3)
            // The item of a change would have come by now, so 0.1 s is enough to find it.
            let changedInfo = try? await viewer.waitForFeedItem("a change of the live's info", within: 0.1) {
                content -> LiveInfo? in
                if case .infoChanged(let info, _) = content { info } else { nil }
            }
            #expect(changedInfo == nil, "the live's info must not change")
        }
    }
}

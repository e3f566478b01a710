// SPDX-License-Identifier: Apache-2.0
import ClusterKit
import Foundation
import LoadKit
import PlazaModel
import ProtocolClient
import TestSupport
import Testing

/// A test with real processes: a viewer resumes after its gateway was down for longer than the feed cache reaches back,
/// and a newcomer gets history (the last messages before the join).
@Suite(.serialized) struct ReplayClusterTests {
    @Test(.enabled(if: TestCluster.kafkaHome != nil, "needs a real Kafka: set KAFKA_HOME"), .timeLimit(.minutes(3)))
    func
        `I7 I8 missed messages that are no longer cached come to a viewer by replay, and a newcomer gets history`()
        async throws
    {
        var options = TestCluster.options(kafkaBrokers: 1)
        options.scale[.gateway] = 2
        // The gateways cache the feed for only 1 s.
        options.extraArguments[.gateway] = ["--ring-seconds", "1"]
        try Self.writePolicy(historyCount: 10, in: options.runDirectory)
        try await TestCluster.with(options) { cluster in
            let harness = try ClusterHarness(cluster)
            let hub = try ClientHub()
            defer { hub.stop() }
            let live = LiveID(ClusterHarness.uniqueName("past"))
            let (firstGateway, secondGateway) = ([harness.addresses[0]], [harness.addresses[1]])
            let host = DemoUser("host", harness.client("\(live)-host", on: hub, addresses: secondGateway))
            try await host.call("live.create", CallParams(live: live), live: live)
            try await host.call("live.join", CallParams(live: live), live: live)
            let viewer = DemoUser("viewer", harness.client("\(live)-viewer", on: hub, addresses: firstGateway))
            try await viewer.call("live.join", CallParams(live: live), live: live)
            try await Self.sendMessages(3, as: host, in: live)
            _ = try await viewer.waitForFeedItem("message 3", within: 10) { Self.text($0) == "message 3" ? true : nil }
            try await cluster.kill("gateway-1")
            // 60 messages at intervals of 150 ms take 9 s, much longer than the feed is cached.
            try await Self.sendMessages(60, from: 4, as: host, in: live)
            // Three times as long as a gateway caches the feed, so that not even the last message is cached any more.
            try await Task.sleep(for: .seconds(3))
            try await cluster.restart("gateway-1")
            let isReplayed = try await viewer.waitForUpdate("that the viewer has resumed", within: 30) {
                update -> Bool? in
                if case .event(.resumed(live, let replayed)) = update { replayed } else { nil }
            }
            #expect(isReplayed, "the missed messages must come by replay")
            _ = try await viewer.waitForFeedItem("message 63", within: 10) {
                Self.text($0) == "message 63" ? true : nil
            }
            #expect(viewer.isFeedComplete, "\(viewer.numbers)")
            #expect(viewer.texts == (1...63).map { "message \($0)" })
            let newcomer = DemoUser("newcomer", harness.client("\(live)-new", on: hub, addresses: firstGateway))
            try await newcomer.call("live.join", CallParams(live: live), live: live)
            let texts = try await newcomer.waitForUpdate("the history", within: 10) { update -> [String]? in
                if case .history(let entries, _) = update { entries.compactMap { Self.text($0.content) } } else { nil }
            }
            // The app's policy sets the history to the last 10 messages.
            #expect(texts == (54...63).map { "message \($0)" })
            try await Self.sendMessages(1, from: 64, as: host, in: live)
            _ = try await newcomer.waitForFeedItem("message 64", within: 10) {
                Self.text($0) == "message 64" ? true : nil
            }
            #expect(newcomer.texts == ["message 64"], "the messages of the history must not be repeated in the feed")
            #expect(newcomer.isFeedComplete)
        }
    }

    /// The text of a message; nil for any other feed item.
    private static func text(_ content: FeedContent) -> String? {
        if case .text(_, let text, _) = content { text } else { nil }
    }

    /// Sends `count` messages, each after the previous one was acknowledged.
    private static func sendMessages(_ count: Int, from first: Int = 1, as host: DemoUser, in live: LiveID) async throws
    {
        for number in first..<first + count {
            try await host.call("barrage.sendText", CallParams(live: live, text: "message \(number)"), live: live)
            // The pause keeps the sender below its rate limit.
            try await Task.sleep(for: .milliseconds(150))
        }
    }

    /// Writes an apps file whose demo app gives newcomers `historyCount` messages as history.
    private static func writePolicy(historyCount: Int, in directory: String) throws {
        let path = RunDirectory(directory).appsFile
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        try AppsFile.prepare(at: path, feedBudget: 60)
        let text = try String(contentsOfFile: path, encoding: .utf8)
        let budget = "\"feedBudget\" : 60"
        let changed = text.replacing(budget, with: "\(budget), \"historyCount\" : \(historyCount)")
        try changed.write(toFile: path, atomically: true, encoding: .utf8)
    }
}

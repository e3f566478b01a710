// SPDX-License-Identifier: Apache-2.0
import ClusterKit
import Foundation
import LivePlazaKit
import LoadKit
import PlazaModel
import TestSupport
import Testing

/// A viewer whose gateway dies for longer than any memory reaches, and one who is new, over real processes.
@Suite(.serialized) struct PastClusterTests {
    @Test(.enabled(if: LiveCluster.kafkaHome != nil, "needs a real Kafka: set KAFKA_HOME"), .timeLimit(.minutes(3)))
    func `I7 I8 a viewer away for longer than a gateway's memory misses nothing, and a newcomer sees what was said`()
        async throws
    {
        var options = LiveCluster.options(realKafka: 1)
        options.scale[.gateway] = 2
        options.extraArguments[.gateway] = ["--ring-seconds", "1"]
        try Self.writePolicy(historyCount: 10, in: options.runDirectory)
        try await LiveCluster.with(options) { cluster in
            let harness = try ClusterHarness(cluster)
            let hub = try ClientHub()
            defer { hub.stop() }
            let live = LiveID(ClusterHarness.name("past"))
            let (first, second) = ([harness.addresses[0]], [harness.addresses[1]])
            let host = Person("host", harness.client("\(live)-host", on: hub, addresses: second))
            try await host.call("live.create", CallParams(live: live), live: live)
            try await host.call("live.join", CallParams(live: live), live: live)
            let viewer = Person("viewer", harness.client("\(live)-viewer", on: hub, addresses: first))
            try await viewer.call("live.join", CallParams(live: live), live: live)
            try await Self.say(3, as: host, in: live)
            _ = try await viewer.see("message 3", within: 10) { Self.text($0) == "message 3" ? true : nil }
            try await cluster.kill("gateway-1")
            // The feed goes on, longer than a gateway keeps it.
            try await Self.say(60, from: 4, as: host, in: live)
            try await Task.sleep(for: .seconds(3))
            try await cluster.restart("gateway-1")
            let isReplayed = try await viewer.hear("that it is back", within: 30) { update -> Bool? in
                if case .event(.resumed(live, let replayed)) = update { replayed } else { nil }
            }
            #expect(isReplayed)
            _ = try await viewer.see("message 63", within: 10) { Self.text($0) == "message 63" ? true : nil }
            #expect(viewer.isFeedWhole, "\(viewer.numbers)")
            #expect(viewer.texts == (1...63).map { "message \($0)" })
            let newcomer = Person("newcomer", harness.client("\(live)-new", on: hub, addresses: first))
            try await newcomer.call("live.join", CallParams(live: live), live: live)
            let texts = try await newcomer.hear("what was said", within: 10) { update -> [String]? in
                if case .history(let entries, _) = update { entries.compactMap { Self.text($0.content) } } else { nil }
            }
            #expect(texts == (54...63).map { "message \($0)" })
            try await Self.say(1, from: 64, as: host, in: live)
            _ = try await newcomer.see("message 64", within: 10) { Self.text($0) == "message 64" ? true : nil }
            #expect(newcomer.texts == ["message 64"], "history is no news")
            #expect(newcomer.isFeedWhole)
        }
    }

    private static func text(_ content: FeedContent) -> String? {
        if case .text(_, let text, _) = content { text } else { nil }
    }

    /// Says so many things, each once the one before was acknowledged.
    private static func say(_ count: Int, from first: Int = 1, as host: Person, in live: LiveID) async throws {
        for number in first..<first + count {
            try await host.call("barrage.sendText", CallParams(live: live, text: "message \(number)"), live: live)
            // No faster than what any sender may send.
            try await Task.sleep(for: .milliseconds(150))
        }
    }

    /// Makes the cluster's apps file, with what the demo app gives newcomers.
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

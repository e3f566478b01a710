// SPDX-License-Identifier: Apache-2.0
import ClusterKit
import Foundation
import LivePlazaKit
import LoadKit
import PlazaModel
import PlazaWire
import TestSupport
import Testing

/// An app's backend that changes its mind, beside real processes.
@Suite(.serialized) struct HookRepeatTests {
    @Test(.timeLimit(.minutes(3)))
    func `I15 a call that is sent again has its first outcome, whatever the backend says the second time`()
        async throws
    {
        let yes = #"{"code": 0}"#
        let no = #"{"code": 102150, "message": "no credit"}"#
        // A text, a gift and another gift; then all of them again, where the backend says the contrary of each.
        let answers = [yes, no, yes, no, yes, no]
        let receiver = try HookReceiver { index, _ in .answer(200, answers[index % answers.count]) }
        try await LiveCluster.with(try HookClusterTests.shopOptions(receiver)) { cluster in
            let hub = try ClientHub()
            defer { hub.stop() }
            let (harness, gateway, server) = try await HookClusterTests.openShop(cluster)
            let carl = Person("carl", harness.client("carl", on: hub))
            try await carl.call("live.join", CallParams(live: "a"), live: "a")

            // A device that begins anew counts its calls from 1 again: in the same session they are the same calls.
            let options = ClientCore.Options(token: harness.token("bob"), session: "bob")
            let first = try await Self.calls(of: hub.client(addresses: harness.addresses, options: options))
            let second = try await Self.calls(of: hub.client(addresses: harness.addresses, options: options))
            #expect(first == second)
            #expect(first.map(Self.text) == ["sent", "102150 no credit", "sent"])
            #expect(receiver.received.count == 6)
            let said = try await harness.ask(
                "POST", "/v1/lives/a/messages", #"{"text":"the last one"}"#, of: gateway.http, token: server)
            #expect(said.status == 200, "\(said.text)")
            let last = try await carl.see("the last message") { content in
                if case .text(_, "the last one", _) = content { true } else { nil }
            }
            #expect(last)
            #expect(carl.texts == ["once", "the last one"])
            let figures = try await carl.call("live.summary", CallParams(live: "a"))
            guard case .statistics(let statistics) = figures else { throw EveningFailure("no figures: \(figures)") }
            #expect(statistics.totalGiftsSent == 7 && statistics.totalMessageCount == 2)
        }
    }

    private static func calls(of client: PlazaClient) async throws -> [Outcome] {
        defer { client.stop() }
        try await client.call("live.join", CallParams(live: "a"), live: "a")
        var outcomes: [Outcome] = []
        for (method, params) in [
            ("barrage.sendText", ["live": "a", "text": "once"] as JSONValue),
            ("gift.send", ["live": "a", "gift": "rose", "count": 5]),
            ("gift.send", ["live": "a", "gift": "rose", "count": 7]),
        ] {
            do {
                outcomes.append(.success(result: try await client.call(method, params, live: "a")))
            } catch {
                outcomes.append(.failure(error: error))
            }
        }
        return outcomes
    }

    private static func text(_ outcome: Outcome) -> String {
        switch outcome {
        case .success(.sent): "sent"
        case .success(let result): "\(result)"
        case .failure(let error): "\(error.code.code) \(error.message)"
        }
    }
}

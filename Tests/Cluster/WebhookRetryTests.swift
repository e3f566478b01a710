// SPDX-License-Identifier: Apache-2.0
import ClusterKit
import Foundation
import LoadKit
import PlazaModel
import PlazaWire
import ProtocolClient
import TestSupport
import Testing

/// Tests of repeated calls in real processes, with a backend that answers the repeated call differently.
@Suite(.serialized) struct WebhookRetryTests {
    /// Rules: R14.12.
    @Test(.timeLimit(.minutes(3)))
    func `I15 a repeated call has its first outcome, whatever the backend answers the second time`()
        async throws
    {
        let acceptance = #"{"code": 0}"#
        let rejection = #"{"code": 102150, "message": "no credit"}"#
        // The decisions for a text and two gifts, then the opposite decisions for the repeated calls.
        let answers = [acceptance, rejection, acceptance, rejection, acceptance, rejection]
        let receiver = try WebhookReceiver { index, _ in .answer(200, answers[index % answers.count]) }
        try await LiveCluster.with(try WebhookClusterTests.shopOptions(receiver)) { cluster in
            let hub = try ClientHub()
            defer { hub.stop() }
            let (harness, gateway, serverToken) = try await WebhookClusterTests.openShop(cluster)
            let carl = DemoUser("carl", harness.client("carl", on: hub))
            try await carl.call("live.join", CallParams(live: "concert"), live: "concert")

            // A second client in the same session counts its calls from 1 again, so its calls repeat those of the
            // first.
            let options = ClientCore.Options(token: harness.token("bob"), session: "bob")
            let firstOutcomes = try await Self.outcomes(of: hub.client(addresses: harness.addresses, options: options))
            let secondOutcomes = try await Self.outcomes(of: hub.client(addresses: harness.addresses, options: options))
            #expect(firstOutcomes == secondOutcomes)
            #expect(firstOutcomes.map(Self.text) == ["sent", "102150 no credit", "sent"])
            #expect(receiver.received.count == 6)
            // The backend is not asked about a message of the app's server.
            let response = try await harness.sendRequest(
                "POST", "/v1/lives/concert/messages", #"{"text":"the last one"}"#, of: gateway.http, token: serverToken)
            #expect(response.status == 200, "\(response.text)")
            _ = try await carl.waitForFeedItem("the last message") { content in
                if case .text(_, "the last one", _) = content { true } else { nil }
            }
            #expect(carl.texts == ["once", "the last one"])
            let summary = try await carl.call("live.summary", CallParams(live: "concert"))
            guard case .statistics(let statistics, _) = summary else { throw ScenarioFailure("no summary: \(summary)") }
            // Only the gift of seven roses was sent.
            #expect(statistics.totalGiftsSent == 7 && statistics.totalMessageCount == 2)
        }
    }

    /// Joins the live, sends a text and two gifts, and returns the outcomes of these three calls.
    private static func outcomes(of client: PlazaClient) async throws -> [Outcome] {
        defer { client.stop() }
        try await client.call("live.join", CallParams(live: "concert"), live: "concert")
        var outcomes: [Outcome] = []
        for (method, params) in [
            ("barrage.sendText", ["live": "concert", "text": "once"] as JSONValue),
            ("gift.send", ["live": "concert", "gift": "rose", "count": 5]),
            ("gift.send", ["live": "concert", "gift": "rose", "count": 7]),
        ] {
            do {
                outcomes.append(.success(result: try await client.call(method, params, live: "concert")))
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

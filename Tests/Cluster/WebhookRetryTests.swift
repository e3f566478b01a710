// SPDX-License-Identifier: Apache-2.0
import ClusterKit
import Foundation
import LoadKit
import PlazaModel
import PlazaWire
import ProtocolClient
import TestSupport
import Testing

/// A test with real processes of repeated calls, about which the app's backend decides differently the second time.
@Suite(.serialized) struct WebhookRetryTests {
    /// Rules: R14.12.
    @Test(.timeLimit(.minutes(3)))
    func `I15 a repeated call gets the outcome of its first copy, though the backend now decides differently`()
        async throws
    {
        let acceptance = #"{"code": 0}"#
        let rejection = #"{"code": 102150, "message": "no credit"}"#
        // Bob sends a text and two gifts.
        let firstDecisions = [acceptance, rejection, acceptance]
        let oppositeDecisions = [rejection, acceptance, rejection]
        let decisions = firstDecisions + oppositeDecisions
        let receiver = try RecordingReceiver { index, _ in .answer(200, decisions[index % decisions.count]) }
        try await TestCluster.with(WebhookClusterTests.optionsAsking(receiver)) { cluster in
            let hub = try ClientHub()
            defer { hub.stop() }
            let (harness, gateway, serverToken) = try await WebhookClusterTests.createLiveAndGift(in: cluster)
            let carl = DemoUser("carl", harness.client("carl", on: hub))
            try await carl.call("live.join", CallParams(live: "concert"), live: "concert")

            // The second client has the session of the first and counts its calls from 1 again. So its calls have the
            // request ids of the first client's calls, and repeat them.
            let options = BareClientCore.Options(token: harness.token("bob"), session: "bob")
            let firstClient = hub.client(addresses: harness.addresses, options: options)
            let firstOutcomes = try await Self.sendTextAndTwoGifts(with: firstClient)
            let secondClient = hub.client(addresses: harness.addresses, options: options)
            let secondOutcomes = try await Self.sendTextAndTwoGifts(with: secondClient)
            #expect(firstOutcomes == secondOutcomes)
            #expect(firstOutcomes.map(Self.description) == ["sent", "102150 no credit", "sent"])
            #expect(receiver.received.count == 6, "the backend must be asked about all calls, also the repeated ones")
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
            #expect(statistics.totalGiftsSent == 7, "only the gift of seven roses may be sent, and only once")
            #expect(statistics.totalMessageCount == 2)
        }
    }

    /// Joins the live, sends a text, a gift of 5 roses and a gift of 7, and returns the outcomes of these three calls.
    private static func sendTextAndTwoGifts(with client: PlazaClient) async throws -> [Outcome] {
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

    /// A short text of an outcome for comparisons: `sent`, or the code and message of the error.
    private static func description(_ outcome: Outcome) -> String {
        switch outcome {
        case .success(.sent): "sent"
        case .success(let result): "\(result)"
        case .failure(let error): "\(error.code.code) \(error.message)"
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
import ClusterKit
import LoadKit
import PlazaModel
import ProtocolClient
import TestSupport
import Testing

/// A test with real processes of an app's filtered words: a message that contains one is rejected.
@Suite(.serialized) struct FilteredWordsTests {
    @Test(.timeLimit(.minutes(3)))
    func `messages with a word that was set over HTTP are rejected until the word is removed`() async throws {
        try await TestCluster.with(TestCluster.options()) { cluster in
            let hub = try ClientHub()
            defer { hub.stop() }
            let harness = try ClusterHarness(cluster)
            let gateway = try #require(cluster.gateways.first)
            let serverToken = harness.token("shop", isServer: true)
            // Sends a request of the app's server over HTTP, which must succeed.
            func sendAsServer(_ method: String, _ path: String, _ body: String = "") async throws {
                let answer = try await harness.sendRequest(method, path, body, of: gateway.http, token: serverToken)
                #expect((200...201).contains(answer.status), "\(path): \(answer.text)")
            }
            try await sendAsServer("POST", "/v1/lives", #"{"live":"concert","owner":"alice"}"#)
            let bob = DemoUser("bob", harness.client("bob", on: hub))
            try await bob.call("live.join", CallParams(live: "concert"), live: "concert")
            try await bob.call("barrage.sendText", CallParams(live: "concert", text: "a Durian!"), live: "concert")
            try await sendAsServer("PUT", "/v1/app/words", #"{"words":["durian","mothball"]}"#)
            try await Self.send("a Durian!", as: bob, until: .rejected)
            // Capital letters and an ending do not hide a word.
            try await bob.expectRejection(
                .sensitiveWords, "barrage.sendText", CallParams(live: "concert", text: "MOTHBALLS"))
            try await bob.call("barrage.sendText", CallParams(live: "concert", text: "an orange"), live: "concert")
            try await sendAsServer("DELETE", "/v1/app/words?word=durian")
            try await Self.send("a Durian!", as: bob, until: .accepted)
            // The other word is still filtered.
            try await bob.expectRejection(
                .sensitiveWords, "barrage.sendText", CallParams(live: "concert", text: "mothball"))
        }
    }

    private enum Decision: String { case accepted, rejected }

    /// Sends a text repeatedly, for at most 20 s, until the decision about it is the expected one.
    ///
    /// The fan-out applies changed words a moment after the call that changes them.
    private static func send(_ text: String, as user: DemoUser, until expected: Decision) async throws {
        let deadline = ContinuousClock.now + .seconds(20)
        while ContinuousClock.now < deadline {
            do {
                _ = try await user.client.call(
                    "barrage.sendText", CallParams(live: "concert", text: text), live: "concert")
                if expected == .accepted { return }
            } catch {
                if error.code == .sensitiveWords, expected == .rejected { return }
                guard [.sensitiveWords, .tooFrequent].contains(error.code) else { throw error }
            }
        }
        throw ScenarioFailure("after 20 s, \(text) is not yet \(expected.rawValue)")
    }
}

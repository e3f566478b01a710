// SPDX-License-Identifier: Apache-2.0
import ClusterKit
import Concurrency
import HTTPClient
import MachineKit
import PlazaModel
import PlazaWire
import Testing

@testable import ChaosKit

/// Tests of the app's backend of a chaos run: which requests it accepts as genuine, and how often it fails.
struct AppBackendTests {
    private static let secret = "a secret of the tests"
    private static let now = Timestamp(milliseconds: 1_700_000_000_000)
    /// An event of partition 3 and offset 17, as its id says: Alice has set the metadata key `n`.
    private static let body =
        #"{"id":"3-17","v":1,"app":"demo","live":"concert","at":1700000000000,"#
        + #""content":{"metadataSet":{"by":"alice","values":{"n":"5"}}}}"#

    /// The headers of a request that was signed at the time `seconds`.
    private static func headers(
        _ body: String, kind: String = "metadataSet", secret: String = Self.secret, at seconds: Int64
    ) -> [String: String] {
        let signature = HMACSHA256.hex(of: Array("\(seconds).\(body)".utf8), key: Array(secret.utf8))
        return [
            "liveplaza-timestamp": "\(seconds)", "liveplaza-signature": "v1=\(signature)", "liveplaza-event": kind,
        ]
    }

    private static func read(_ headers: [String: String], _ body: String = Self.body) -> BackendRequest.Content {
        BackendRequest.read(
            headers: headers, body: Array(body.utf8), secret: Self.secret, app: "demo", at: Self.now)
    }

    @Test func `an event is read as WEBHOOKS_md describes it`() {
        let event = WebhookEvent(
            LiveKey("demo", "concert"), at: Self.now, .metadataSet(values: ["n": "5"], by: "alice"))
        #expect(
            Self.read(Self.headers(Self.body, at: 1_700_000_000))
                == .event(EventPlace(partition: 3, offset: 17), event))
    }

    @Test func `a question about a gift is read as WEBHOOKS_md describes it`() {
        let body =
            #"{"v":1,"id":"x","app":"demo","live":"concert","at":1700000000000,"content":{"beforeGift":"#
            + #"{"sender":{"userID":"bob","userName":"","avatarURL":""},"giftID":"rose","count":5,"coins":15,"#
            + #""receivers":["alice"]}}}"#
        let question = GiftQuestion(id: "x", live: "concert", sender: "bob", gift: "rose", count: 5, coins: 15)
        #expect(Self.read(Self.headers(body, kind: "beforeGift", at: 1_700_000_000), body) == .question(question))
    }

    @Test func `a wrong signature, time, kind or body is rejected`() {
        let right = Self.headers(Self.body, at: 1_700_000_000)
        let wrongSecret = Self.headers(Self.body, secret: "another secret of tests", at: 1_700_000_000)
        #expect(Self.read(wrongSecret) == .malformed("its signature is wrong"))
        #expect(Self.read(right, Self.body.replacing("alice", with: "mallory")) == .malformed("its signature is wrong"))
        var laterTimestamp = right
        laterTimestamp["liveplaza-timestamp"] = "1700000001"
        #expect(Self.read(laterTimestamp) == .malformed("its signature is wrong"))
        // One second more than the tolerated minute, in both directions.
        #expect(
            Self.read(Self.headers(Self.body, at: 1_700_000_061))
                == .malformed("its timestamp is more than a minute off"))
        #expect(
            Self.read(Self.headers(Self.body, at: 1_699_999_939))
                == .malformed("its timestamp is more than a minute off"))
        #expect(Self.read([:]) == .malformed("it has no timestamp"))
        #expect(
            Self.read(Self.headers(Self.body, kind: "roomEnded", at: 1_700_000_000))
                == .malformed("its header names another event than its body"))
        for body in [
            "", "{}", Self.body.replacing("demo", with: "other"), Self.body.replacing("\"v\":1", with: "\"v\":2"),
        ] {
            #expect(
                Self.read(Self.headers(body, at: 1_700_000_000), body) == .malformed("its body has another form"))
        }
        let badID = Self.body.replacing("3-17", with: "17")
        #expect(Self.read(Self.headers(badID, at: 1_700_000_000), badID) == .malformed("its event cannot be read"))
    }

    /// Posts an event with this offset as a service does, and returns the status of the answer.
    private static func post(_ offset: Int, to hooks: AppHooks, by client: HTTPClient) async -> Int? {
        let body = Self.body.replacing("3-17", with: "3-\(offset)")
        let seconds = Timestamp.ofThisMachine.seconds
        let headers = Self.headers(body, secret: hooks.secret, at: seconds).map { ($0.key, $0.value) }
        let request = HTTPPost(url: hooks.url, headers: headers, body: Array(body.utf8), timeout: .seconds(1))
        let result = await withCheckedContinuation { continuation in
            client.send(request) { continuation.resume(returning: $0) }
        }
        if case .answered(let status, _) = result { return status }
        return nil
    }

    @Test(.timeLimit(.minutes(1)))
    func `a backend fails now and then, at most twice for an event, and never while it is set to be reliable`()
        async throws
    {
        var options = ClusterOptions(runDirectory: "unused")
        let backend = try AppBackend(for: &options)
        defer { backend.stop() }
        let hooks = try #require(options.hooks)
        #expect(hooks.validationError == nil && hooks.before?.gift == .refuse)
        let client = HTTPClient(maxOpenRequests: 16)
        let thread = DedicatedThread("chaos-backend-test") { client.run() }
        defer {
            client.stop()
            thread.join()
        }
        var failures = 0
        for offset in 0..<100 {
            var attempts = 1
            while await Self.post(offset, to: hooks, by: client) != 200 {
                attempts += 1
                failures += 1
            }
            #expect(attempts <= 3)
        }
        #expect(failures > 0 && failures < 50, "\(failures)")
        backend.setReliable(true)
        for offset in 100..<200 { #expect(await Self.post(offset, to: hooks, by: client) == 200) }
        let requests = backend.requests(aboutLivesNamed: "conc", since: Self.now)
        #expect(requests.count == 200 + failures)
        #expect(requests.count { $0.answer == .accepted } == 200)
        #expect(backend.requests(aboutLivesNamed: "other", since: Self.now).isEmpty)
        let start = try #require(requests.first).at
        backend.forget(livesNamed: "other", until: start)
        #expect(backend.requests(aboutLivesNamed: "conc", since: Self.now).count == requests.count)
        backend.forget(livesNamed: "conc", until: start)
        #expect(backend.requests(aboutLivesNamed: "conc", since: Self.now).isEmpty)
    }
}

// SPDX-License-Identifier: Apache-2.0
import ClusterKit
import Concurrency
import Foundation
import HTTPClient
import MachineKit
import TestSupport
import Testing

/// Tests of `HTTPClient`, which posts webhooks to apps' backends, and of the signatures of its requests.
@Suite(.timeLimit(.minutes(3))) struct HTTPClientTests {
    /// A client that runs on a dedicated thread.
    private final class RunningClient: Sendable {
        let client: HTTPClient

        init(maxOpenRequests: Int = 10) {
            let client = HTTPClient(maxOpenRequests: maxOpenRequests)
            self.client = client
            _ = DedicatedThread("test") { client.run() }
        }

        deinit { self.client.stop() }

        func post(_ url: String, _ body: String = "{}", timeoutMilliseconds: Int = 10_000) async -> HTTPResult {
            await withCheckedContinuation { continuation in
                self.client.send(
                    HTTPPost(
                        url: url, headers: [("X-Test", "yes")], body: Array(body.utf8),
                        timeout: .milliseconds(timeoutMilliseconds))
                ) { continuation.resume(returning: $0) }
            }
        }
    }

    @Test func `a large request arrives completely, and its response is returned`() async throws {
        let receiver = try RecordingReceiver { _, received in .answer(201, "got \(received.body.count)") }
        let runningClient = RunningClient()
        // In UTF-8 each character takes two bytes.
        let body = String(repeating: "ä", count: 30_000)
        #expect(await runningClient.post(receiver.url, body) == .answered(status: 201, body: Array("got 60000".utf8)))
        let received = try #require(receiver.received.first)
        #expect(received.text == body)
        #expect(received.headers["x-test"] == "yes" && received.headers["content-type"] == "application/json")
        #expect(received.headers["expect"] == nil, "the client must not wait for a status 100 before it sends the body")
        #expect(await runningClient.post(receiver.url, "") == .answered(status: 201, body: Array("got 0".utf8)))
    }

    @Test func `200 concurrent requests are all answered, and do not count as open any more`() async throws {
        let receiver = try RecordingReceiver { index, _ in .answer(200, "\(index)") }
        let runningClient = RunningClient(maxOpenRequests: 200)
        // The client may have 200 open requests. If a request of the first round still counted as open, a request of
        // the second round would fail.
        for round in 1...2 {
            let results = await withTaskGroup(of: HTTPResult.self, returning: [HTTPResult].self) { group in
                for _ in 0..<200 { group.addTask { await runningClient.post(receiver.url) } }
                return await group.reduce(into: []) { $0.append($1) }
            }
            let bodies = results.compactMap { if case .answered(200, let body) = $0 { body } else { nil } }
            #expect(Set(bodies).count == 200, "round \(round): each request has its own response")
        }
    }

    @Test func `a request to a silent server fails after one timeout`() async throws {
        let receiver = try RecordingReceiver { _, _ in .keepSilent }
        let runningClient = RunningClient()
        let startMilliseconds = MonotonicClock.now.milliseconds
        #expect(await runningClient.post(receiver.url, timeoutMilliseconds: 200) == .failed(.timedOut))
        // The lower bound is a little below the timeout of 200 ms, because clocks round. The upper bound is large,
        // because many other tests may run before this one continues.
        #expect((190..<120_000).contains(MonotonicClock.now.milliseconds - startMilliseconds))
        #expect(receiver.received.count <= 1, "the client must not send the request again")
    }

    @Test func `a request to an unreachable server fails with a typed error`() async throws {
        let runningClient = RunningClient()
        let port = try FreePort.find()
        for url in ["http://127.0.0.1:\(port)/", "ftp://127.0.0.1/", "http://nowhere.invalid/", "no address"] {
            guard case .failed(.unreachable(let detail)) = await runningClient.post(url) else {
                Issue.record("\(url) was reached")
                continue
            }
            #expect(!detail.isEmpty)
        }
    }

    @Test
    func `I16 a request with a too large response fails, and so does a request beyond the limit of open requests`()
        async throws
    {
        let largeBody = String(repeating: "x", count: HTTPClient.maxResponseBytes + 1)
        let receiver = try RecordingReceiver { index, _ in index == 0 ? .answer(200, largeBody) : .keepSilent }
        let runningClient = RunningClient(maxOpenRequests: 1)
        #expect(await runningClient.post(receiver.url) == .failed(.tooLarge))

        // The second request is not answered, so it stays open.
        async let openResult = runningClient.post(receiver.url, timeoutMilliseconds: 5000)
        try #require(receiver.wait { $0.count == 2 } != nil)
        #expect(await runningClient.post(receiver.url) == .failed(.full))

        runningClient.client.stop()
        #expect(await openResult == .failed(.stopped))
        #expect(await runningClient.post(receiver.url) == .failed(.stopped))
    }

    @Test(
        arguments: [
            // These are the test cases 1, 2 and 6 of RFC 4231.
            (
                [UInt8](repeating: 0x0B, count: 20), "Hi There",
                "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
            ),
            (
                Array("Jefe".utf8), "what do ya want for nothing?",
                "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
            ),
            (
                [UInt8](repeating: 0xAA, count: 131), "Test Using Larger Than Block-Size Key - Hash Key First",
                "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
            ),
        ])
    func `HMAC-SHA256 signatures match the examples of RFC 4231`(key: [UInt8], message: String, digest: String) {
        #expect(HMACSHA256.hex(of: Array(message.utf8), key: key) == digest)
    }
}

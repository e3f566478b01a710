// SPDX-License-Identifier: Apache-2.0
import Concurrency
import HTTPClient
import MachineKit
import Observability
import PlazaModel
import PlazaWire
import TestSupport
import Testing
import Webhooks

/// Tests of apps' backends that are reached by TLS, and whose certificates a private authority has signed.
@Suite(.enabled(if: PrivateAuthority.isAvailable, "install openssl"), .timeLimit(.minutes(1)))
struct WebhookTLSTests {
    /// The result of a POST by an HTTP client.
    ///
    /// The client trusts the system's authorities, and those in `caFile` unless it is nil.
    private static func post(_ url: String, caFile: String?) async -> HTTPResult {
        let client = HTTPClient(maxOpenRequests: 1, caFile: caFile)
        _ = DedicatedThread("test") { client.run() }
        defer { client.stop() }
        return await withCheckedContinuation { continuation in
            client.send(HTTPPost(url: url, headers: [], body: Array("{}".utf8), timeout: .seconds(10))) {
                continuation.resume(returning: $0)
            }
        }
    }

    /// Rules: R14.25.
    @Test func `a backend is trusted only if its authority is trusted and its certificate names its address`()
        async throws
    {
        let authority = try await runOnDedicatedThread { try PrivateAuthority() }
        let otherAuthority = try await runOnDedicatedThread { try PrivateAuthority() }
        let receiver = try await runOnDedicatedThread { try SecureReceiver(authority) }
        defer { receiver.stop() }
        let url = "https://127.0.0.1:\(receiver.port)/hook"
        let answer = HTTPResult.answered(status: 200, body: Array(#"{"code":0}"#.utf8))
        #expect(await Self.post(url, caFile: authority.certificate) == answer)
        // The certificate is for 127.0.0.1, not for localhost.
        for (testedURL, caFile) in [
            (url, nil), (url, otherAuthority.certificate), (url, "/no/such/file.pem"),
            ("https://localhost:\(receiver.port)/hook", authority.certificate),
        ] {
            guard case .failed(.untrusted) = await Self.post(testedURL, caFile: caFile) else {
                Issue.record("\(testedURL) was trusted with the authorities of \(caFile ?? "the system")")
                continue
            }
        }
    }

    @Test
    func `a webhook client reaches a backend only if it trusts the private authority of the backend's certificate`()
        async throws
    {
        let authority = try await runOnDedicatedThread { try PrivateAuthority() }
        let receiver = try await runOnDedicatedThread { try SecureReceiver(authority) }
        defer { receiver.stop() }
        let hooks = AppHooks(
            url: "https://127.0.0.1:\(receiver.port)/hook", secret: "a secret of the app",
            before: AppHooks.BeforeHooks(gift: .refuse))
        let gift = BeforeContent.beforeGift(
            sender: UserInfo(userID: "bob"), giftID: "rose", count: 1, coins: 1, receivers: [])
        let request = WebhookRequest(
            id: "s-1/1", key: LiveKey("demo", "concert"), at: Timestamp(milliseconds: 1), content: gift)
        // The backend allows every gift. If the client does not reach the backend, the policy `refuse` decides.
        for (caFile, isAllowed) in [(authority.certificate, true), (nil, false)] {
            let client = WebhookClient(hooks: ["demo": hooks], caFile: caFile, metrics: MetricsRegistry())
            _ = DedicatedThread("test") { client.run() }
            let decision = await withCheckedContinuation { continuation in
                do throws(ReplyError) {
                    try client.send(request) { continuation.resume(returning: $0) }
                } catch {
                    continuation.resume(returning: .refused(error))
                }
            }
            client.stop()
            #expect((decision == .allowed) == isAllowed)
        }
    }
}

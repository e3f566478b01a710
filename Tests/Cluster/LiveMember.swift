// SPDX-License-Identifier: Apache-2.0
import LivePlazaKit
import LivePlazaTransport
import TestSupport

/// A user in a live, with the stores of that live.
struct LiveMember {
    let live: String
    let user: StoreUser
    let stores: StoresOfLive
    var id: String { self.user.id }

    /// Logs a user in who creates a live; the live's id begins with `prefix`.
    static func makeHost(
        _ prefix: String, _ harness: ClusterHarness, _ transport: LoopTransport, callTimeout: Duration = .seconds(15)
    ) async throws -> LiveMember {
        let live = ClusterHarness.uniqueName(prefix)
        let user = StoreUser("\(live)-host", harness, over: transport, callTimeout: callTimeout)
        let host = LiveMember(live: live, user: user)
        try await host.user.login(harness)
        var info = LivePlazaKit.LiveInfo()
        info.liveID = live
        _ = try await host.user.plaza.liveListStore.createLive(info)
        return host
    }

    /// Logs another user in, who enters the live.
    func addViewer(
        _ name: String, _ harness: ClusterHarness, _ transport: LoopTransport, callTimeout: Duration = .seconds(15),
        tokens: TokenSource? = nil
    ) async throws -> LiveMember {
        let user = StoreUser(
            "\(self.live)-\(name)", harness, over: transport, callTimeout: callTimeout, tokens: tokens)
        let viewer = LiveMember(live: self.live, user: user)
        try await viewer.user.login(harness)
        _ = try await viewer.user.plaza.liveListStore.joinLive(liveID: self.live)
        return viewer
    }

    private init(live: String, user: StoreUser) {
        (self.live, self.user, self.stores) = (live, user, user.stores(of: live))
    }

    /// Waits until the member's stores have published an event whose description begins with `prefix`.
    func waitForEvent(_ prefix: String) async throws { try await self.user.waitForEvent(prefix) }
}

/// Makes a call about seats; if the gateway's rate limit rejects it, waits as long as the gateway demands and makes
/// it once more.
func retryAtRateLimit(_ call: () async throws -> Void) async throws {
    do {
        try await call()
    } catch let error as ErrorInfo where error.name == .tooFrequent {
        try await Task.sleep(for: error.retryAfter ?? .seconds(1))
        try await call()
    }
}

// SPDX-License-Identifier: Apache-2.0
import Foundation
import PlazaModel
import PlazaWire
import Testing

@testable import LivePlazaKit

/// How stores check and send the values that an app passes to them.
@Suite struct StoreParameterTests {
    /// The result of a call, once the call has ended.
    private final class Outcome<Value: Sendable>: Sendable {
        private let result = Locked<Result<Value, ErrorInfo>?>(nil)
        var error: ErrorInfo? {
            if case .failure(let error)? = self.result.withLock({ $0 }) { error } else { nil }
        }
        var hasSucceeded: Bool { if case .success? = self.result.withLock({ $0 }) { true } else { false } }
        func set(_ result: Result<Value, ErrorInfo>) { self.result.withLock { $0 = result } }
    }

    @Test func `a seat template sets the number of seats and the id of its layout`() {
        // The ids of layouts in the protocol: 50 is `karaoke`, 70 `audioSalon`, 601 `videoDynamicFloat7Seats`.
        var info = LivePlazaKit.LiveInfo(seatTemplate: .karaoke(seatCount: 6))
        #expect(info.maxSeatCount == 6 && info.seatLayoutTemplateID == 50)
        info.seatTemplate = .audioSalon(seatCount: 10)
        #expect(info.maxSeatCount == 10 && info.seatLayoutTemplateID == 70)
        info.maxSeatCount = 4
        #expect(info.creationParams["maxSeatCount"] == 4)
        // The server knows how many seats a video template has, so the client sends no number.
        info.seatTemplate = .videoDynamicFloat7Seats
        #expect(info.maxSeatCount == 0 && info.creationParams["maxSeatCount"] == nil)
        #expect(info.creationParams["seatTemplate"] == 601)
    }

    @Test(arguments: [("1400000001", 1_400_000_001, true), ("1400000001", 7, false), ("demo", 7, true)])
    func `a login fails only if the token names the number of another app`(
        appOfToken: String, sdkAppID: Int, isAccepted: Bool
    ) {
        let harness = StoreHarness()
        let plaza = harness.makeClient()
        let outcome = Outcome<Void>()
        plaza.loginStore.login(
            sdkAppID: Int32(sdkAppID), userID: "carol", userSig: Self.token(app: appOfToken), completion: outcome.set)
        harness.queue.drain()
        harness.network.socket?.open()
        harness.queue.drain()
        #expect(outcome.hasSucceeded == isAccepted)
        guard !isAccepted else { return }
        #expect(outcome.error?.name == .sdkAppIDNotFound && outcome.error?.code == -1000)
        #expect(harness.network.socket == nil, "expected that the client does not connect")
        #expect(plaza.loginStore.state.value.loginStatus == .unlogin)
    }

    @Test func `a login fails if the token of the token provider names the number of another app`() async throws {
        let harness = StoreHarness()
        let plaza = harness.makeClient()
        let token = Self.token(app: "1400000001")
        plaza.engine.onQueue { $0.options.tokenProvider = { token } }
        harness.queue.drain()
        let outcome = Outcome<Void>()
        plaza.loginStore.login(sdkAppID: 7, userID: "carol", userSig: "", completion: outcome.set)
        harness.queue.drain()
        harness.network.socket?.open()
        harness.queue.drain()
        #expect(outcome.error?.name == .sdkAppIDNotFound)
        #expect(harness.network.socket?.isClosed == true)
        #expect(plaza.loginStore.state.value == LoginState())
    }

    @Test func `calls for lives of a category and for removing metadata send their parameters, and succeed`() throws {
        let harness = StoreHarness(
            answers: [
                "live.list": ["lives": ["items": [], "cursor": ""]], "metadata.delete": ["done": [:]],
            ])
        let plaza = harness.makeClient()
        harness.loginAndEnter(plaza)
        let (page, removal) = (Outcome<Void>(), Outcome<Void>())
        plaza.liveListStore.fetchLiveList(
            cursor: "", count: 20, category: 3, isDescending: false, completion: page.set)
        plaza.liveListStore.deleteLiveMetaData(keys: ["product"], completion: removal.set)
        harness.queue.drain()
        #expect(page.hasSucceeded && removal.hasSucceeded)
        let sent = try #require(harness.network.socket).sent
        #expect(
            sent.first { $0.method == "live.list" }?.params == ["count": 20, "category": 3, "order": "ascending"])
        #expect(
            sent.first { $0.method == "metadata.delete" }?.params == ["live": "concert", "keys": ["product"]])
    }

    @Test func `an app can make the statistics that a live ends with, such as for a test of a result screen`() {
        let statistics = TUILiveStatisticsData()
        #expect(statistics.totalViewers == 0 && statistics.liveDuration == 0)
        statistics.totalViewers = 8
        statistics.liveDuration = 60_000
        #expect(statistics.totalViewers == 8 && statistics.liveDuration == 60_000 && statistics.totalGiftCoins == 0)
    }

    /// A token whose only claim is its app.
    private static func token(app: String) -> String {
        let claims = Data(#"{"app":"\#(app)"}"#.utf8).base64EncodedString().replacing("=", with: "")
        return "h.\(claims).s"
    }
}

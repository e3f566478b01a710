// SPDX-License-Identifier: Apache-2.0
import LivePlazaKit
import LivePlazaTesting
import Testing

/// Messages from before the join, which a newcomer gets if the app's `historyCount` is above 0.
struct SimulatedHistoryTests {
    /// Rules: R5.15.
    @Test func `a newcomer gets the last messages, as many as historyCount says, each once`() async throws {
        let cluster = SimulatedCluster(historyCount: 2)
        let host = try cluster.user("host")
        try host.createLive("eve")
        for text in ["one", "two", "three"] { try host.say(text, in: "eve") }
        let viewer = AppUser("viewer", on: cluster, live: "eve")
        let barrage = viewer.plaza.barrageStore(liveID: "eve")
        try await viewer.login()
        try await viewer.joinLive("eve")
        try host.say("four", in: "eve")
        cluster.settle()
        #expect(barrage.state.value.messageList.map(\.textContent) == ["two", "three", "four"])
    }

    /// The connection is cut while the user logs in and enters, also between the reply to the join and the history.
    ///
    /// Rules: R5.19.
    @Test(arguments: 0..<16, [false, true])
    func `a newcomer whose connection is cut once gets each message once`(
        frameCount: Int, hostSpeaksMeanwhile: Bool
    ) throws {
        let cluster = SimulatedCluster(seed: UInt64(frameCount) + 1, historyCount: 50)
        let host = try cluster.user("host")
        try host.createLive("eve")
        for text in ["one", "two"] { try host.say(text, in: "eve") }
        let viewer = cluster.client("viewer")
        let barrage = viewer.barrageStore(liveID: "eve")
        let failures = Failures()
        cluster.cutConnection(of: "viewer", afterFrames: frameCount)
        viewer.loginStore.login(
            sdkAppID: 1, userID: "viewer", userSig: cluster.token("viewer"), completion: failures.record("login"))
        cluster.settle()
        let entered = failures.record("enter")
        viewer.liveListStore.joinLive(liveID: "eve") { entered($0.map { _ in }) }
        cluster.settle()
        if hostSpeaksMeanwhile { try host.say("three", in: "eve") }
        cluster.advance(by: .seconds(12))
        try host.say("four", in: "eve")
        cluster.advance(by: .seconds(12))
        #expect(failures.all == [])
        let texts = barrage.state.value.messageList.map(\.textContent)
        #expect(texts == ["one", "two"] + (hostSpeaksMeanwhile ? ["three"] : []) + ["four"])
    }
}

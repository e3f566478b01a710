// SPDX-License-Identifier: Apache-2.0
import LivePlazaCombine
import LivePlazaTesting
import MachineKit
import PlazaModel
import PlazaWire
import Testing

@testable import LivePlazaKit

/// Reads that fail for long, are overtaken by a later read, or return older data than the client has; and scenes that
/// must not mix new seats with an old connection.
@Suite(.timeLimit(.minutes(1))) struct StaleReadTests {
    /// A harness whose server leaves calls of `methods` unanswered; the tests answer them themselves.
    private static func harness(withoutAnswersTo methods: String...) -> StoreHarness {
        var answers = StoreHarness.answersToOwnCalls
        for method in methods { answers[method] = .null }
        return StoreHarness(answers: answers)
    }

    private static func page(_ live: String, cursor: String = "") -> JSONValue {
        var info = EngineHarness.info.members
        info["liveID"] = .text(live)
        return [
            "lives": [
                "items": [["info": .object(info), "audienceCount": 1, "totalViewerCount": 5]], "cursor": .text(cursor),
            ]
        ]
    }

    private static func answer(_ call: SentCall?, _ result: JSONValue, _ harness: StoreHarness) throws {
        let id = try #require(call).id
        harness.network.socket?.receive(["reply": ["id": .integer(id), "result": result]])
        harness.queue.drain()
    }

    @Test func `a list that cannot be read for two minutes is read when the service is back`() throws {
        let harness = Self.harness(withoutAnswersTo: "audience.list")
        let plaza = harness.makeClient()
        harness.loginAndEnter(plaza)
        var failures = 0
        // The service is away: each read fails with `unavailable`.
        for _ in 0..<1200 {
            while let call = harness.network.socket?.takeCall("audience.list") {
                failures += 1
                harness.network.socket?.receive([
                    "reply": [
                        "id": .integer(call.id), "error": ["code": 60106, "message": "away", "retryAfter": 1000],
                    ]
                ])
                harness.queue.drain()
            }
            harness.clock.advance(by: Milliseconds(100), harness.queue)
        }
        #expect(failures > 5)
        var call = harness.network.socket?.takeCall("audience.list")
        for _ in 0..<400 where call == nil {
            harness.clock.advance(by: Milliseconds(100), harness.queue)
            call = harness.network.socket?.takeCall("audience.list")
        }
        let member: JSONValue = ["joinedAt": 1, "role": 2, "user": EngineHarness.user]
        try Self.answer(call, ["audience": ["page": ["count": 1, "cursor": "", "members": [member]]]], harness)
        #expect(plaza.audienceStore(liveID: "concert").state.value.audienceList.count == 1)
    }

    @Test func `a first page is not shown if it arrives after the page of a list that was requested later`() throws {
        let harness = Self.harness(withoutAnswersTo: "live.list")
        let plaza = harness.makeClient()
        harness.login(plaza)
        let lives = plaza.liveListStore
        lives.fetchLiveList(cursor: "", count: 20, completion: nil)
        lives.fetchLiveList(cursor: "", count: 20, category: 7, completion: nil)
        harness.queue.drain()
        let first = harness.network.socket?.takeCall("live.list")
        let second = harness.network.socket?.takeCall("live.list")
        try Self.answer(second, Self.page("of-category"), harness)
        try Self.answer(first, Self.page("of-all"), harness)
        #expect(lives.state.value.liveList.map(\.liveID) == ["of-category"])
    }

    /// Rules: R3.53.
    @Test func `a page shows the current live as the client knows it, not as the page has it`() throws {
        let harness = Self.harness(withoutAnswersTo: "live.list")
        let plaza = harness.makeClient()
        harness.loginAndEnter(plaza)
        guard case .object(var info) = EngineHarness.info else {
            Issue.record("the info is no object")
            return
        }
        info["notice"] = "new"
        harness.receive([["infoChanged": ["info": .object(info)]]])
        plaza.liveListStore.fetchLiveList(cursor: "", count: 20, completion: nil)
        harness.queue.drain()
        // The page is from before the change.
        try Self.answer(harness.network.socket?.takeCall("live.list"), Self.page("concert"), harness)
        #expect(plaza.liveListStore.state.value.liveList.map(\.notice) == ["new"])
    }

    @Test func `no scene shows the seats of another live before it shows the connection`() {
        let harness = Self.harness()
        let plaza = harness.makeClient()
        harness.loginAndEnter(plaza)
        let scenes = Locked<[StageScene]>([])
        let stores = (
            plaza.seatStore(liveID: "concert"), plaza.coHostStore(liveID: "concert"),
            plaza.battleStore(liveID: "concert")
        )
        let subscription = StageScene.publisher(stores.0.state, stores.1.state, stores.2.state)
            .sink { scene in scenes.withLock { $0.append(scene) } }
        func seat(_ index: JSONValue, _ user: JSONValue, of live: JSONValue) -> JSONValue {
            let occupant: JSONValue = [
                "allowOpenCamera": true, "allowOpenMicrophone": true, "isCameraOn": true, "isMicrophoneOn": true,
                "live": live, "role": 0, "suspendStatus": "none",
                "user": ["avatarURL": "", "userID": user, "userName": ""],
            ]
            return [
                "index": index, "isCameraLocked": false, "isLocked": false, "isMicrophoneLocked": false,
                "occupant": occupant,
            ]
        }
        func member(_ live: JSONValue, _ host: JSONValue, seats: JSONValue = .null) -> JSONValue {
            ["host": ["avatarURL": "", "userID": host, "userName": ""], "joinedAt": 1, "live": live, "seats": seats]
        }
        let record: JSONValue = [
            "app": "demo", "epoch": 77, "live": "concert", "revision": 5, "seats": [seat(0, "alice", of: "concert")],
            "v": 1,
            "layout": ["canvas": ["height": 1920, "templateID": 600, "width": 1080], "regions": []],
            "connection": [
                "id": "c-1", "mutedLives": [], "templateID": 600,
                "members": [member("concert", "alice"), member("duet", "dora", seats: [seat(0, "dora", of: "duet")])],
            ],
        ]
        harness.receive([["stage": ["events": [], "record": record]]])
        let seen = scenes.withLock { $0 }
        #expect(seen.last?.isConnected == true && seen.last?.seats.contains { $0.userInfo.userID == "dora" } == true)
        let early = seen.filter { !$0.isConnected && $0.seats.contains { $0.userInfo.userID == "dora" } }
        #expect(early.isEmpty)
        subscription.cancel()
    }
}

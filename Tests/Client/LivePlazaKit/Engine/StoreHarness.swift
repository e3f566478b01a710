// SPDX-License-Identifier: Apache-2.0
import LivePlazaTesting
import PlazaModel
import PlazaWire

@testable import LivePlazaKit

/// Clients with their stores over a fake network, with a queue and a clock that a test controls.
struct StoreHarness {
    let queue = ManualQueue()
    let clock = SimulationClock.forTest()
    let network: TestNetwork

    /// The answers to the calls that a client makes by itself in a live, besides those of `init`.
    static let answersToOwnCalls: [String: JSONValue] = [
        "audience.list": ["audience": ["page": ["count": 0, "cursor": "", "members": []]]],
        "live.mutes": ["sanctions": ["page": ["items": [], "nextOffset": 0]]],
        "live.summary": [
            "statistics": [
                "statistics": [
                    "liveDuration": 1, "totalGiftCoins": 0, "totalGiftsSent": 0, "totalLikesReceived": 0,
                    "totalMessageCount": 0, "totalUniqueGiftSenders": 0, "totalViewers": 1,
                ]
            ]
        ], "gift.list": ["gifts": ["categories": []]], "ping": ["done": [:]],
    ]

    /// Makes a network whose server answers the calls of a login, a join and a leave at once.
    ///
    /// `answers`: by method, further results, or results in place of the default ones; with null the server does not
    /// answer calls of this method.
    init(answers: [String: JSONValue] = [:]) {
        let details: JSONValue = [
            "audience": ["live": "concert", "count": 1, "totalViewers": 1, "stale": false, "at": 1], "epoch": 77,
            "info": EngineHarness.info,
        ]
        let defaultAnswers: [String: JSONValue] = [
            "login": ["loggedIn": ["gateway": "g", "notices": "", "session": "s", "user": EngineHarness.user]],
            "live.join": ["joined": ["ticket": 421, "epoch": 77, "confirmed": true]],
            "live.leave": ["done": [:]], "live.get": ["room": ["details": details]],
        ]
        let allAnswers = defaultAnswers.merging(answers) { _, givenAnswer in givenAnswer }
        self.network = TestNetwork(answers: allAnswers.filter { $0.value != .null })
    }

    /// Makes a client that has not logged in.
    func makeClient() -> LivePlaza {
        LivePlaza(
            options: PlazaOptions(gateways: ["ws://g/v1"], transport: self.network), queue: EngineQueue(self.queue),
            clock: self.clock
        ) { 0.5 }
    }

    /// Logs a client in over a new connection.
    func login(_ plaza: LivePlaza) {
        plaza.loginStore.login(sdkAppID: 1, userID: "carol", userSig: "t", completion: nil)
        self.queue.drain()
        self.network.socket?.open()
        self.queue.drain()
    }

    /// Enters a live.
    func enter(_ plaza: LivePlaza, _ live: String = "concert") {
        plaza.liveListStore.joinLive(liveID: live, completion: nil)
        self.queue.drain()
    }

    /// Leaves the live in which the client is.
    func leave(_ plaza: LivePlaza) {
        plaza.liveListStore.leaveLive(completion: nil)
        self.queue.drain()
    }

    /// Logs a client in, and enters the live.
    func loginAndEnter(_ plaza: LivePlaza) {
        self.login(plaza)
        self.enter(plaza)
    }

    /// Receives a frame with items of the live's feed, of which the first has the number `number`.
    func receive(_ contents: [JSONValue], from number: Int64 = 1, live: String = "concert") {
        let items = contents.enumerated().map { index, content -> JSONValue in
            ["n": .integer(number + Int64(index)), "at": 1, "content": content]
        }
        let token = "77.\(number + Int64(contents.count) - 1)"
        self.network.socket?.receive([
            "feed": ["live": .text(live), "epoch": 77, "token": .text(token), "items": .array(items)]
        ])
        self.queue.drain()
    }

    /// The content of a chat message.
    static func message(_ text: String) -> JSONValue {
        ["text": ["sender": EngineHarness.user, "text": .text(text)]]
    }

    /// The content of an item about the mute of a viewer, for which the audience store publishes an event and a state.
    static func mute(_ user: String) -> JSONValue {
        [
            "messageDisabled": [
                "isDisable": true, "user": ["avatarURL": "", "userID": .text(user), "userName": .text(user)],
            ]
        ]
    }
}

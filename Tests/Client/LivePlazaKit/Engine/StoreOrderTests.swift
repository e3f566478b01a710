// SPDX-License-Identifier: Apache-2.0
import Dispatch
import LivePlazaCombine
import PlazaWire
import Testing

@testable import LivePlazaKit

/// The order in which stores publish states, events and completions, and the queue on which they do so.
@Suite(.timeLimit(.minutes(1))) struct StoreOrderTests {
    /// What an app's closures have received, in order.
    private final class Log: Sendable {
        private let lines = Locked<[String]>([])
        var all: [String] { self.lines.withLock { $0 } }
        func add(_ line: String) { self.lines.withLock { $0.append(line) } }
        func clear() { self.lines.withLock { $0 = [] } }
    }

    /// A viewer in the live `concert`, whose subscriptions add what they receive to `log`.
    private struct LoggingViewer {
        let harness = StoreHarness()
        let plaza: LivePlaza
        let log = Log()
        let subscriptions: [AnyCancellable]

        init() {
            let (log, plaza) = (self.log, self.harness.makeClient())
            self.plaza = plaza
            self.harness.loginAndEnter(plaza)
            let (audience, barrage) = (
                plaza.audienceStore(liveID: "concert"), plaza.barrageStore(liveID: "concert")
            )
            self.subscriptions = [
                barrage.state.subscribe().dropFirst().sink { log.add("messages \($0.messageList.count)") },
                audience.state.subscribe().dropFirst()
                    .sink { log.add("muted \($0.messageBannedUserList.map(\.userID))") },
                audience.liveAudienceEventPublisher.sink { event in
                    // The states that the stores show while the event is delivered.
                    let messages = barrage.state.value.messageList.count
                    let muted = audience.state.value.messageBannedUserList.count
                    if case .onAudienceMessageDisabled(let user, _) = event {
                        log.add("event \(user.userID), \(messages) messages, \(muted) muted")
                    }
                },
                plaza.liveListStore.state.subscribe().map(\.currentLive.isEmpty).removeDuplicates().dropFirst()
                    .sink { log.add("in no live: \($0)") },
                plaza.liveListStore.liveListEventPublisher.sink { _ in
                    log.add("list event, in no live: \(plaza.liveListStore.state.value.currentLive.isEmpty)")
                },
            ]
        }
    }

    @Test func `each state that a frame changes is published once, before the events of the frame`() {
        let viewer = LoggingViewer()
        viewer.harness.receive([
            StoreHarness.message("a"), StoreHarness.mute("bob"), StoreHarness.message("b"), StoreHarness.mute("dave"),
        ])
        #expect(
            viewer.log.all == [
                #"muted ["bob", "dave"]"#, "messages 2", "event bob, 2 messages, 2 muted",
                "event dave, 2 messages, 2 muted",
            ])
    }

    @Test func `a subscriber of one store finds in the other stores what the same frame has changed`() {
        let harness = StoreHarness()
        let plaza = harness.makeClient()
        harness.loginAndEnter(plaza)
        let (audience, barrage) = (plaza.audienceStore(liveID: "concert"), plaza.barrageStore(liveID: "concert"))
        let log = Log()
        /// Logs what all the stores have now.
        let note: @Sendable (String) -> Void = { store in
            let isMuted = plaza.liveListStore.state.value.currentLive.isMessageDisable
            let messages = barrage.state.value.messageList.count
            let muted = audience.state.value.messageBannedUserList.count
            log.add("\(store): \(isMuted) \(messages) \(muted)")
        }
        let subscriptions = [
            plaza.liveListStore.state.subscribe().dropFirst().sink { _ in note("list") },
            audience.state.subscribe().dropFirst().sink { _ in note("audience") },
            barrage.state.subscribe().dropFirst().sink { _ in note("barrage") },
            barrage.state.objectWillChange.sink { log.add("barrage will change") },
        ]
        guard case .object(var info) = EngineHarness.info else {
            Issue.record("the info of the harness is no object")
            return
        }
        info["isMessageDisable"] = true
        harness.receive([
            StoreHarness.message("a"), StoreHarness.mute("bob"), ["infoChanged": ["info": .object(info)]],
            StoreHarness.message("b"),
        ])
        #expect(subscriptions.count == 4)
        #expect(log.all == ["barrage will change", "list: true 2 1", "audience: true 2 1", "barrage: true 2 1"])
        log.clear()
        harness.leave(plaza)
        #expect(log.all == ["barrage will change", "list: false 0 0", "audience: false 0 0", "barrage: false 0 0"])
    }

    @Test func `a state that a subscriber sets while another one is published is kept`() {
        let state = StatePublisher(initialState: 0)
        let log = Log()
        let subscription = state.subscribe().sink { value in
            if value == 1 { state.value = 5 }
            log.add("\(value) \(state.value)")
        }
        let change = state.change(to: 1)
        change.announce()
        change.show()
        #expect(state.value == 1)
        change.publish()
        #expect(state.value == 5)
        #expect(log.all.contains("5 5"))
        subscription.cancel()
    }

    @Test func `a subscription between a change and its publication begins with the new state, and gets it once`() {
        let state = StatePublisher(initialState: 0)
        let log = Log()
        let change = state.change(to: 1)
        change.announce()
        change.show()
        let subscription = state.subscribe().sink { log.add("\($0)") }
        #expect(log.all == ["1"])
        change.publish()
        state.value = 2
        #expect(log.all == ["1", "2"])
        subscription.cancel()
    }

    @Test func `a completion runs after the frames before the reply, and before the frames after the reply`() throws {
        let viewer = LoggingViewer()
        let (harness, log) = (viewer.harness, viewer.log)
        let audience = viewer.plaza.audienceStore(liveID: "concert")
        for user in ["bob", "dave"] {
            audience.disableSendMessage(userID: user, isDisable: true) { _ in log.add("\(user) is done") }
        }
        harness.queue.drain()
        let socket = try #require(harness.network.socket)
        let calls = try [#require(socket.takeCall("live.mute")), #require(socket.takeCall("live.mute"))]
        // All frames arrive before the client's queue handles the first one: a mute and a reply for each call.
        for (number, (call, user)) in zip(calls, ["bob", "dave"]).enumerated() {
            let token = "77.\(number + 1)"
            let item: JSONValue = [
                "n": .integer(Int64(number + 1)), "at": 1, "content": StoreHarness.mute(user),
            ]
            socket.receive(["feed": ["live": "concert", "epoch": 77, "token": .text(token), "items": [item]]])
            socket.receive(["reply": ["id": .integer(call.id), "result": ["done": [:]]]])
        }
        harness.queue.drain()
        #expect(
            log.all == [
                #"muted ["bob"]"#, "event bob, 0 messages, 1 muted", "bob is done", #"muted ["bob", "dave"]"#,
                "event dave, 0 messages, 2 muted", "dave is done",
            ])
    }

    @Test func `when the event of a kick is published, the client has already left the live`() {
        let viewer = LoggingViewer()
        viewer.harness.receive([StoreHarness.message("a")])
        viewer.log.clear()
        // The lowest valid ticket (`floor`) is above 421, the ticket of the harness's join, so the kick voids it.
        viewer.harness.network.socket?.receive([
            "notice": [
                "at": 1, "id": "3-11", "live": "concert", "to": "carol", "floor": 422,
                "content": ["kickedOut": ["by": "alice", "reason": "byAdmin"]],
            ]
        ])
        viewer.harness.queue.drain()
        #expect(
            viewer.log.all == [
                "in no live: true", "muted []", "messages 0", "list event, in no live: true",
            ])
    }

    @Test func `completions run in the order of the replies, not in the order of the calls`() {
        let viewer = LoggingViewer()
        let (harness, log) = (viewer.harness, viewer.log)
        let barrage = viewer.plaza.barrageStore(liveID: "concert")
        for text in ["one", "two", "three"] {
            barrage.sendTextMessage(text: text, extensionInfo: nil) { _ in log.add(text) }
        }
        harness.queue.drain()
        let calls = (0..<3).compactMap { _ in harness.network.socket?.takeCall("barrage.sendText") }
        #expect(calls.map(\.params.members["text"]) == ["one", "two", "three"])
        for call in [calls[1], calls[0], calls[2]] {
            harness.network.socket?.receive(["reply": ["id": .integer(call.id), "result": ["done": [:]]]])
        }
        harness.queue.drain()
        #expect(log.all == ["two", "one", "three"])
    }

    /// The key of a value that only the main queue has, so that a test can recognize this queue.
    ///
    /// On Linux, another thread may serve the main queue once the main thread has ended, so tests check the queue.
    private static let mainQueueKey = {
        let key = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: key, value: true)
        return key
    }()

    private static var isOnMainQueue: Bool { DispatchQueue.getSpecific(key: Self.mainQueueKey) ?? false }

    @Test func `completions, states, events and faults are delivered on the main queue by default`() async {
        // Sets the value of the main queue.
        _ = Self.mainQueueKey
        let harness = StoreHarness()
        let plaza = LivePlaza(options: PlazaOptions(gateways: ["ws://g/v1"], transport: harness.network))
        let log = Log()
        /// Logs that a closure of the app runs, and whether on the main queue.
        let note: @Sendable (String) -> Void = { log.add("\($0): \(Self.isOnMainQueue)") }
        let audience = plaza.audienceStore(liveID: "concert")
        let subscriptions = Locked<[AnyCancellable]>([])
        await withCheckedContinuation { (ended: CheckedContinuation<Void, Never>) in
            subscriptions.withLock {
                $0 = [
                    audience.state.subscribe().dropFirst().sink { _ in note("state") },
                    audience.liveAudienceEventPublisher.sink { _ in
                        note("event")
                        ended.resume()
                    },
                    plaza.eventPublisher.sink { _ in note("fault") },
                ]
            }
            plaza.loginStore.login(sdkAppID: 1, userID: "carol", userSig: "t") { _ in
                note("login")
                plaza.liveListStore.joinLive(liveID: "concert") { _ in
                    note("join")
                    // The network delivers frames on another thread.
                    DispatchQueue.global().async {
                        harness.network.socket?.receive(text: Array("no frame".utf8))
                        harness.receive([StoreHarness.mute("bob")])
                    }
                }
            }
            // The login runs on the main queue and makes the socket; this block runs after the login.
            DispatchQueue.main.async { harness.network.socket?.open() }
        }
        // The subscriptions exist until here.
        #expect(subscriptions.withLock { $0.count } == 3)
        // The join causes the first state, the mute the second one.
        #expect(log.all == ["login", "state", "join", "fault", "state", "event"].map { "\($0): true" })
    }

    @Test func `completions are delivered on the queue that the app chooses`() async {
        let harness = StoreHarness()
        let queue = DispatchQueue(label: "the app's")
        let key = DispatchSpecificKey<Bool>()
        queue.setSpecific(key: key, value: true)
        let options = PlazaOptions(gateways: ["ws://g/v1"], transport: harness.network, deliveryQueue: queue)
        let plaza = LivePlaza(options: options)
        let isOnQueue = await withCheckedContinuation { (ended: CheckedContinuation<Bool, Never>) in
            plaza.loginStore.login(sdkAppID: 1, userID: "carol", userSig: "t") { _ in
                ended.resume(returning: DispatchQueue.getSpecific(key: key) ?? false)
            }
            queue.async { harness.network.socket?.open() }
        }
        #expect(isOnQueue)
    }
}

// SPDX-License-Identifier: Apache-2.0
import LivePlazaTesting
import MachineKit
import PlazaModel
import PlazaWire
import Testing

@testable import LivePlazaKit

/// Something that an engine shows or publishes.
enum ShownItem: Equatable {
    case loginStatus(ConnectionStatus)
    case currentLive(String)
    /// All messages of the chat, by their item numbers in the feed.
    case messages([Int])
    case listEvent(LiveListEvent)
    case loginEvent(LoginEvent)
    case plazaEvent(PlazaEvent)
    /// The end of a call that the test has made: the call's name, and after a failure the name of the reply code.
    case callEnded(String)
}

/// Records what an engine shows and publishes, in place of the stores of a client.
final class RecordingStores: LiveStoresSink, ListSink, LoginSink {
    /// What was shown or published since the last `takeShownItems()`.
    private let shown = Locked<[ShownItem]>([])
    /// The states of the live that were shown last.
    let states = Locked(LiveStates())

    func add(_ item: ShownItem) { self.shown.withLock { $0.append(item) } }

    var localTips: [Barrage] { [] }

    func changes(to states: LiveStates) -> [StateChange] {
        self.states.withLock { $0 = states }
        self.add(.messages(states.barrage.messageList.map(\.sequence)))
        return []
    }

    func publish(_ events: [StoreEvent]) {}

    func change(ofCurrentLive info: LivePlazaKit.LiveInfo, isRead: Bool) -> StateChange? {
        self.add(.currentLive(info.liveID))
        return nil
    }

    func publish(_ event: LiveListEvent) { self.add(.listEvent(event)) }
    func show(_ state: LoginState) { self.add(.loginStatus(state.connectionStatus)) }
    func publish(_ event: LoginEvent) { self.add(.loginEvent(event)) }

    /// Returns what was shown since the last call of this method.
    func takeShownItems() -> [ShownItem] {
        self.shown.withLock { shown in
            defer { shown = [] }
            return shown
        }
    }
}

/// An engine over a fake network, with a queue and a clock that a test controls.
struct EngineHarness {
    let queue = ManualQueue()
    let clock = SimulationClock.forTest()
    let network: TestNetwork
    let stores = RecordingStores()
    let engine: PlazaEngine

    /// Makes an engine that knows two gateways, of which a login takes the second one first.
    ///
    /// `answers`: by method, the result with which the server answers a call at once.
    init(
        answers: [String: JSONValue] = [:], tokenProvider: (@Sendable () async throws -> String)? = nil,
        random: @escaping RandomSource = { 0.5 }
    ) {
        self.network = TestNetwork(answers: answers)
        let options = PlazaOptions(
            gateways: ["ws://one/v1", "ws://two/v1"], tokenProvider: tokenProvider, transport: self.network,
            session: "s")
        let stores = self.stores
        self.engine = PlazaEngine(
            options: options, queue: EngineQueue(self.queue), clock: self.clock, random: random,
            sinks: StoreSinks(
                stores: { _ in stores }, list: { stores }, login: { stores }, devices: { nil },
                publish: { stores.add(.plazaEvent($0)) }))
    }

    /// Begins a call, whose end is recorded as `callEnded` with this name, and runs all work that follows.
    func begin<T: Sendable>(
        _ name: String, _ body: @escaping @Sendable (isolated PlazaEngine) async throws(ErrorInfo) -> T
    ) {
        let stores = self.stores
        self.engine.run(
            { result in
                switch result {
                case .success: stores.add(.callEnded(name))
                case .failure(let error): stores.add(.callEnded("\(name): \(ReplyCode(error.code).name)"))
                }
            }, body)
        self.queue.drain()
    }

    /// Lets `body` act on the latest connection as the server or the network does, and runs all work that follows.
    func actAsServer(_ body: (TestSocket) -> Void) {
        if let socket = self.network.socket { body(socket) } else { Issue.record("the client has no connection") }
        self.queue.drain()
    }

    /// Answers the first call of the method that has no answer yet.
    ///
    /// `isExpected`: whether the client must have sent such a call; if false, nothing happens without one.
    func reply(_ method: String, _ result: JSONValue, isExpected: Bool = true) {
        self.actAsServer { socket in
            guard let call = socket.takeCall(method) else {
                if isExpected { Issue.record("the client has not sent \(method)") }
                return
            }
            socket.receive(["reply": ["id": .integer(call.id), "result": result]])
        }
    }

    /// Receives a frame from the server.
    func receive(_ text: String) { self.actAsServer { $0.receive(text: Array(text.utf8)) } }

    /// Lets time pass, and runs the timers that become due, with all work that follows.
    func advance(by span: Milliseconds) { self.clock.advance(by: span, self.queue) }

    static let user: JSONValue = ["userID": "carol", "userName": "C", "avatarURL": ""]

    /// Logs in over a new connection.
    func login() {
        self.begin("login") { (engine) throws(ErrorInfo) in _ = try await engine.login(token: "t") }
        self.actAsServer { $0.open() }
        self.reply(
            "login", ["loggedIn": ["gateway": "g", "notices": "3-10", "session": "s", "user": Self.user]])
    }

    /// Enters the live `concert`, whose feed is at item 11 of the epoch 77.
    func enter() {
        self.begin("enter") { (engine) throws(ErrorInfo) in _ = try await engine.enter("concert") }
        self.reply("live.join", ["joined": ["ticket": 421, "epoch": 77, "confirmed": true, "token": "77.11.500"]])
        self.receive(#"{"feed":{"live":"concert","epoch":77,"token":"77.11.500","items":[]}}"#)
        self.reply(
            "live.get",
            [
                "room": [
                    "details": [
                        "audience": ["live": "concert", "count": 1, "totalViewers": 1, "stale": false, "at": 1],
                        "epoch": 77, "info": Self.info,
                    ]
                ]
            ])
    }

    /// The info of the live `concert`, as the server sends it.
    static var info: JSONValue {
        let owner = UserInfo(userID: UserID("alice"), userName: "A", avatarURL: "")
        let info = PlazaModel.LiveInfo(liveID: LiveID("concert"), liveOwner: owner) { $0.liveName = "Concert" }
        do {
            return try Wire.decode(from: Wire.encode(info))
        } catch {
            preconditionFailure("the info of a live is no JSON: \(error)")
        }
    }
}

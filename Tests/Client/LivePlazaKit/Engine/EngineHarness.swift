// SPDX-License-Identifier: Apache-2.0
import PlazaModel
import PlazaWire

@testable import LivePlazaKit

/// What an engine shows, in order.
enum Shown: Equatable {
    case login(ConnectionStatus)
    case current(String)
    case messages([Int])
    case list(LiveListEvent)
    case loginEvent(LoginEvent)
    case event(PlazaEvent)
    /// The end of a call of the test's.
    case done(String)
}

/// Stores that keep what is shown.
final class RecordingStores: LiveStoresSink, ListSink, LoginSink {
    let shown = Locked<[Shown]>([])
    let states = Locked(LiveStates())

    func add(_ one: Shown) { self.shown.withLock { $0.append(one) } }

    func show(_ states: LiveStates, events: [StoreEvent]) {
        self.states.withLock { $0 = states }
        self.add(.messages(states.barrage.messageList.map(\.sequence)))
    }

    func showCurrent(_ info: LivePlazaKit.LiveInfo) { self.add(.current(info.liveID)) }
    func tell(_ event: LiveListEvent) { self.add(.list(event)) }
    func show(_ state: LoginState) { self.add(.login(state.connectionStatus)) }
    func tell(_ event: LoginEvent) { self.add(.loginEvent(event)) }

    /// What was shown since the last call of this.
    func take() -> [Shown] {
        self.shown.withLock { shown in
            defer { shown = [] }
            return shown
        }
    }
}

/// An engine over a fake network, with a queue and a clock that a test turns.
struct EngineHarness {
    let queue = ManualQueue()
    let clock = ManualClock()
    let network: TestNetwork
    let stores = RecordingStores()
    let engine: PlazaEngine

    init(answers: [String: JSONValue] = [:], tokenProvider: (@Sendable () async throws -> String)? = nil) {
        self.network = TestNetwork(answers: answers)
        let options = PlazaOptions(
            gateways: ["ws://one/v1", "ws://two/v1"], tokenProvider: tokenProvider, transport: self.network,
            session: "s")
        let stores = self.stores
        self.engine = PlazaEngine(
            options: options, queue: EngineQueue(self.queue), clock: self.clock, random: { 0.5 },
            sinks: StoreSinks(
                stores: { _ in stores }, list: { stores }, login: { stores }, tell: { stores.add(.event($0)) }))
    }

    /// Begins a call of the test's, and does all that follows at once.
    func begin<T: Sendable>(
        _ name: String, _ body: @escaping @Sendable (isolated PlazaEngine) async throws(ErrorInfo) -> T
    ) {
        let stores = self.stores
        self.engine.run(
            { result in
                switch result {
                case .success: stores.add(.done(name))
                case .failure(let error): stores.add(.done("\(name): \(ReplyCode(error.code).name)"))
                }
            }, body)
        self.queue.drain()
    }

    /// Does something as the server or the network, and all that follows.
    func server(_ body: (TestSocket) -> Void) {
        if let socket = self.network.socket { body(socket) }
        self.queue.drain()
    }

    /// Answers the first unanswered call of the method.
    func reply(_ method: String, _ result: JSONValue) {
        self.server { socket in
            guard let call = socket.take(method) else { return }
            socket.receive(["reply": ["id": .integer(call.id), "result": result]])
        }
    }

    func receive(_ text: String) { self.server { $0.receive(text: Array(text.utf8)) } }

    func advance(by milliseconds: Double) { self.clock.advance(by: milliseconds, self.queue) }

    static let user: JSONValue = ["userID": "carol", "userName": "C", "avatarURL": ""]

    func login() {
        self.begin("login") { (engine) throws(ErrorInfo) in _ = try await engine.login(token: "t") }
        self.server { $0.open() }
        self.reply(
            "login", ["loggedIn": ["gateway": "g", "notices": "3-10", "session": "s", "user": Self.user]])
    }

    func enter() {
        self.begin("enter") { (engine) throws(ErrorInfo) in _ = try await engine.enter("concert") }
        self.reply("live.join", ["joined": ["ticket": 421, "epoch": 77, "confirmed": true, "token": "77.11.500"]])
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

    /// The info of a live, as the server sends it.
    static var info: JSONValue {
        let owner = UserInfo(userID: UserID("alice"), userName: "A", avatarURL: "")
        let info = PlazaModel.LiveInfo(liveID: LiveID("concert"), liveOwner: owner) { $0.liveName = "Concert" }
        guard let value = try? Wire.decode(JSONValue.self, from: Wire.encode(info)) else { return .null }
        return value
    }
}

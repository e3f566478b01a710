// SPDX-License-Identifier: Apache-2.0
import ConformanceSupport
import LivePlazaCombine
import LivePlazaTesting
import MachineKit
import PlazaModel
import PlazaWire

@testable import LivePlazaKit

/// Runs one case of clients/conformance; the README there describes the steps.
final class CaseRun {
    private let queue = ManualQueue()
    private let clock = SimulationClock.forTest()
    private let network: TestNetwork
    private let plaza: LivePlaza
    private let methods: StoreMethods
    /// The request ids of the calls that the client has sent, by the names that `sent` steps give them.
    private var requestIDs: [String: Int64] = [:]
    /// The outcomes of the app's calls that have ended, by the names that `call` steps give them.
    private let outcomes = Locked<[String: Result<JSONValue, ErrorInfo>]>([:])
    /// For each store, the events that no step has checked yet.
    private let events = Locked<[String: [(type: String, detail: JSONValue)]]>([:])
    /// The code names of the faults that the client has reported and that no step has checked yet.
    private let faults = Locked<[String]>([])
    private var subscriptions: Set<AnyCancellable> = []
    /// The stores of messages that the case has used, which an app holds, too: a local tip lasts as long as its store.
    private var barrageStores: [BarrageStore] = []
    /// The live of a step that names none.
    private static let defaultLive = "concert"

    /// Makes a client and its server.
    ///
    /// - Parameters:
    ///   - answers: by method, the result with which the server answers a call at once. With null, or without an entry,
    ///     the server answers only when a `reply` step tells it to.
    ///   - userID: the user that logs in.
    init(answers: [String: JSONValue], userID: String) {
        self.network = TestNetwork(answers: answers.filter { $0.value != .null })
        let options = PlazaOptions(gateways: ["ws://gateway/v1"], transport: self.network, session: "s")
        self.plaza = LivePlaza(options: options, queue: EngineQueue(self.queue), clock: self.clock, random: { 0.5 })
        // The server of a conformance case does not check the token.
        self.methods = StoreMethods(plaza: self.plaza, userID: userID, token: "t.o.ken")
        let (plaza, live) = (self.plaza, Self.defaultLive)
        self.listen("login", plaza.loginStore.loginEventPublisher)
        self.listen("liveList", plaza.liveListStore.liveListEventPublisher)
        self.listen("audience", plaza.audienceStore(liveID: live).liveAudienceEventPublisher)
        self.listen("seat", plaza.seatStore(liveID: live).liveSeatEventPublisher)
        self.listen("coGuest", plaza.coGuestStore(liveID: live).guestEventPublisher)
        self.listen("coGuest", plaza.coGuestStore(liveID: live).hostEventPublisher)
        self.listen("coHost", plaza.coHostStore(liveID: live).coHostEventPublisher)
        self.listen("battle", plaza.battleStore(liveID: live).battleEventPublisher)
        self.listen("gift", plaza.giftStore(liveID: live).giftEventPublisher)
        self.listen("like", plaza.likeStore(liveID: live).likeEventPublisher)
        plaza.eventPublisher.sink { [events, faults] event in
            switch event {
            case .fault(let error): faults.withLock { $0.append(ReplyCode(error.code).name) }
            case .connectionEnded(let code, _):
                // Cases expect this event of the login store, to which it belongs in the other SDKs.
                let detail: JSONValue = ["code": .integer(Int64(code))]
                events.withLock { $0["login", default: []].append(("connectionEnded", detail)) }
            }
        }
        .store(in: &self.subscriptions)
    }

    /// Records the events of a store under the name that steps use for the store.
    private func listen<Event>(_ store: String, _ publisher: PassthroughSubject<Event, Never>) {
        publisher.sink { [events] event in
            events.withLock { $0[store, default: []].append(Reflection.event(event)) }
        }
        .store(in: &self.subscriptions)
    }

    /// Performs a step, and then all work of the client that follows from this step.
    func runStep(_ step: JSONValue) throws {
        guard let (kind, value) = step.members.first, step.members.count == 1 else {
            throw CaseFailure("a step without a kind")
        }
        if kind == "repeat" { return try self.runRepeatStep(CaseParams(value: value)) }
        if try !self.performAction(kind, value), try !self.checkExpectation(kind, value) {
            throw CaseFailure("no step of the kind \(kind)")
        }
        self.queue.drain()
    }

    /// Disconnects the client.
    func end() {
        self.plaza.engine.onQueue { $0.disconnect() }
        self.queue.drain()
    }

    /// The latest connection of the client.
    private var socket: TestSocket {
        get throws {
            guard let socket = self.network.socket else { throw CaseFailure("there is no connection") }
            return socket
        }
    }

    /// Does what the app, the server or the network does in a step.
    ///
    /// - Returns: false if the step is not an action, or its value has a wrong type; `runStep` then fails.
    private func performAction(_ kind: String, _ value: JSONValue) throws -> Bool {
        let params = CaseParams(value: value)
        switch kind {
        case "call": try self.call(params)
        case "open": try self.socket.open()
        case "refuse": try self.socket.end(code: ClientCloseCode.lost)
        case "receive": try self.socket.receive(value)
        case "receiveText":
            guard case .text(let text) = value else { return false }
            try self.socket.receive(text: Array(text.utf8))
        case "receiveBinary": try self.socket.receiveBinary()
        case "cut":
            guard case .integer(let code) = value else { return false }
            try self.socket.end(code: Int(code))
        case "advance":
            guard case .integer(let milliseconds) = value else { return false }
            self.clock.advance(by: Milliseconds(milliseconds), self.queue)
        case "reply":
            guard let id = self.requestIDs[params.text("to")] else {
                throw CaseFailure("no earlier step has named a call \(params.text("to"))")
            }
            var reply = value.members
            // In the case, `to` is the name of a call; the frame has the call's request id instead.
            reply["to"] = nil
            reply["id"] = .integer(id)
            try self.socket.receive(["reply": .object(reply)])
        default: return false
        }
        return true
    }

    /// Makes a call of the app, and records the outcome under the name that the step gives the call.
    private func call(_ params: CaseParams) throws {
        let name = params.text("as", default: "last")
        self.outcomes.withLock { $0[name] = nil }
        let (store, live) = (params.text("store"), params.text("live", default: Self.defaultLive))
        if store == "barrage" { self.barrageStores.append(self.plaza.barrageStore(liveID: live)) }
        let isKnown = self.methods.call(
            store, params.text("method"), CaseParams(value: params.value.members["params"] ?? .null), live: live
        ) { [outcomes] result in outcomes.withLock { $0[name] = result } }
        guard isKnown else { throw CaseFailure("this runner does not know the store or its method") }
    }

    /// Checks what the client has done.
    ///
    /// - Returns: false if the step is not an expectation; `runStep` then fails.
    private func checkExpectation(_ kind: String, _ value: JSONValue) throws -> Bool {
        let params = CaseParams(value: value)
        switch kind {
        case "sent": try self.checkSent(params)
        case "notSent":
            let name = try Self.name(value)
            let isSent = try self.socket.sent.contains { $0.method == name && !$0.isTaken }
            if isSent { throw CaseFailure("\(name) was sent") }
        case "closed": if try !self.socket.isClosed { throw CaseFailure("the connection is open") }
        case "state":
            guard let expected = params.value.members["is"] else { throw CaseFailure("a state without `is`") }
            let live = params.text("live", default: Self.defaultLive)
            try self.match(self.methods.state(of: params.text("store"), live: live), expected, step: params)
        case "event": try self.checkEvent(params)
        case "noEvents":
            let name = try Self.name(value)
            let events = self.events.withLock { $0[name] ?? [] }
            if !events.isEmpty { throw CaseFailure("the store has published \(events)") }
        case "result":
            switch self.outcomes.withLock({ $0[params.text("of")] }) {
            case .success(let result)?: try self.match(result, params.value.members["is"], step: params)
            case .failure(let error)?: throw CaseFailure("the call failed: \(error)")
            case nil: throw CaseFailure("the call has not ended")
            }
        case "error":
            guard case .failure(let error)? = self.outcomes.withLock({ $0[params.text("of")] }) else {
                throw CaseFailure("the call has not failed")
            }
            guard ReplyCode(error.code).name == params.text("codeName") else {
                throw CaseFailure("the error is \(error)")
            }
            if let expected = params.value.members["retryAfter"] {
                let actual = error.retryPause.map { JSONValue.integer($0.count) }
                if actual != expected { throw CaseFailure("the error is \(error)") }
            }
        case "unfinished":
            let name = try Self.name(value)
            if self.outcomes.withLock({ $0[name] }) != nil { throw CaseFailure("the call has ended") }
        case "reported":
            let name = try Self.name(value)
            let fault = self.faults.withLock { $0.isEmpty ? nil : $0.removeFirst() }
            if fault != name { throw CaseFailure("the client has reported \(fault ?? "nothing")") }
        default: return false
        }
        return true
    }

    /// The value of a step that has only a name: of a method, a store, a call or a code.
    private static func name(_ value: JSONValue) throws -> String {
        guard case .text(let name) = value else { throw CaseFailure("a step without a name: \(value)") }
        return name
    }

    /// Checks that the client has sent a call with these parameters, and takes the call: no later step finds it.
    private func checkSent(_ params: CaseParams) throws {
        let socket = try self.socket
        guard let call = socket.takeCall(params.text("method")) else {
            throw CaseFailure("not sent; the sent calls are \(socket.sent.filter { !$0.isTaken }.map(\.method))")
        }
        if let expected = params.value.members["params"], call.params != expected {
            // The Swift SDK sends more parameters than a case names: in `live.create` all fields of `LiveInfo`, and in
            // other calls a timeout.
            let additional = Set(call.params.members.keys).subtracting(expected.members.keys)
            let mayHaveAdditional = call.method == "live.create" || additional == ["timeout"]
            // `difference` ignores parameters that `expected` does not name; nil means that all others are equal.
            if !mayHaveAdditional || Reflection.difference(call.params, expected) != nil {
                throw CaseFailure("the parameters of the call are \(call.params)")
            }
        }
        if case .text(let name)? = params.value.members["as"] {
            // A name that has an id already stands for a call that the client sends again.
            if let id = self.requestIDs[name], id != call.id {
                throw CaseFailure("the call is sent again with the id \(call.id) instead of \(id)")
            }
            self.requestIDs[name] = call.id
        }
        if call.age != params.value.members["age"] { throw CaseFailure("the age is \(String(describing: call.age))") }
    }

    /// Checks the first event of the store that no step has checked yet, and removes the event.
    private func checkEvent(_ params: CaseParams) throws {
        let (store, type) = (params.text("store"), params.text("type"))
        // The Swift SDK has no event of this type.
        if type == "onBattleNotStarted" { return }
        let event = self.events.withLock { events -> (type: String, detail: JSONValue)? in
            guard events[store]?.isEmpty == false else { return nil }
            return events[store]?.removeFirst()
        }
        guard let event, event.type == type else { throw CaseFailure("the event is \(String(describing: event))") }
        try self.match(event.detail, params.value.members["detail"], step: params)
    }

    /// By store, the members of events and states that the Swift SDK does not have.
    private static let membersNotInSwift: [String: Set<String>] = [
        "coGuest": ["extraInfo", "seatIndex"], "liveList": ["statistics", "audienceCount"],
    ]

    /// Compares a value with the one that a step expects, without the members that the Swift SDK does not have.
    private func match(_ actual: JSONValue, _ expected: JSONValue?, step params: CaseParams) throws {
        guard let expected else { return }
        var ignored = Self.membersNotInSwift[params.text("store")] ?? []
        // This event has its `seatIndex` in the Swift SDK, too.
        if params.text("type") == "onKickedOffSeat" { ignored = [] }
        if let difference = Reflection.difference(actual, Self.without(ignored, expected)) {
            throw CaseFailure(difference)
        }
    }

    /// Removes the members of these names from a value, at any depth.
    private static func without(_ names: Set<String>, _ value: JSONValue) -> JSONValue {
        switch value {
        case .array(let values): .array(values.map { Self.without(names, $0) })
        case .object(let members):
            .object(members.filter { !names.contains($0.key) }.mapValues { Self.without(names, $0) })
        default: value
        }
    }

    /// Performs the steps in a `repeat` step, `times` times.
    private func runRepeatStep(_ params: CaseParams) throws {
        guard case .array(let steps)? = params.value.members["steps"] else {
            throw CaseFailure("a repeat without steps")
        }
        guard case .integer(let times)? = params.value.members["times"], times > 0 else {
            throw CaseFailure("a repeat without a number of times")
        }
        for turn in 0..<times {
            for step in steps { try self.runStep(Self.insertTurn(turn, into: step)) }
        }
    }

    /// Replaces `$i` in texts by the number of the turn, from 0; `$i+5` and `{"$i":5}` become turn + 5.
    private static func insertTurn(_ turn: Int64, into value: JSONValue) -> JSONValue {
        switch value {
        case .text(let text):
            let result = text.replacing(/\$i(?:\+(\d+))?/) { match in
                let offset = match.output.1.flatMap { Int64($0) } ?? 0
                return String(turn + offset)
            }
            return .text(result)
        case .array(let values): return .array(values.map { Self.insertTurn(turn, into: $0) })
        case .object(let members):
            if case .integer(let offset)? = members["$i"] { return .integer(turn + offset) }
            return .object(members.mapValues { Self.insertTurn(turn, into: $0) })
        default: return value
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
import LivePlazaCombine
import LivePlazaTesting
import PlazaModel
import PlazaWire

@testable import LivePlazaKit

/// The error for an expectation of a case that the client does not meet.
struct CaseFailure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// Runs one case of clients/conformance; the README there describes the steps.
final class CaseRun {
    private let queue = ManualQueue()
    private let clock = SimulationClock.forTest()
    private let network: TestNetwork
    private let plaza: LivePlaza
    private let methods: StoreMethods
    /// The ids of sent calls, by the names that steps give them.
    private var ids: [String: Int64] = [:]
    /// The outcomes of the app's calls, by the names that steps give them.
    private let outcomes = Locked<[String: Result<JSONValue, ErrorInfo>]>([:])
    /// The events of each store that no step has checked yet.
    private let events = Locked<[String: [(type: String, detail: JSONValue)]]>([:])
    /// The names of the codes of the faults that the client has reported and no step has checked yet.
    private let reports = Locked<[String]>([])
    private var subscriptions: Set<AnyCancellable> = []

    /// Makes a client and its server, which answers at once with the results in `answers`, by method.
    ///
    /// A null stands for a method that the server does not answer by itself.
    init(answers: [String: JSONValue], userID: String) {
        self.network = TestNetwork(answers: answers.filter { $0.value != .null })
        let options = PlazaOptions(gateways: ["ws://gateway/v1"], transport: self.network, session: "s")
        self.plaza = LivePlaza(options: options, queue: EngineQueue(self.queue), clock: self.clock, random: { 0.5 })
        self.methods = StoreMethods(plaza: self.plaza, userID: userID)
        let (plaza, live) = (self.plaza, "concert")
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
        plaza.eventPublisher.sink { [events, reports] event in
            switch event {
            case .fault(let error): reports.withLock { $0.append(ReplyCode(error.code).name) }
            case .connectionEnded(let code, _):
                // In other SDKs this is an event of the login store.
                let detail: JSONValue = ["code": .integer(Int64(code))]
                events.withLock { $0["login", default: []].append(("connectionEnded", detail)) }
            }
        }
        .store(in: &self.subscriptions)
    }

    /// Records the events of a store.
    private func listen<Event>(_ store: String, _ publisher: PassthroughSubject<Event, Never>) {
        publisher.sink { [events] event in
            events.withLock { $0[store, default: []].append(Reflection.event(event)) }
        }
        .store(in: &self.subscriptions)
    }

    /// Performs a step, and then all work of the client that follows from it.
    func runStep(_ step: JSONValue) throws {
        guard let (kind, value) = step.members.first, step.members.count == 1 else {
            throw CaseFailure("a step without a kind")
        }
        if kind == "repeat" { return try self.runRepeatedly(CaseParams(value: value)) }
        if try !self.performAction(kind, value), try !self.checkExpectation(kind, value) {
            throw CaseFailure("no step of the kind \(kind)")
        }
        self.queue.drain()
    }

    /// Ends the client.
    func end() {
        self.plaza.engine.onQueue { $0.disconnect() }
        self.queue.drain()
    }

    private var socket: TestSocket {
        get throws {
            guard let socket = self.network.socket else { throw CaseFailure("there is no connection") }
            return socket
        }
    }

    /// Does what the app, the server or the network does in a step.
    ///
    /// - Returns: false if the step is of another kind, or its value of a wrong type; `runStep` then fails.
    private func performAction(_ kind: String, _ value: JSONValue) throws -> Bool {
        let params = CaseParams(value: value)
        switch kind {
        case "call": try self.call(params)
        case "open": try self.socket.open()
        case "refuse": try self.socket.end(code: CloseCode.lost)
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
            self.clock.advance(by: Double(milliseconds), self.queue)
        case "reply":
            guard let id = self.ids[params.text("to")] else { throw CaseFailure("no call of that name") }
            var reply = value.members
            reply["to"] = nil
            reply["id"] = .integer(id)
            try self.socket.receive(["reply": .object(reply)])
        default: return false
        }
        return true
    }

    /// Makes a call of the app, and records its outcome by the name that the step gives it.
    private func call(_ params: CaseParams) throws {
        let name = params.text("as", "last")
        self.outcomes.withLock { $0[name] = nil }
        let isKnown = self.methods.call(
            params.text("store"), params.text("method"), CaseParams(value: params.value.members["params"] ?? .null),
            live: params.text("live", "concert")
        ) { [outcomes] result in outcomes.withLock { $0[name] = result } }
        guard isKnown else { throw CaseFailure("no method of that name") }
    }

    /// Checks what the client has done.
    ///
    /// - Returns: false if the step is of another kind.
    private func checkExpectation(_ kind: String, _ value: JSONValue) throws -> Bool {
        let params = CaseParams(value: value)
        // The name is the whole value of some steps.
        let name = if case .text(let text) = value { text } else { "" }
        switch kind {
        case "sent": try self.checkSent(params)
        case "notSent":
            let isSent = try self.socket.sent.contains { $0.method == name && !$0.isTaken }
            if isSent { throw CaseFailure("it was sent") }
        case "closed": if try !self.socket.isClosed { throw CaseFailure("it is open") }
        case "state": try self.match(self.state(params), params.value.members["is"], of: params)
        case "event": try self.checkEvent(params)
        case "noEvents":
            let events = self.events.withLock { $0[name] ?? [] }
            if !events.isEmpty { throw CaseFailure("there are \(events)") }
        case "result":
            switch self.outcomes.withLock({ $0[params.text("of")] }) {
            case .success(let result)?: try self.match(result, params.value.members["is"], of: params)
            case .failure(let error)?: throw CaseFailure("it failed: \(error)")
            case nil: throw CaseFailure("it is not finished")
            }
        case "error":
            guard case .failure(let error)? = self.outcomes.withLock({ $0[params.text("of")] }) else {
                throw CaseFailure("it has not failed")
            }
            guard ReplyCode(error.code).name == params.text("codeName") else { throw CaseFailure("it is \(error)") }
            if let expected = params.value.members["retryAfter"] {
                let actual = error.retryMilliseconds.map { JSONValue.integer(Int64($0)) }
                if actual != expected { throw CaseFailure("it is \(error)") }
            }
        case "unfinished": if self.outcomes.withLock({ $0[name] }) != nil { throw CaseFailure("it is finished") }
        case "reported":
            let report = self.reports.withLock { $0.isEmpty ? nil : $0.removeFirst() }
            if report != name { throw CaseFailure("it is \(report ?? "nothing")") }
        default: return false
        }
        return true
    }

    /// Checks that the client has sent a call with these parameters, and takes the call, so no later step finds it.
    private func checkSent(_ params: CaseParams) throws {
        let socket = try self.socket
        guard let call = socket.takeCall(params.text("method")) else {
            throw CaseFailure("not sent; others are \(socket.sent.filter { !$0.isTaken }.map(\.method))")
        }
        if let expected = params.value.members["params"], call.params != expected {
            // The Swift SDK sends more than the cases: all fields of `LiveInfo` with a creation, and a timeout.
            let additional = Set(call.params.members.keys).subtracting(expected.members.keys)
            // `difference` ignores additional members: nil means that the expected ones have their values.
            let differsAsExpected =
                (call.method == "live.create" || additional == ["timeout"])
                && Reflection.difference(call.params, expected) == nil
            if !differsAsExpected { throw CaseFailure("its parameters are \(call.params)") }
        }
        if case .text(let name)? = params.value.members["as"] {
            if let id = self.ids[name], id != call.id { throw CaseFailure("it has another id, \(call.id)") }
            self.ids[name] = call.id
        }
        if call.age != params.value.members["age"] { throw CaseFailure("its age is \(String(describing: call.age))") }
    }

    /// Checks the store's next event, and takes the event.
    private func checkEvent(_ params: CaseParams) throws {
        let (store, type) = (params.text("store"), params.text("type"))
        // Only other SDKs have this event.
        if type == "onBattleNotStarted" { return }
        let event = self.events.withLock { events -> (type: String, detail: JSONValue)? in
            guard events[store]?.isEmpty == false else { return nil }
            return events[store]?.removeFirst()
        }
        guard let event, event.type == type else { throw CaseFailure("it is \(String(describing: event))") }
        try self.match(event.detail, params.value.members["detail"], of: params)
    }

    /// Members that only other SDKs have in their events and states, by store.
    private static let notInSwift: [String: Set<String>] = [
        "coGuest": ["extraInfo", "seatIndex"], "liveList": ["statistics", "audienceCount"],
    ]

    /// Compares a value with the expected one, without the members that only other SDKs have.
    private func match(_ actual: JSONValue, _ expected: JSONValue?, of params: CaseParams) throws {
        guard let expected else { return }
        var ignored = Self.notInSwift[params.text("store")] ?? []
        // This event has its seat in Swift, too.
        if params.text("type") == "onKickedOffSeat" { ignored = [] }
        if let difference = Reflection.difference(actual, Self.without(ignored, expected)) {
            throw CaseFailure(difference)
        }
    }

    /// The value without the members of these names, at any depth.
    private static func without(_ names: Set<String>, _ value: JSONValue) -> JSONValue {
        switch value {
        case .array(let values): .array(values.map { Self.without(names, $0) })
        case .object(let members):
            .object(members.filter { !names.contains($0.key) }.mapValues { Self.without(names, $0) })
        default: value
        }
    }

    /// The state of the step's store, as JSON.
    private func state(_ params: CaseParams) -> JSONValue {
        let (plaza, live) = (self.plaza, params.text("live", "concert"))
        return switch params.text("store") {
        case "login": Reflection.json(plaza.loginStore.state.value)
        case "liveList": Reflection.json(plaza.liveListStore.state.value)
        case "audience": Reflection.json(plaza.audienceStore(liveID: live).state.value)
        case "barrage": Reflection.json(plaza.barrageStore(liveID: live).state.value)
        case "seat": Reflection.json(plaza.seatStore(liveID: live).state.value)
        case "coGuest": Reflection.json(plaza.coGuestStore(liveID: live).state.value)
        case "coHost": Reflection.json(plaza.coHostStore(liveID: live).state.value)
        case "battle": Reflection.json(plaza.battleStore(liveID: live).state.value)
        case "gift": Reflection.json(plaza.giftStore(liveID: live).state.value)
        case "like": Reflection.json(plaza.likeStore(liveID: live).state.value)
        case "summary": Reflection.json(plaza.summaryStore(liveID: live).state.value)
        default: .null
        }
    }

    /// Performs the steps of a `repeat` step as often as it says.
    private func runRepeatedly(_ params: CaseParams) throws {
        guard case .array(let steps)? = params.value.members["steps"] else {
            throw CaseFailure("a repeat without steps")
        }
        for turn in 0..<params.number("times", 0) {
            for step in steps { try self.runStep(Self.numbered(step, turn)) }
        }
    }

    /// A step in which the number of the turn, from 0, replaces `$i` in texts; `$i+5` and the object `{"$i":5}` add 5.
    private static func numbered(_ value: JSONValue, _ turn: Int64) -> JSONValue {
        switch value {
        case .text(let text):
            let numbered = text.replacing(/\$i(?:\+(\d+))?/) { match in
                let offset = match.output.1.flatMap { Int64($0) } ?? 0
                return String(turn + offset)
            }
            return .text(numbered)
        case .array(let values): return .array(values.map { Self.numbered($0, turn) })
        case .object(let members):
            if case .integer(let offset)? = members["$i"] { return .integer(turn + offset) }
            return .object(members.mapValues { Self.numbered($0, turn) })
        default: return value
        }
    }
}

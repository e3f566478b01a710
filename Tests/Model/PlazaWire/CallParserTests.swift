// SPDX-License-Identifier: Apache-2.0
import PlazaModel
import PlazaWire
import Testing

/// The parser makes commands from valid calls, and rejects others with an error that names the wrong parameter.
@Suite struct CallParserTests {
    /// Rules: R3.14, R11.1.
    @Test func `the valid parameters of each method are parsed as the call in the table`() throws {
        for spec in CallTable.all {
            let call = try CallSpec.parse(spec.method, spec.params(), role: spec.role).get()
            #expect(call == spec.expected, "\(spec.method)")
        }
    }

    @Test func `every method is in the table`() {
        // `CallParser.methods` has the methods that consist of a group and a name.
        let methods = Set(CallTable.all.map(\.method))
        #expect(methods == CallParser.methods.union(["login", "ping"]))
    }

    @Test func `a missing required parameter is named in the error, and an optional parameter may be missing`() {
        for spec in CallTable.all {
            for field in spec.fields {
                let error = CallSpec.rejection(spec.method, spec.params(without: field.name), role: spec.role)
                guard field.isRequired else {
                    // The list `to` may be absent from the JSON, but then it counts as empty, which is rejected.
                    if field.name == "to" {
                        #expect(error == ReplyError(.badParameter, "to names 0 lives; 1 to 8 are possible"))
                    } else {
                        #expect(error == nil, "\(spec.method) without \(field.name)")
                    }
                    continue
                }
                let call = "\(spec.method) without \(field.name): \(error?.message ?? "accepted")"
                #expect(error?.code == .badParameter, "\(call)")
                // Most methods have the first message; the others are those of live.create and of battles.
                let isNamed = [
                    "params.\(field.name) is missing",
                    "\(field.name) is missing: an app's server creates a live for a user",
                    "params.battle is missing or not a battle's id",
                    "params.battle and params.live are missing; name one",
                ].contains(error?.message)
                #expect(isNamed, "\(call)")
            }
        }
    }

    @Test func `a parameter of another type is named in the error`() {
        for spec in CallTable.all {
            for field in spec.fields {
                let params = spec.params(replacing: field.name, by: field.kind.wrongValue)
                let error = CallSpec.rejection(spec.method, params, role: spec.role)
                let expected = ReplyError(.badParameter, "params.\(field.name) \(field.kind.rawValue)")
                #expect(error == expected, "\(spec.method) \(params)")
            }
        }
    }

    @Test func `missing params count as an empty object, and params that are not an object are rejected`() {
        // Both calls lack `live`; only the message for params that exist has the prefix `params.`.
        #expect(CallSpec.rejection("live.get", nil) == ReplyError(.badParameter, "live is missing"))
        #expect(CallSpec.rejection("live.get", "{}") == ReplyError(.badParameter, "params.live is missing"))
        #expect((try? CallSpec.parse("live.list", nil).get()) == .list(cursor: "", count: 20, category: nil))
        #expect(CallSpec.rejection("live.get", "null")?.code == .badParameter)
        #expect(CallSpec.rejection("live.get", "[]")?.code == .badParameter)
        #expect(CallSpec.rejection("live.get", "7")?.code == .badParameter)
    }

    @Test func `omitted parameters have their defaults`() throws {
        let live = Samples.live
        func seatCall(_ command: SeatCommand) -> ParsedCall {
            .forward(.seat(SeatInput(Samples.key, command)), inLive: live)
        }
        let caller = Samples.caller
        // The seat index -1 means any free seat.
        #expect(
            try CallSpec.parse("seat.apply", #"{"live":"concert"}"#).get()
                == seatCall(.apply(seatIndex: -1, timeoutSeconds: 10, extraInfo: "", caller: caller)))
        #expect(
            try CallSpec.parse("seat.move", #"{"live":"concert","seatIndex":2}"#).get()
                == seatCall(.move(user: "alice", to: 2, policy: .abortWhenOccupied, caller: caller)))
        #expect(
            try CallSpec.parse("seat.lock", #"{"live":"concert","seatIndex":2}"#).get()
                == seatCall(.lock(seatIndex: 2, isLocked: true, microphone: nil, camera: nil, caller: caller)))
        let battle = ConnectionCommand.requestBattle(
            from: live, to: ["duet"], durationSeconds: 0, needResponse: false, timeoutSeconds: 10, extensionInfo: "",
            caller: caller)
        // A missing timeout, and 0 for a battle, mean the default of 10 s.
        for params in [#"{"live":"concert","to":["duet"]}"#, #"{"live":"concert","to":["duet"],"timeout":0}"#] {
            #expect(
                try CallSpec.parse("battle.request", params).get()
                    == .forward(.connection(ConnectionInput(app: Samples.app, battle)), inLive: live))
        }
    }

    /// Rules: R16.9.
    @Test(
        arguments: [
            "", "live", "live.", "live.nothing", ".live", "seat.fly", "cohost.x", "battle.", "admin.x", "audience.x",
            "barrage.x", "stage.put", "metadata.x", "LOGIN", "login.x", "live.get.more",
        ]) func `an unknown method is reported as unknown, whatever its parameters`(method: String)
    {
        for params in [nil, "{}", #"{"live":"concert"}"#, "7"] {
            #expect(
                CallSpec.rejection(method, params)
                    == ReplyError(.unknownMethod, "there is no method \"\(method)\""))
        }
    }

    @Test func `a user's call that would change an app's settings is rejected`() {
        for spec in CallTable.apps where spec.role == .server {
            #expect(CallSpec.rejection(spec.method, spec.params())?.code == .noPermission, "\(spec.method)")
        }
    }

    /// Rules: R13.24.
    @Test func `only an app's server may call battle create, and a user may call battle request`() {
        let params = #"{"live":"concert","to":["duet"]}"#
        #expect(CallSpec.rejection("battle.create", params)?.code == .noPermission)
        #expect(CallSpec.rejection("battle.create", params, role: .server) == nil)
        #expect(CallSpec.rejection("battle.request", params) == nil)
        // The id of a battle has no blank.
        #expect(CallSpec.rejection("battle.get", #"{"battle":"b 6"}"#, role: .server)?.code == .badParameter)
    }

    @Test func `an error does not repeat a long method name in full`() {
        let error = CallSpec.rejection(String(repeating: "m", count: 10_000), nil)
        #expect(error?.message == "there is no method \"\(String(repeating: "m", count: 64))\"")
    }

    @Test func `I6 an app's server acts in a live without being in it`() throws {
        var forwardedCount = 0
        for spec in CallTable.stage + CallTable.barrage where spec.role == .user {
            let call = try CallSpec.parse(spec.method, spec.params(), role: .server).get()
            // The gateway itself answers the other calls, which are reads.
            guard case .forward(_, inLive: let requiredLive) = call else { continue }
            forwardedCount += 1
            #expect(requiredLive == nil, "\(spec.method) requires that the server has joined the live")
        }
        #expect(forwardedCount > 20, "most of the calls are forwarded")
    }

    @Test func `ping, which has no parameters, accepts any object as params and nothing else`() throws {
        for params in [nil, "{}", #"{"x":1}"#] {
            #expect(try CallSpec.parse("ping", params).get() == .ping)
        }
        for params in ["5", "[]", #""x""#, "null"] {
            #expect(CallSpec.rejection("ping", params)?.code == .badParameter, "\(params)")
        }
    }

    /// Rules: R3.1.
    @Test func `a create that names another owner is forwarded with that owner, not with the caller`() throws {
        guard
            case .forward(.directory(let input, key: _), _) = try CallSpec.parse(
                "live.create", #"{"live":"concert","owner":"bob"}"#
            ).get(), case .create(_, _, let owner, _) = input.command
        else {
            Issue.record("live.create was not forwarded as a create")
            return
        }
        #expect(owner.userID == "bob", "the directory, not the parser, rejects another owner than the caller")
        let paramsWithOwnID = #"{"live":"concert","owner":"\#(Samples.alice.userID.text)"}"#
        #expect(
            try CallSpec.parse("live.create", paramsWithOwnID).get()
                == CallSpec.parse("live.create", #"{"live":"concert"}"#).get())
    }

    /// Rules: R3.66.
    @Test func `a create that also joins has the same directory command as a plain create`() throws {
        guard
            case .createAndJoin(let live, let effect) = try CallSpec.parse(
                "live.create", #"{"live":"concert","join":true}"#
            ).get(),
            case .forward(let createEffect, inLive: nil) = try CallSpec.parse(
                "live.create", #"{"live":"concert","join":false}"#
            ).get()
        else {
            Issue.record("live.create was not parsed as a create with a join, or without one")
            return
        }
        #expect(live == "concert" && effect == createEffect)
        // `join` is true or false.
        #expect(CallSpec.rejection("live.create", #"{"live":"concert","join":1}"#)?.code == .badParameter)
    }

    @Test(
        arguments: [
            ("", "this is not JSON"), ("7", "this is not an object"), ("[]", "this is not an object"),
            ("null", "this is not an object"),
            (#"{"method":"ping"}"#, "id is missing"), (#"{"id":1}"#, "method is missing"),
            (#"{"id":"1","method":"ping"}"#, "id is not a whole number in range"),
            (#"{"id":-1,"method":"ping"}"#, "id is negative"), (#"{"id":1,"method":7}"#, "method is not a string"),
            (#"{"id":1,"method":"ping""#, "this is not JSON"),
        ]) func `a frame that is not a call is rejected as a bad frame`(text: String, reason: String)
    {
        do throws(ReplyError) {
            _ = try CallFrame(Array(text.utf8))
            Issue.record("\(text) is accepted")
        } catch {
            #expect(error.code == .badFrame)
            #expect(error.message.hasPrefix("not a call: ") && error.message.hasSuffix(reason), "\(error.message)")
        }
    }

    @Test func `a call from HTTP, whose method and parameters come separately, is parsed`() throws {
        let frame = try CallFrame(id: 1, method: "live.get", params: Array(#"{"live":"concert"}"#.utf8))
        let parser = CallParser(app: Samples.app, caller: Samples.caller)
        #expect(try parser.parse(frame) == .get(Samples.live))
        #expect(try parser.parse(CallFrame(id: 1, method: "ping", params: [])) == .ping)
        let list = try parser.parse(CallFrame(id: 1, method: "live.list", params: []))
        #expect(list == .list(cursor: "", count: 20, category: nil))
    }
}

// SPDX-License-Identifier: Apache-2.0
import PlazaModel
import PlazaWire
import Testing

@Suite struct CallParserTests {
    @Test func `good parameters become what they ask for`() throws {
        for spec in CallTable.all {
            let call = try CallSpec.parse(spec.method, spec.params(), role: spec.role).get()
            #expect(call == spec.expected, "\(spec.method)")
        }
    }

    @Test func `every method is in the table`() {
        let methods = Set(CallTable.all.map(\.method))
        #expect(methods == CallParser.methods.union(["login", "ping"]))
    }

    @Test func `a missing parameter is named`() {
        for spec in CallTable.all {
            for field in spec.fields {
                let error = CallSpec.refusal(spec.method, spec.params(without: field.name), role: spec.role)
                guard field.isNeeded else {
                    // A list of lives may be missing as far as JSON goes, but must not be empty.
                    if field.name == "to" {
                        #expect(error == ReplyError(.badParameter, "to names 0 lives; 1 to 8 are possible"))
                    } else {
                        #expect(error == nil, "\(spec.method) without \(field.name)")
                    }
                    continue
                }
                let call = "\(spec.method) without \(field.name): \(error?.message ?? "taken")"
                #expect(error?.code == .badParameter, "\(call)")
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

    @Test func `a parameter of another type is named`() {
        for spec in CallTable.all {
            for field in spec.fields {
                let params = spec.params(replacing: field.name, by: field.kind.wrong)
                let error = CallSpec.refusal(spec.method, params, role: spec.role)
                let expected = ReplyError(.badParameter, "params.\(field.name) \(field.kind.rawValue)")
                #expect(error == expected, "\(spec.method) \(params)")
            }
        }
    }

    @Test func `a call without parameters is a call with none`() {
        #expect(CallSpec.refusal("live.get", nil) == ReplyError(.badParameter, "live is missing"))
        #expect(CallSpec.refusal("live.get", "{}") == ReplyError(.badParameter, "params.live is missing"))
        #expect((try? CallSpec.parse("live.list", nil).get()) == .list(cursor: "", count: 20, category: nil))
        #expect(CallSpec.refusal("live.get", "null")?.code == .badParameter)
        #expect(CallSpec.refusal("live.get", "[]")?.code == .badParameter)
        #expect(CallSpec.refusal("live.get", "7")?.code == .badParameter)
    }

    @Test func `what is not named has its default`() throws {
        let live = Samples.live
        func seat(_ command: SeatCommand) -> ParsedCall {
            .forward(.seat(SeatInput(Samples.key, command)), inRoom: live)
        }
        let caller = Samples.caller
        #expect(
            try CallSpec.parse("seat.apply", #"{"live":"concert"}"#).get()
                == seat(.apply(seatIndex: -1, timeoutSeconds: 10, extraInfo: "", caller: caller)))
        #expect(
            try CallSpec.parse("seat.move", #"{"live":"concert","seatIndex":2}"#).get()
                == seat(.move(user: "alice", to: 2, policy: .abortWhenOccupied, caller: caller)))
        #expect(
            try CallSpec.parse("seat.lock", #"{"live":"concert","seatIndex":2}"#).get()
                == seat(.lock(seatIndex: 2, isLocked: true, microphone: nil, camera: nil, caller: caller)))
        let battle = ConnectionCommand.requestBattle(
            from: live, to: ["duet"], durationSeconds: 0, needResponse: false, timeoutSeconds: 10, extensionInfo: "",
            caller: caller)
        // A battle's timeout of 0 is the default, as the reference has it.
        for params in [#"{"live":"concert","to":["duet"]}"#, #"{"live":"concert","to":["duet"],"timeout":0}"#] {
            #expect(
                try CallSpec.parse("battle.request", params).get()
                    == .forward(.connection(ConnectionInput(app: Samples.app, battle)), inRoom: live))
        }
    }

    private static let long = String(repeating: "x", count: 2049)
    private static let nine = Array(repeating: "\"duet\"", count: 9).joined(separator: ",")
    private static let tenScores = Array(repeating: #"{"live":"a","score":1}"#, count: 10).joined(separator: ",")

    @Test func `what is out of range is named, with the range`() {
        let timeouts: [Int64] = [0, -1, 1801, .min, .max]
        for method in ["seat.apply", "seat.invite", "cohost.request", "battle.request"] {
            for timeout in timeouts where !(method == "battle.request" && timeout == 0) {
                let params = #"{"live":"concert","user":"bob","to":["duet"],"timeout":\#(timeout)}"#
                #expect(
                    CallSpec.refusal(method, params)
                        == ReplyError(.badParameter, "timeout is \(timeout); 1 to 1800 seconds are possible"))
            }
        }
        let cases: [(String, String, String)] = [
            ("live.list", #"{"count":0}"#, "count is 0; 1 to 50 are possible"),
            ("live.list", #"{"count":51}"#, "count is 51; 1 to 50 are possible"),
            ("live.list", #"{"count":-9}"#, "count is -9; 1 to 50 are possible"),
            ("audience.list", #"{"live":"concert","count":0}"#, "count is 0; 1 to 200 are possible"),
            ("audience.list", #"{"live":"concert","count":201}"#, "count is 201; 1 to 200 are possible"),
            (
                "seat.move", #"{"live":"concert","seatIndex":1,"policy":3}"#, "policy is 3; 0, 1 and 2 are possible"
            ), ("seat.apply", #"{"live":"concert","extraInfo":"\#(Self.long)"}"#, "extraInfo is over 2048 bytes"),
            (
                "seat.invite", #"{"live":"concert","user":"bob","extraInfo":"\#(Self.long)"}"#,
                "extraInfo is over 2048 bytes"
            ),
            (
                "cohost.request", #"{"live":"concert","to":["duet"],"extensionInfo":"\#(Self.long)"}"#,
                "extensionInfo is over 2048 bytes"
            ),
            (
                "battle.request", #"{"live":"concert","to":["duet"],"extensionInfo":"\#(Self.long)"}"#,
                "extensionInfo is over 2048 bytes"
            ), ("cohost.request", #"{"live":"concert","to":[]}"#, "to names 0 lives; 1 to 8 are possible"),
            ("cohost.cancel", #"{"live":"concert","to":[\#(Self.nine)]}"#, "to names 9 lives; 1 to 8 are possible"),
            ("battle.request", #"{"live":"concert","to":[\#(Self.nine)]}"#, "to names 9 lives; 1 to 8 are possible"),
            (
                "battle.accept", #"{"live":"concert","battle":"a b"}"#,
                "params.battle is missing or not a battle's id"
            ),
            (
                "battle.score", #"{"battle":"b","operation":3,"scores":[{"live":"a","score":1}]}"#,
                "operation is 3; 1 adds, 2 overwrites"
            ), ("battle.score", #"{"battle":"b","scores":[]}"#, "battle names a battle, scores 1 to 9 lives"),
            (
                "battle.score", #"{"battle":"b","scores":[\#(Self.tenScores)]}"#,
                "battle names a battle, scores 1 to 9 lives"
            ),
            (
                "battle.score", #"{"battle":"","scores":[{"live":"a","score":1}]}"#,
                "battle names a battle, scores 1 to 9 lives"
            ),
            (
                "battle.score", #"{"battle":"b","scores":[{"live":"a","score":"x"}]}"#,
                "params.scores.0.score is not a whole number in range"
            ),
        ]
        for (method, params, message) in cases {
            #expect(CallSpec.refusal(method, params) == ReplyError(.badParameter, message), "\(method) \(params)")
        }
        for number in ["1e300", "1.5", "99999999999999999999"] {
            let error = CallSpec.refusal("live.list", #"{"count":\#(number)}"#)
            #expect(error == ReplyError(.badParameter, "params.count is not a whole number in range"))
        }
        let mode = CallSpec.refusal("live.create", #"{"live":"concert","seatMode":"maybe"}"#)
        #expect(mode?.code == .badParameter && mode?.message.hasPrefix("params.seatMode ") == true)
    }

    @Test func `names that are none are refused, and the field is told`() {
        let badLives = ["", "a b", "a/b", "ü", String(repeating: "x", count: 49), "a\\u0000"]
        let rule = "is not a live's id: 1 to 48 printable ASCII characters without blanks and slashes"
        for spec in CallTable.all {
            for field in spec.fields where ["live", "inviter", "other", "to"].contains(field.name) {
                for bad in badLives {
                    let json = field.name == "to" ? "[\"\(bad)\"]" : "\"\(bad)\""
                    let error = CallSpec.refusal(
                        spec.method, spec.params(replacing: field.name, by: json), role: spec.role)
                    #expect(error == ReplyError(.badRoomID, "\(field.name) \(rule)"), "\(spec.method) \(bad)")
                }
            }
            for field in spec.fields where ["user", "owner"].contains(field.name) {
                for bad in ["", "a b", "a/b", "ü", String(repeating: "x", count: 33)] {
                    let error = CallSpec.refusal(
                        spec.method, spec.params(replacing: field.name, by: "\"\(bad)\""), role: spec.role)
                    let message =
                        "\(field.name) is not a user's id: 1 to 32 letters, digits, hyphens or underscores"
                    #expect(error == ReplyError(.badParameter, message), "\(spec.method) \(bad)")
                }
            }
        }
    }

    @Test func `a score is for a live's id`() {
        for bad in ["", "a b", "ü"] {
            let error = CallSpec.refusal(
                "battle.score", #"{"battle":"b","scores":[{"live":"a","score":1},{"live":"\#(bad)","score":1}]}"#,
                role: .server)
            #expect(error?.code == .badRoomID && error?.message.hasPrefix("scores.live is not") == true, "\(bad)")
        }
    }

    @Test(
        arguments: [
            "", "live", "live.", "live.nothing", ".live", "seat.fly", "cohost.x", "battle.", "admin.x", "audience.x",
            "barrage.x", "stage.put", "metadata.x", "LOGIN", "login.x", "live.get.more",
        ]) func `a method that there is not is told as such, whatever its parameters`(method: String)
    {
        for params in [nil, "{}", #"{"live":"concert"}"#, "7"] {
            #expect(
                CallSpec.refusal(method, params)
                    == ReplyError(.unknownMethod, "there is no method \"\(method)\""))
        }
    }

    @Test func `an app's settings are its server's alone`() {
        for spec in CallTable.apps where spec.role == .server {
            #expect(CallSpec.refusal(spec.method, spec.params())?.code == .noPermission, "\(spec.method)")
        }
    }

    @Test func `battles are created by an app's server, and requested by hosts`() {
        let params = #"{"live":"concert","to":["duet"]}"#
        #expect(CallSpec.refusal("battle.create", params)?.code == .noPermission)
        #expect(CallSpec.refusal("battle.create", params, role: .server) == nil)
        #expect(CallSpec.refusal("battle.request", params) == nil)
        #expect(CallSpec.refusal("battle.get", #"{"battle":"b 6"}"#, role: .server)?.code == .badParameter)
    }

    @Test func `a long method is not repeated whole`() {
        let error = CallSpec.refusal(String(repeating: "m", count: 10_000), nil)
        #expect(error?.message == "there is no method \"\(String(repeating: "m", count: 64))\"")
    }

    @Test func `I6 an app's server acts in a live without being in it`() throws {
        for spec in CallTable.stage + CallTable.barrage where spec.role == .user {
            guard case .forward(_, let room) = try CallSpec.parse(spec.method, spec.params(), role: .server).get()
            else { continue }
            #expect(room == nil, "\(spec.method)")
        }
    }

    @Test(
        arguments: [
            ("gift.send", #""gift":"rose","from":"bob""#, "from"), ("live.create", #""owner":"bob""#, "owner"),
        ])
    func `whom an app's server names has a name and a picture within the limits`(
        method: String, params: String, field: String
    ) throws {
        func refusal(_ part: String, _ bytes: Int) -> String? {
            let more = "\"\(field)\(part)\":\"\(String(repeating: "n", count: bytes))\""
            let text = "{\"live\":\"concert\",\(params),\(more)}"
            guard case .failure(let error) = CallSpec.parse(method, text, role: .server) else { return nil }
            #expect(error.code == .badParameter)
            return error.message
        }
        #expect(refusal("Name", Limits.userNameBytes) == nil)
        #expect(refusal("AvatarURL", Limits.urlBytes) == nil)
        #expect(refusal("Name", Limits.userNameBytes + 1) == "\(field)Name is over 100 bytes")
        #expect(refusal("AvatarURL", Limits.urlBytes + 1) == "\(field)AvatarURL is over 200 bytes")
    }

    @Test func `a method without parameters takes any object, and nothing else, for them`() throws {
        for params in [nil, "{}", #"{"x":1}"#] {
            #expect(try CallSpec.parse("ping", params).get() == .ping)
        }
        for params in ["5", "[]", #""x""#, "null"] {
            #expect(CallSpec.refusal("ping", params)?.code == .badParameter, "\(params)")
        }
    }

    @Test func `keys to delete are named, and there is at least one`() {
        #expect(
            CallSpec.refusal("metadata.delete", #"{"live":"concert","keys":[]}"#)
                == ReplyError(.badParameter, "keys names none; name at least one"))
        let missing = ReplyError(.badParameter, "params.keys is missing")
        for params in [#"{"live":"concert"}"#, #"{"live":"concert","keys":null}"#] {
            #expect(CallSpec.refusal("metadata.delete", params) == missing)
        }
    }

    @Test func `a word that is none of a parameter's values is named without words of ours`() {
        let error = CallSpec.refusal("live.update", #"{"live":"concert","seatMode":"bogus"}"#)
        #expect(error == ReplyError(.badParameter, "params.seatMode is not one of free, apply"))
    }

    @Test func `a user who names another owner is not taken for the owner`() throws {
        guard
            case .forward(.directory(let input, key: _), _) = try CallSpec.parse(
                "live.create", #"{"live":"concert","owner":"bob"}"#
            ).get(), case .create(_, _, let owner, _) = input.command
        else {
            Issue.record("no create")
            return
        }
        #expect(owner.userID == "bob", "the directory refuses it")
        let own = #"{"live":"concert","owner":"\#(Samples.alice.userID.text)"}"#
        #expect(
            try CallSpec.parse("live.create", own).get()
                == CallSpec.parse("live.create", #"{"live":"concert"}"#).get())
    }

    @Test(
        arguments: [
            ("", "this is not JSON"), ("7", "this is not an object"), ("[]", "this is not an object"),
            ("null", "this is not an object"),
            (#"{"method":"ping"}"#, "id is missing"), (#"{"id":1}"#, "method is missing"),
            (#"{"id":"1","method":"ping"}"#, "id is not a whole number in range"),
            (#"{"id":-1,"method":"ping"}"#, "id is negative"), (#"{"id":1,"method":7}"#, "method is not a string"),
            (#"{"id":1,"method":"ping""#, "this is not JSON"),
        ]) func `what is no call is a bad frame`(text: String, why: String)
    {
        do throws(ReplyError) {
            _ = try ClientFrame(Array(text.utf8))
            Issue.record("\(text) is taken")
        } catch {
            #expect(error.code == .badFrame)
            #expect(error.message.hasPrefix("not a call: ") && error.message.hasSuffix(why), "\(error.message)")
        }
    }

    @Test func `a call from HTTP reads its parameters alone`() throws {
        let frame = ClientFrame(id: 1, method: "live.get", params: Array(#"{"live":"concert"}"#.utf8))
        let parser = CallParser(app: Samples.app, caller: Samples.caller)
        #expect(try parser.parse(frame) == .get(Samples.live))
        #expect(try parser.parse(ClientFrame(id: 1, method: "ping", params: [])) == .ping)
        let list = try parser.parse(ClientFrame(id: 1, method: "live.list", params: []))
        #expect(list == .list(cursor: "", count: 20, category: nil))
    }

    @Test func `a list is asked for by pages of 1 to 50, in one of two orders`() throws {
        let parser = CallParser(app: Samples.app, caller: Samples.caller)
        func list(_ params: String) throws(ReplyError) -> ParsedCall {
            try parser.parse(ClientFrame(id: 1, method: "live.list", params: Array(params.utf8)))
        }
        #expect(try list(#"{"order":"descending"}"#) == .list(cursor: "", count: 20, category: nil))
        let ascending = ParsedCall.list(cursor: "", count: 20, category: nil, isAscending: true)
        #expect(try list(#"{"order":"ascending"}"#) == ascending)
        #expect(try list(#"{"count":1}"#) == .list(cursor: "", count: 1, category: nil))
        #expect(try list(#"{"count":50}"#) == .list(cursor: "", count: 50, category: nil))
        for wrong in [#"{"order":"random"}"#, #"{"count":0}"#, #"{"count":51}"#] {
            let error = #expect(throws: ReplyError.self) { try list(wrong) }
            #expect(error?.code == .badParameter, "\(wrong)")
        }
    }
}

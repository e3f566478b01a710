// SPDX-License-Identifier: Apache-2.0
import PlazaModel
import PlazaWire
import Testing

/// The values that a call's parameters may have, and the errors of other values.
@Suite struct CallParameterTests {
    /// One byte longer than the 2048 bytes that `extraInfo` and `extensionInfo` may have.
    private static let tooLongText = String(repeating: "x", count: 2049)
    /// One live more than the 8 that `to` may name.
    private static let nineLives = Array(repeating: "\"duet\"", count: 9).joined(separator: ",")
    /// One score more than the 9 that a call may have.
    private static let tenScores = Array(repeating: #"{"live":"a","score":1}"#, count: 10).joined(separator: ",")

    @Test func `an error names the parameter that is out of range, and the range`() {
        let timeouts: [Int64] = [0, -1, 1801, .min, .max]
        for method in ["seat.apply", "seat.invite", "cohost.request", "battle.request"] {
            for timeout in timeouts {
                // For a battle, 0 means the default timeout.
                if method == "battle.request" && timeout == 0 { continue }
                let params = #"{"live":"concert","user":"bob","to":["duet"],"timeout":\#(timeout)}"#
                #expect(
                    CallSpec.rejection(method, params)
                        == ReplyError(.badParameter, "timeout is \(timeout); 1 to 1800 seconds are possible"))
            }
        }
        let cases: [(method: String, params: String, message: String)] = [
            ("live.list", #"{"count":0}"#, "count is 0; 1 to 50 are possible"),
            ("live.list", #"{"count":51}"#, "count is 51; 1 to 50 are possible"),
            ("live.list", #"{"count":-9}"#, "count is -9; 1 to 50 are possible"),
            ("audience.list", #"{"live":"concert","count":0}"#, "count is 0; 1 to 200 are possible"),
            ("audience.list", #"{"live":"concert","count":201}"#, "count is 201; 1 to 200 are possible"),
            (
                "seat.move", #"{"live":"concert","seatIndex":1,"policy":3}"#, "policy is 3; 0, 1 and 2 are possible"
            ),
            (
                "seat.apply", #"{"live":"concert","extraInfo":"\#(Self.tooLongText)"}"#,
                "extraInfo has at most 2048 bytes, and 4096 as JSON"
            ),
            (
                "seat.invite", #"{"live":"concert","user":"bob","extraInfo":"\#(Self.tooLongText)"}"#,
                "extraInfo has at most 2048 bytes, and 4096 as JSON"
            ),
            (
                "cohost.request", #"{"live":"concert","to":["duet"],"extensionInfo":"\#(Self.tooLongText)"}"#,
                "extensionInfo has at most 2048 bytes, and 4096 as JSON"
            ),
            (
                "battle.request", #"{"live":"concert","to":["duet"],"extensionInfo":"\#(Self.tooLongText)"}"#,
                "extensionInfo has at most 2048 bytes, and 4096 as JSON"
            ), ("cohost.request", #"{"live":"concert","to":[]}"#, "to names 0 lives; 1 to 8 are possible"),
            (
                "cohost.cancel", #"{"live":"concert","to":[\#(Self.nineLives)]}"#,
                "to names 9 lives; 1 to 8 are possible"
            ),
            (
                "battle.request", #"{"live":"concert","to":[\#(Self.nineLives)]}"#,
                "to names 9 lives; 1 to 8 are possible"
            ),
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
            #expect(CallSpec.rejection(method, params) == ReplyError(.badParameter, message), "\(method) \(params)")
        }
        for number in ["1e300", "1.5", "99999999999999999999"] {
            let error = CallSpec.rejection("live.list", #"{"count":\#(number)}"#)
            #expect(error == ReplyError(.badParameter, "params.count is not a whole number in range"))
        }
        let seatModeError = CallSpec.rejection("live.create", #"{"live":"concert","seatMode":"maybe"}"#)
        #expect(seatModeError?.code == .badParameter && seatModeError?.message.hasPrefix("params.seatMode ") == true)
    }

    @Test func `an invalid id of a live or a user is rejected with the name of its parameter`() {
        let invalidLiveIDs = ["", "a b", "a/b", "ü", String(repeating: "x", count: 49), "a\\u0000"]
        let liveRule = "is not a live's id: 1 to 48 printable ASCII characters without blanks and slashes"
        for spec in CallTable.all {
            for field in spec.fields where ["live", "inviter", "other", "to"].contains(field.name) {
                for invalidID in invalidLiveIDs {
                    // `to` is a list of ids.
                    let json = field.name == "to" ? "[\"\(invalidID)\"]" : "\"\(invalidID)\""
                    let error = CallSpec.rejection(
                        spec.method, spec.params(replacing: field.name, by: json), role: spec.role)
                    #expect(error == ReplyError(.badRoomID, "\(field.name) \(liveRule)"), "\(spec.method) \(invalidID)")
                }
            }
            for field in spec.fields where ["user", "owner"].contains(field.name) {
                for invalidID in ["", "a b", "a/b", "ü", String(repeating: "x", count: 33)] {
                    let error = CallSpec.rejection(
                        spec.method, spec.params(replacing: field.name, by: "\"\(invalidID)\""), role: spec.role)
                    let message =
                        "\(field.name) is not a user's id: 1 to 32 letters, digits, hyphens or underscores"
                    #expect(error == ReplyError(.badParameter, message), "\(spec.method) \(invalidID)")
                }
            }
        }
    }

    @Test func `a score with an invalid live id is rejected`() {
        for invalidID in ["", "a b", "ü"] {
            let error = CallSpec.rejection(
                "battle.score", #"{"battle":"b","scores":[{"live":"a","score":1},{"live":"\#(invalidID)","score":1}]}"#,
                role: .server)
            #expect(error?.code == .badRoomID, "\(invalidID)")
            #expect(error?.message.hasPrefix("scores.live is not") == true, "\(invalidID)")
        }
    }

    @Test(
        arguments: [
            ("gift.send", #""gift":"rose","from":"bob""#, "from"), ("live.create", #""owner":"bob""#, "owner"),
        ])
    func `the name and the picture of a user whom an app's server names must be within the limits`(
        method: String, params: String, field: String
    ) throws {
        // The message with which the call is rejected if the parameter `field` + `suffix`, such as `ownerName`, is a
        // text of `count` characters; nil if the call is accepted.
        func rejection(_ suffix: String, _ count: Int, of character: String = "n") -> String? {
            let testedMember = "\"\(field)\(suffix)\":\"\(String(repeating: character, count: count))\""
            let allParams = "{\"live\":\"concert\",\(params),\(testedMember)}"
            guard case .failure(let error) = CallSpec.parse(method, allParams, role: .server) else { return nil }
            #expect(error.code == .badParameter)
            return error.message
        }
        #expect(rejection("Name", Limits.userNameBytes) == nil)
        #expect(rejection("AvatarURL", Limits.urlBytes) == nil)
        let rule = "bytes as JSON, and no control characters"
        #expect(rejection("Name", Limits.userNameBytes + 1) == "\(field)Name has at most 100 \(rule)")
        #expect(rejection("AvatarURL", Limits.urlBytes + 1) == "\(field)AvatarURL has at most 200 \(rule)")
        #expect(rejection("Name", 1, of: "\\u0001") == "\(field)Name has at most 100 \(rule)")
        #expect(rejection("AvatarURL", 1, of: "\\n") == "\(field)AvatarURL has at most 200 \(rule)")
        // JSON has two bytes for each quotation mark, so 51 have 102.
        #expect(rejection("Name", 51, of: "\\\"") == "\(field)Name has at most 100 \(rule)")
    }

    /// Rules: R3.44.
    @Test func `a metadata delete that names no key is rejected`() {
        #expect(
            CallSpec.rejection("metadata.delete", #"{"live":"concert","keys":[]}"#)
                == ReplyError(.badParameter, "keys names none; name at least one"))
        let missing = ReplyError(.badParameter, "params.keys is missing")
        for params in [#"{"live":"concert"}"#, #"{"live":"concert","keys":null}"#] {
            #expect(CallSpec.rejection("metadata.delete", params) == missing)
        }
    }

    @Test func `an error for an unknown parameter value does not contain internal names`() {
        let error = CallSpec.rejection("live.update", #"{"live":"concert","seatMode":"bogus"}"#)
        #expect(error == ReplyError(.badParameter, "params.seatMode is not one of free, apply"))
    }

    /// Rules: R3.50.
    @Test func `a page of the list of lives has 1 to 50 entries in ascending or descending order`() throws {
        // Without parameters, a page has 20 entries in descending order.
        let parser = CallParser(app: Samples.app, caller: Samples.caller)
        func list(_ params: String) throws(ReplyError) -> ParsedCall {
            try parser.parse(CallFrame(id: 1, method: "live.list", params: Array(params.utf8)))
        }
        #expect(try list(#"{"order":"descending"}"#) == .list(cursor: "", count: 20, category: nil))
        let ascending = ParsedCall.list(cursor: "", count: 20, category: nil, isAscending: true)
        #expect(try list(#"{"order":"ascending"}"#) == ascending)
        #expect(try list(#"{"count":1}"#) == .list(cursor: "", count: 1, category: nil))
        #expect(try list(#"{"count":50}"#) == .list(cursor: "", count: 50, category: nil))
        for badParams in [#"{"order":"random"}"#, #"{"count":0}"#, #"{"count":51}"#] {
            let error = #expect(throws: ReplyError.self) { try list(badParams) }
            #expect(error?.code == .badParameter, "\(badParams)")
        }
    }
}

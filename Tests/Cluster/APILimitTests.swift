// SPDX-License-Identifier: Apache-2.0
import ClusterKit
import PlazaModel
import PlazaWire
import TestSupport
import Testing

/// Tests with values over their limits, each sent to a resource of the HTTP API and in the corresponding call.
@Suite(.serialized) struct APILimitTests {
    /// One value over its limit, as a request to a resource and as a call.
    ///
    /// The live `concert` exists.
    private struct Row {
        var method: String
        var path: String
        /// The members of the JSON body, without braces; they are also parameters of the call.
        var body: String
        var call: String
        /// The parameters of the call as a JSON object.
        var params: String
        /// The code with which both requests are rejected.
        var code: ReplyCode

        /// A row for a call whose parameters are the JSON members `extraParams`, then the members of the body.
        init(
            _ method: String, _ path: String, _ body: String, _ call: String, _ extraParams: String, _ code: ReplyCode
        ) {
            (self.method, self.path, self.body, self.call, self.code) = (method, path, body, call, code)
            self.params = "{\(extraParams)\(extraParams.isEmpty ? "" : ",")\(body)}"
        }

        /// A row for a call whose parameters are the live `concert` and the members of the body.
        init(_ method: String, _ path: String, _ body: String, _ call: String, _ code: ReplyCode) {
            self.init(method, path, body, call, #""live":"concert""#, code)
        }
    }

    /// A text of `count` bytes.
    private static func text(_ count: Int) -> String { String(repeating: "x", count: count) }
    /// Repeats the character U+0001, which JSON writes with six bytes.
    ///
    /// A text may be at most twice as long in JSON as its limit in bytes. So a little more than a third of the limit is
    /// too long: 34 of these characters need 204 bytes, and a notice of at most 100 bytes may need 200.
    private static func controlCharacters(_ count: Int) -> String { String(repeating: #"\u0001"#, count: count) }
    /// A JSON array of `count` elements, which `element` writes for the numbers from 0.
    private static func list(_ count: Int, _ element: (Int) -> String) -> String {
        "[\((0..<count).map(element).joined(separator: ","))]"
    }
    // Each of these collections has one member more than is allowed: `0...limit` are `limit + 1` numbers.
    private static let words = #""words":\#(Self.list(AppLimits.words + 1) { "\"w\($0)\"" })"#
    private static let categories =
        #""categories":\#(Self.list(AppLimits.categories + 1) { #"{"categoryID":"c\#($0)","name":"C"}"# })"#
    private static let gifts =
        #""categories":[{"categoryID":"c","name":"C","gifts":"#
        + #"\#(Self.list(AppLimits.gifts + 1) { #"{"giftID":"g\#($0)","name":"G"}"# })}]"#
    private static let keys = (0...Limits.metadataKeys).map { "\"k\($0)\":\"v\"" }.joined(separator: ",")
    private static let languages = (0...AppLimits.languages).map { #""l\#($0)":{"name":"N"}"# }.joined(separator: ",")
    private static let live = "/v1/lives/concert"

    /// Most of the values exceed a limit of `Limits` or `AppLimits` by one, such as `text(101)` for a live's name of at
    /// most 100 bytes.
    ///
    /// Other rows have an empty value, a seat or template that does not exist (99 and 1000), or a control character,
    /// which is not allowed in their field. Two long rows of control characters are just too long as JSON: a metadata
    /// value may need 2 * 2048 = 4096 bytes, and 683 * 6 = 4098; a message may need 2 * 12,288 = 24,576 bytes, and
    /// 4097 * 6 = 24,582.
    private static let rows: [Row] = [
        Row(
            "POST", "/v1/lives", #""live":"new","owner":"eve","categoryList":[1,2,3,4]"#, "live.create", "",
            .tooManyTags),
        Row("PATCH", Self.live, #""categoryList":[1,2,3,4]"#, "live.update", .tooManyTags),
        Row("PATCH", Self.live, "\"liveName\":\"\(Self.text(101))\"", "live.update", .badRoomName),
        Row("PATCH", Self.live, "\"notice\":\"\(Self.text(101))\"", "live.update", .badParameter),
        Row("PATCH", Self.live, #""liveName":"a\u0001b""#, "live.update", .badRoomName),
        Row("PATCH", Self.live, #""coverURL":"https://a\u0000""#, "live.update", .badParameter),
        Row("PATCH", Self.live, "\"notice\":\"\(Self.controlCharacters(34))\"", "live.update", .badParameter),
        Row("PATCH", Self.live, #""maxSeatCount":51"#, "live.update", .badParameter),
        Row("PATCH", Self.live, #""seatTemplate":1000"#, "live.update", .badParameter),
        Row("PATCH", Self.live, #""maxMemberCount":-1"#, "live.update", .badParameter),
        Row("PUT", "/v1/app/words", Self.words, "app.setWords", "", .overLimit),
        Row("POST", "/v1/app/words", Self.words, "app.addWords", "", .overLimit),
        Row("PUT", "/v1/app/words", "\"words\":[\"\(Self.text(101))\"]", "app.setWords", "", .badParameter),
        Row("PUT", "/v1/app/gifts", Self.categories, "app.setGifts", "", .overLimit),
        Row("PUT", "/v1/app/gifts", Self.gifts, "app.setGifts", "", .overLimit),
        Row(
            "PUT", "/v1/app/gifts",
            #""categories":[{"categoryID":"c","name":"C","translations":{\#(Self.languages)}}]"#, "app.setGifts", "",
            .overLimit),
        Row("PATCH", "\(Self.live)/metadata", "\"metadata\":{\(Self.keys)}", "metadata.set", .tooManyMetadataKeys),
        Row("PATCH", "\(Self.live)/metadata", "\"metadata\":{}", "metadata.set", .badParameter),
        Row(
            "PATCH", "\(Self.live)/metadata", "\"metadata\":{\"\(Self.text(51))\":\"\"}", "metadata.set",
            .metadataKeyTooLong),
        Row(
            "PATCH", "\(Self.live)/metadata", "\"metadata\":{\"k\":\"\(Self.text(2049))\"}", "metadata.set",
            .metadataValueTooLong),
        Row(
            "PATCH", "\(Self.live)/metadata", "\"metadata\":{\"k\":\"\(Self.controlCharacters(683))\"}", "metadata.set",
            .metadataValueTooLong),
        Row(
            "PATCH", "\(Self.live)/metadata", #""metadata":{"\u0001":"v"}"#, "metadata.set", .badParameter),
        Row("POST", "\(Self.live)/bans", #""users":["eve"],"duration":0"#, "live.ban", .badParameter),
        Row(
            "POST", "\(Self.live)/bans", #""users":["eve"],"duration":9,"reason":"\u0001""#, "live.ban", .badParameter),
        Row(
            "POST", "\(Self.live)/messages", "\"text\":\"\(Self.controlCharacters(4097))\"", "barrage.sendText",
            .messageTooLong),
        Row(
            "POST", "\(Self.live)/custom-messages", #""businessID":"a\u0001","data":"x""#, "barrage.sendCustom",
            .badParameter),
        Row(
            "POST", "\(Self.live)/gifts", #""gift":"rose","from":"bob","fromName":"\u0001""#, "gift.send", .badParameter
        ),
        Row("POST", "\(Self.live)/bans", #""users":[],"duration":9"#, "live.ban", .badParameter),
        Row(
            "POST", "\(Self.live)/mutes", "\"users\":\(Self.list(21) { "\"u\($0)\"" }),\"duration\":9", "live.mute",
            .badParameter),
        Row("POST", "\(Self.live)/messages", #""text":"""#, "barrage.sendText", .badParameter),
        Row("POST", "\(Self.live)/messages", "\"text\":\"\(Self.text(12_289))\"", "barrage.sendText", .messageTooLong),
        Row(
            "POST", "\(Self.live)/custom-messages", #""businessID":"","data":"x""#, "barrage.sendCustom", .badParameter),
        Row("POST", "\(Self.live)/gifts", #""gift":"rose","count":256"#, "gift.send", .badParameter),
        Row(
            "POST", "\(Self.live)/gifts", "\"gift\":\"rose\",\"receivers\":\(Self.list(51) { "\"u\($0)\"" })",
            "gift.send",
            .badParameter),
        Row(
            "PATCH", "\(Self.live)/seats/99", #""locked":true"#, "seat.lock", #""live":"concert","seatIndex":99"#,
            .noSuchSeat),
        Row(
            "PUT", "\(Self.live)/guests/eve", #""seatIndex":99"#, "seat.place", #""live":"concert","user":"eve""#,
            .noSuchSeat),
        Row("POST", "/v1/battles", "\"live\":\"concert\",\"to\":[]", "battle.create", "", .badParameter),
        Row(
            "POST", "/v1/battles/b-1/scores", "\"scores\":\(Self.list(10) { "{\"live\":\"l\($0)\",\"score\":1}" })",
            "battle.score", #""battle":"b-1""#, .badParameter),
    ]

    /// Rules: R17.4, R17.5.
    @Test(.timeLimit(.minutes(3)))
    func `a value over its limit has the same code over HTTP and in its call`() async throws {
        try await LiveCluster.with(LiveCluster.options()) { cluster in
            let harness = try ClusterHarness(cluster)
            let base = try #require(cluster.gateways.first).http
            let serverToken = harness.token("shop", isServer: true)
            for (method, path, body) in [
                ("POST", "/v1/lives", #"{"live":"concert","owner":"alice"}"#),
                ("PUT", "/v1/app/gift-categories/new", #"{"name":"New"}"#),
                ("PUT", "/v1/app/gifts/rose", #"{"name":"Rose","category":"new"}"#),
            ] {
                let response = try await harness.sendRequest(method, path, body, of: base, token: serverToken)
                #expect((200...201).contains(response.status), "\(path): \(response.text)")
            }
            for row in Self.rows {
                let resource = try await harness.sendRequest(
                    row.method, row.path, "{\(row.body)}", of: base, token: serverToken)
                let call = try await harness.sendRequest(
                    "POST", "/v1/call/\(row.call)", row.params, of: base, token: serverToken)
                let description = "\(row.method) \(row.path) \(row.body.prefix(60))"
                #expect(resource.status == call.status, "\(description)")
                for (form, answer) in [("resource", resource.text), ("call", call.text)] {
                    let code = try Self.errorCode(in: answer)
                    #expect(code == .integer(Int64(row.code.code)), "\(description), as a \(form): \(answer)")
                }
            }
            // A cursor is in the query, not in the body, so it has no row. No list has returned this cursor.
            for (path, code) in [
                ("/v1/lives", ReplyCode.cursorExpired), ("\(Self.live)/audience", ReplyCode.invalidParameter),
            ] {
                let answer = try await harness.sendRequest(
                    "GET", "\(path)?cursor=\(Self.text(300))", "", of: base, token: serverToken)
                let answerCode = try Self.errorCode(in: answer.text)
                #expect(answerCode == .integer(Int64(code.code)), "a cursor has its call's code: \(answer.text)")
            }
        }
    }

    /// The code in the body of a response that reports an error; nil for any other response.
    private static func errorCode(in body: String) throws -> JSONValue? {
        try Wire.decode(JSONValue.self, from: Array(body.utf8)).members["error"]?.members["code"]
    }
}

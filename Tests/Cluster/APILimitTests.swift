// SPDX-License-Identifier: Apache-2.0
import ClusterKit
import PlazaModel
import PlazaWire
import TestSupport
import Testing

/// A test with values that are not allowed, each sent twice: to a resource of the HTTP API and in the corresponding
/// call.
@Suite(.serialized) struct APILimitTests {
    /// One value that is not allowed, as a request to a resource and as a call.
    ///
    /// The requests are about the live `concert`, which exists.
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
    private static func text(bytes count: Int) -> String { String(repeating: "x", count: count) }
    /// The control character U+0001, repeated `count` times; JSON writes each with six bytes.
    ///
    /// In JSON, a text may have at most twice as many bytes as its limit says. For example, a notice may have 100 bytes
    /// and thus 200 in JSON. So 34 of these characters are too long, because they need 34 * 6 = 204 bytes.
    private static func controlCharacters(_ count: Int) -> String { String(repeating: #"\u0001"#, count: count) }
    /// A JSON array of `count` elements, which `element` writes for the numbers from 0.
    private static func list(_ count: Int, _ element: (Int) -> String) -> String {
        "[\((0..<count).map(element).joined(separator: ","))]"
    }
    // Each of these collections has one member more than is allowed; the range `0...limit` has `limit + 1` numbers.
    private static let tooManyWords = #""words":\#(Self.list(AppLimits.words + 1) { "\"w\($0)\"" })"#
    private static let tooManyCategories =
        #""categories":\#(Self.list(AppLimits.categories + 1) { #"{"categoryID":"c\#($0)","name":"C"}"# })"#
    private static let tooManyGifts =
        #""categories":[{"categoryID":"c","name":"C","gifts":"#
        + #"\#(Self.list(AppLimits.gifts + 1) { #"{"giftID":"g\#($0)","name":"G"}"# })}]"#
    private static let tooManyKeys =
        (0...Limits.metadataKeys).map { "\"k\($0)\":\"v\"" }.joined(separator: ",")
    private static let tooManyLanguages =
        (0...AppLimits.languages).map { #""l\#($0)":{"name":"N"}"# }.joined(separator: ",")
    /// The path of the live `concert`.
    private static let live = "/v1/lives/concert"

    /// The rows of the test.
    ///
    /// In most rows a value exceeds its limit by one: for example, the name of a live may have 100 bytes, and
    /// `text(bytes: 101)` has one more. Other rows have an empty value, a seat or template that does not exist (99 and
    /// 1000), or a control character in a field that allows none.
    ///
    /// Two texts of control characters are just too long in JSON. A metadata value may have 2 * 2048 = 4096 bytes
    /// there, and has 683 * 6 = 4098. A message may have 2 * 12,288 = 24,576 bytes, and has 4097 * 6 = 24,582.
    private static let rows: [Row] = [
        Row(
            "POST", "/v1/lives", #""live":"new","owner":"eve","categoryList":[1,2,3,4]"#, "live.create", "",
            .tooManyTags),
        Row("PATCH", Self.live, #""categoryList":[1,2,3,4]"#, "live.update", .tooManyTags),
        Row("PATCH", Self.live, "\"liveName\":\"\(Self.text(bytes: 101))\"", "live.update", .badRoomName),
        Row("PATCH", Self.live, "\"notice\":\"\(Self.text(bytes: 101))\"", "live.update", .badParameter),
        Row("PATCH", Self.live, #""liveName":"a\u0001b""#, "live.update", .badRoomName),
        Row("PATCH", Self.live, #""coverURL":"https://a\u0000""#, "live.update", .badParameter),
        Row("PATCH", Self.live, "\"notice\":\"\(Self.controlCharacters(34))\"", "live.update", .badParameter),
        Row("PATCH", Self.live, #""maxSeatCount":51"#, "live.update", .badParameter),
        Row("PATCH", Self.live, #""seatTemplate":1000"#, "live.update", .badParameter),
        Row("PATCH", Self.live, #""maxMemberCount":-1"#, "live.update", .badParameter),
        Row("PUT", "/v1/app/words", Self.tooManyWords, "app.setWords", "", .overLimit),
        Row("POST", "/v1/app/words", Self.tooManyWords, "app.addWords", "", .overLimit),
        Row("PUT", "/v1/app/words", "\"words\":[\"\(Self.text(bytes: 101))\"]", "app.setWords", "", .badParameter),
        Row("PUT", "/v1/app/gifts", Self.tooManyCategories, "app.setGifts", "", .overLimit),
        Row("PUT", "/v1/app/gifts", Self.tooManyGifts, "app.setGifts", "", .overLimit),
        Row(
            "PUT", "/v1/app/gifts",
            #""categories":[{"categoryID":"c","name":"C","translations":{\#(Self.tooManyLanguages)}}]"#, "app.setGifts",
            "",
            .overLimit),
        Row(
            "PATCH", "\(Self.live)/metadata", "\"metadata\":{\(Self.tooManyKeys)}", "metadata.set", .tooManyMetadataKeys
        ),
        Row("PATCH", "\(Self.live)/metadata", "\"metadata\":{}", "metadata.set", .badParameter),
        Row(
            "PATCH", "\(Self.live)/metadata", "\"metadata\":{\"\(Self.text(bytes: 51))\":\"\"}", "metadata.set",
            .metadataKeyTooLong),
        Row(
            "PATCH", "\(Self.live)/metadata", "\"metadata\":{\"k\":\"\(Self.text(bytes: 2049))\"}", "metadata.set",
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
        Row(
            "POST", "\(Self.live)/messages", "\"text\":\"\(Self.text(bytes: 12_289))\"", "barrage.sendText",
            .messageTooLong),
        Row(
            "POST", "\(Self.live)/custom-messages", #""businessID":"","data":"x""#, "barrage.sendCustom",
            .badParameter),
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
    func `a value over its limit is rejected with the same code by its HTTP resource and by its call`() async throws {
        try await TestCluster.with(TestCluster.options()) { cluster in
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
            // A cursor has no row, because it is in the query, not in the body. No list has returned this cursor.
            for (path, code) in [
                ("/v1/lives", ReplyCode.cursorExpired), ("\(Self.live)/audience", ReplyCode.invalidParameter),
            ] {
                let answer = try await harness.sendRequest(
                    "GET", "\(path)?cursor=\(Self.text(bytes: 300))", "", of: base, token: serverToken)
                let answerCode = try Self.errorCode(in: answer.text)
                #expect(
                    answerCode == .integer(Int64(code.code)),
                    "\(path) must reject the cursor with \(code.name): \(answer.text)")
            }
        }
    }

    /// The code in the body of a response that reports an error; nil for any other response.
    private static func errorCode(in body: String) throws -> JSONValue? {
        try Wire.decode(JSONValue.self, from: Array(body.utf8)).members["error"]?.members["code"]
    }
}

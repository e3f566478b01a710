// SPDX-License-Identifier: Apache-2.0

/// An attack by JSON and by heads of HTTP requests that cost more CPU time to parse than to send.
package struct PayloadAttack: Attack {
    /// What the JSON consists of.
    package enum Payload: Sendable {
        /// A list in which one number is repeated; some connections repeat a number with many digits.
        case numbers
        /// Nested lists.
        case deep
        /// Member names and strings of combining marks (such as accents); such texts take long to compare or hash.
        case marks
    }

    package let name: String
    package let summary: String
    package let channel: AttackChannel
    /// Nil over HTTP, where each connection sends one request when it opens, and no more.
    package let turnInterval: Duration?
    /// The parameters of the calls; each connection uses one of them, chosen by its index.
    private let params: [String]
    /// Request lines without a version, such as `GET /v1/lives`; some connections over HTTP send one of them instead of
    /// a call.
    private let requestLines: [String]

    /// An attack with this payload.
    package init(_ payload: Payload, over channel: AttackChannel) {
        let isHTTP = channel == .http
        self.channel = channel
        self.turnInterval = isHTTP ? nil : .milliseconds(100)
        let bytes = isHTTP ? Self.bodyBytes : Self.messageBytes
        var requestLines: [String] = []
        switch payload {
        case .numbers:
            self.name = isHTTP ? "numbers-http" : "numbers-websocket"
            self.summary = "\(isHTTP ? "HTTP bodies of 256 KB" : "messages of 60 KB") that consist of numbers"
            // 20 bytes are left for the rest of the message.
            self.params = Self.numbers.map { number in
                "{\"live\":[" + String(repeating: "\(number),", count: (bytes - 20) / (number.utf8.count + 1)) + "1]}"
            }
        case .deep:
            self.name = isHTTP ? "deep-json-http" : "deep-json-websocket"
            // Each level takes two brackets; 40 bytes are left for the rest of the message.
            let depth = (bytes - 40) / 2
            self.summary = "lists in lists, \(depth) levels, \(isHTTP ? "in HTTP bodies" : "in messages")"
            self.params = [
                "{\"live\":" + String(repeating: "[", count: depth) + String(repeating: "]", count: depth) + "}"
            ]
        case .marks:
            self.name = isHTTP ? "marks-http" : "marks-websocket"
            self.summary =
                "member names and strings of combining marks, "
                + (isHTTP ? "in HTTP bodies, methods, paths and queries" : "in messages")
            // 40 bytes are left for the rest of the message. A mark has two bytes.
            let text = Self.marks((bytes - 40) / 4)
            // A long member name, which a decoder compares with the names that it knows, and a long id of a live.
            let longName = "{\"\(Self.marks((bytes - 40) / 8))\":1,\"live\":\"\(Self.marks((bytes - 40) / 8))\"}"
            // A gateway accepts 30 marks in a row, so it reads this text to its end. 30 marks of two bytes and a letter
            // are 61 bytes.
            let acceptedMarks = String(repeating: Self.marks(15) + "a", count: (bytes - 40) / 61)
            self.params = ["{\"live\":\"\(text)\"}", longName, "{\"live\":\"\(acceptedMarks)\"}"]
            requestLines = isHTTP ? Self.requestLinesOfMarks : []
        }
        self.requestLines = requestLines
    }

    /// The numbers that the lists consist of.
    ///
    /// The first costs little to convert, and the second is large. A `Double` cannot represent the third and the fourth
    /// exactly. The fifth has a long fraction.
    ///
    /// A connection's index modulo 5 selects its number. Over HTTP, a connection whose index is a multiple of 4 has no
    /// token. Because 5 is odd, each number is sent both with and without a token.
    static let numbers = [
        "1e5", "1e99", "9007199254740993", "-9007199254740993.5", "0.3333333333333333333333333333333333333333",
    ]

    /// Request lines whose method, query or path consists of combining marks: as they are, and percent-encoded.
    private static var requestLinesOfMarks: [String] {
        let marks = Self.marks(Self.headBytes / 4)
        // A mark has six bytes in percent-encoding.
        let count = Self.headBytes / 12
        let encoded = String(repeating: "%CC%81", count: count) + String(repeating: "%CC%B4", count: count)
        return [
            "\(marks) /openapi.json", "GET /v1/lives?\(marks)=1", "GET /v1/lives?order=\(encoded)",
            "GET /v1/lives/a\(marks)/stage",
        ]
    }

    /// A text of combining marks in the order that takes longest to sort.
    ///
    /// A comparison of two texts sorts their marks by combining class. Here all marks of the higher class come first,
    /// so sorting must move every mark.
    ///
    /// - Parameter count: how often each of the two marks stands in the text.
    /// - Returns: the text; it has `4 * count` bytes, because each mark has two.
    private static func marks(_ count: Int) -> String {
        String(repeating: "\u{301}", count: count) + String(repeating: "\u{334}", count: count)
    }

    package func connectionCount(limit: Int) -> Int { min(limit, self.channel == .http ? 100 : 10) }

    package func makeClient(_ setting: AttackClientSetting) -> any AttackClient {
        // The connections have 20 users: the connections 0, 20, 40 and so on have the same one.
        let token = setting.makeToken("\(setting.namePrefix)-\(setting.index % 20)")
        // A form is what a connection sends: one of the parameters or request lines. `marks-http` has seven forms:
        // three parameters and four request lines. A connection whose index is a multiple of 4 has no token. Because 7
        // is odd, each form is sent both with and without a token.
        let form = setting.index % (self.params.count + self.requestLines.count)
        if form >= self.params.count {
            let head = HTTPRequestText.head(
                self.requestLines[form - self.params.count], token: setting.index % 4 == 0 ? nil : token)
            return SingleShot(.raw("\(head)\r\n"))
        }
        let params = self.params[form]
        if self.channel == .http {
            // A gateway must reject a request without a token before it reads the body.
            let call = HTTPRequestText.call(
                "live.get", body: params, token: setting.index % 4 == 0 ? nil : token)
            return SingleShot(.raw(call))
        }
        return PayloadClient(token: token, params: params)
    }

    /// The maximum size of a body in bytes.
    private static let bodyBytes = 256 << 10
    /// A little less than the maximum size of a head in bytes, which leaves room for the token.
    private static let headBytes = 15 << 10
    /// A little less than the maximum size of a message, in bytes.
    private static let messageBytes = 60_000
}

/// A client that logs in, and sends a call with the payload in each turn.
private struct PayloadClient: AttackClient {
    let token: String
    let params: String
    private var writer = CallWriter()

    init(token: String, params: String) {
        self.token = token
        self.params = params
    }

    mutating func opened() -> [AttackAction] { [self.writer.login(self.token)] }
    mutating func takeTurn() -> [AttackAction] { [self.writer.call("live.get", self.params)] }
}

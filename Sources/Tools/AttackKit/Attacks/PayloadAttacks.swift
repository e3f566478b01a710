// SPDX-License-Identifier: Apache-2.0

/// JSON that costs more CPU time to parse than to send.
package struct PayloadAttack: Attack {
    /// What the JSON consists of.
    package enum Payload: Sendable {
        /// A list of numbers.
        case numbers
        /// Nested lists.
        case deep
    }

    package let name: String
    package let summary: String
    package let channel: AttackChannel
    /// nil over HTTP, where the clients take no turns: each connection sends one request when it opens.
    package let turnInterval: Duration?
    private let params: String

    /// An attack with this payload.
    package init(_ payload: Payload, over channel: AttackChannel) {
        let isHTTP = channel == .http
        self.channel = channel
        self.turnInterval = isHTTP ? nil : .milliseconds(100)
        let bytes = isHTTP ? Self.bodyBytes : Self.messageBytes
        switch payload {
        case .numbers:
            self.name = isHTTP ? "numbers-http" : "numbers-websocket"
            self.summary = "\(isHTTP ? "HTTP bodies of 256 KB" : "messages of 60 KB") that consist of numbers"
            // Each number takes four bytes; 20 bytes are left for the rest of the message.
            self.params = "{\"live\":[" + String(repeating: "1e5,", count: (bytes - 20) / 4) + "1]}"
        case .deep:
            self.name = isHTTP ? "deep-json-http" : "deep-json-websocket"
            // Each level takes two brackets; 40 bytes are left for the rest of the message.
            let depth = (bytes - 40) / 2
            self.summary = "lists in lists, \(depth) levels, \(isHTTP ? "in HTTP bodies" : "in messages")"
            self.params =
                "{\"live\":" + String(repeating: "[", count: depth) + String(repeating: "]", count: depth) + "}"
        }
    }

    package func connections(limit: Int) -> Int { min(limit, self.channel == .http ? 100 : 10) }

    package func makeClient(_ setting: AttackClientSetting) -> any AttackClient {
        // The connections share 20 users.
        let token = setting.makeToken("\(setting.namePrefix)-\(setting.index % 20)")
        if self.channel == .http {
            // A quarter of the requests has no token. A gateway must reject these before it reads their bodies.
            let call = HTTPRequestText.call(
                "live.get", body: self.params, token: setting.index % 4 == 0 ? nil : token)
            return SingleShot(.raw(call))
        }
        return PayloadClient(token: token, params: self.params)
    }

    /// The maximum size of a body in bytes.
    private static let bodyBytes = 256 << 10
    /// A little less than the maximum size of a message, in bytes.
    private static let messageBytes = 60_000
}

/// Logs in, and sends a call with the payload in each turn.
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

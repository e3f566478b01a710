// SPDX-License-Identifier: Apache-2.0

/// A slow-loris attack: many connections that send a request one byte at a time and never end it.
package struct SlowAttack: Attack {
    /// The part of a request that never ends.
    package enum Part: Sendable {
        case head, body, handshake
    }

    package let name: String
    package let summary: String
    package let channel: AttackChannel
    package let turnInterval: Duration? = .milliseconds(500)
    private let part: Part

    /// An attack that sends this part of a request slowly.
    package init(_ part: Part) {
        self.part = part
        switch part {
        case .head:
            (self.name, self.channel) = ("slow-http-head", .http)
            self.summary = "many HTTP requests whose head arrives one byte at a time"
        case .body:
            (self.name, self.channel) = ("slow-http-body", .http)
            self.summary = "many HTTP requests with a token, whose body arrives one byte at a time"
        case .handshake:
            (self.name, self.channel) = ("slow-handshake", .handshake)
            self.summary = "many WebSocket handshakes that arrive one byte at a time"
        }
    }

    package func connectionCount(limit: Int) -> Int { limit }

    package func makeClient(_ setting: AttackClientSetting) -> any AttackClient {
        switch self.part {
        case .head: return TricklingClient("GET /v1/lives HTTP/1.1\r\nHost: localhost\r\nX-Padding: ")
        case .body:
            // The connections have only 200 users. So the attack reaches the rate limit of a user, and also the limit
            // of an address.
            let token = setting.makeToken("\(setting.namePrefix)-\(setting.index % 200)")
            let head = HTTPRequestText.head("POST /v1/call/live.get", token: token)
            return TricklingClient("\(head)Content-Type: application/json\r\nContent-Length: 100000\r\n\r\n{")
        case .handshake:
            return TricklingClient("GET /v1 HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nX-Padding: ")
        }
    }
}

/// A client that sends the beginning of a request when its connection opens, and then one byte in each turn.
private struct TricklingClient: AttackClient {
    private let beginning: String

    init(_ beginning: String) { self.beginning = beginning }

    mutating func opened() -> [AttackAction] { [.raw(self.beginning)] }
    mutating func takeTurn() -> [AttackAction] { [.raw("a")] }
}

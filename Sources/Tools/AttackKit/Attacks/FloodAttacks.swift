// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel

/// An attack that sends pings at a rate far above the limit of a connection.
package struct PingFlood: Attack {
    package let name = "ping-flood"
    package let summary = "2,000 pings a second on each connection; half of the connections are logged in"
    package let channel = AttackChannel.webSocket
    package let turnInterval: Duration? = .milliseconds(50)

    package func connectionCount(limit: Int) -> Int { min(limit, 20) }

    package func makeClient(_ setting: AttackClientSetting) -> any AttackClient {
        let token = setting.index % 2 == 0 ? setting.makeToken("\(setting.namePrefix)-\(setting.index)") : nil
        // 20 turns a second, with 100 pings each.
        return FloodingClient(token: token, live: nil) { _ in Array(repeating: .ping, count: 100) }
    }
}

/// An attack by one user who joins and leaves a live in quick succession.
package struct JoinFlood: Attack {
    package let name = "join-flood"
    package let summary = "one user joins and leaves a live of honest viewers 50 times a second"
    package let channel = AttackChannel.webSocket
    package let turnInterval: Duration? = .milliseconds(20)

    package func connectionCount(limit: Int) -> Int { 1 }

    package func makeClient(_ setting: AttackClientSetting) -> any AttackClient {
        // With `live: nil`, the client joins no live after its login: each turn contains a join.
        let params = "{\"live\":\"\(setting.honestLives.first?.text ?? "none")\"}"
        return FloodingClient(token: setting.makeToken("\(setting.namePrefix)-user"), live: nil) { writer in
            [writer.call("live.join", params), writer.call("live.leave", params)]
        }
    }
}

/// An attack by one user who sends messages to a live of honest viewers, who use the cluster normally.
package struct MessageFlood: Attack {
    package let name = "message-flood"
    package let summary = "one user sends 150 messages a second to a live of honest viewers"
    package let channel = AttackChannel.webSocket
    package let turnInterval: Duration? = .milliseconds(20)

    package func connectionCount(limit: Int) -> Int { 1 }

    package func makeClient(_ setting: AttackClientSetting) -> any AttackClient {
        let live = setting.honestLives.first?.text ?? "none"
        return FloodingClient(token: setting.makeToken("\(setting.namePrefix)-user"), live: live) { writer in
            // 50 turns a second, with three messages each.
            (0..<3).map { _ in writer.call("barrage.sendText", "{\"live\":\"\(live)\",\"text\":\"flood\"}") }
        }
    }
}

/// An attack that logs in with valid and with forged tokens.
///
/// Each connection logs in when it opens. After a successful login, it logs in again in each turn.
package struct LoginFlood: Attack {
    package let name = "login-flood"
    package let summary = "logins on new connections and on open ones; half of the tokens are forged"
    package let channel = AttackChannel.webSocket
    package let turnInterval: Duration? = .milliseconds(100)

    package func connectionCount(limit: Int) -> Int { min(limit, 1_000) }

    package func makeClient(_ setting: AttackClientSetting) -> any AttackClient {
        let validToken = setting.makeToken("\(setting.namePrefix)-user")
        // The forged token has the same claims, but an invalid signature.
        let forgedToken = String(validToken.dropLast(8)) + "AAAAAAAA"
        let token = setting.index % 2 == 0 ? validToken : forgedToken
        return FloodingClient(token: token, live: nil) { writer in [writer.login(token)] }
    }
}

/// A client that sends the same calls or pings in each turn.
///
/// It first logs in if it has a token, and then joins a live if it has one.
private struct FloodingClient: AttackClient {
    private let token: String?
    private let live: String?
    /// Makes the frames of one turn.
    private let makeFrames: (inout CallWriter) -> [AttackAction]
    private var writer = CallWriter()
    /// Whether the client sends frames in its turns.
    private var isReady: Bool

    /// Makes a client; a client without a token does not log in, and sends frames from its first turn on.
    init(token: String?, live: String?, makeFrames: @escaping (inout CallWriter) -> [AttackAction]) {
        self.token = token
        self.live = live
        self.makeFrames = makeFrames
        self.isReady = token == nil
    }

    mutating func opened() -> [AttackAction] { self.token.map { [self.writer.login($0)] } ?? [] }

    mutating func replied(_ outcome: Outcome) -> [AttackAction] {
        switch (outcome, self.live) {
        case (.success(.loggedIn), let live?): return [self.writer.call("live.join", "{\"live\":\"\(live)\"}")]
        case (.success(.loggedIn), nil), (.success(.joined), _): self.isReady = true
        default: break
        }
        return []
    }

    mutating func takeTurn() -> [AttackAction] { self.isReady ? self.makeFrames(&self.writer) : [] }
}

// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel

/// Pings at a rate far above the limit of a connection.
package struct PingFlood: Attack {
    package let name = "ping-flood"
    package let summary = "2,000 pings a second of each connection, half of them logged in"
    package let channel = AttackChannel.webSocket
    package let turnInterval: Duration? = .milliseconds(50)

    package func connections(limit: Int) -> Int { min(limit, 20) }

    package func client(_ setting: AttackClientSetting) -> any AttackClient {
        let token = setting.index % 2 == 0 ? setting.token("\(setting.name)-\(setting.index)") : nil
        return FloodingClient(token: token, live: nil) { _ in Array(repeating: .ping, count: 100) }
    }
}

/// One user who joins and leaves a live as fast as it can.
package struct JoinFlood: Attack {
    package let name = "join-flood"
    package let summary = "one user joins and leaves a live of honest viewers 100 times a second"
    package let channel = AttackChannel.webSocket
    package let turnInterval: Duration? = .milliseconds(20)

    package func connections(limit: Int) -> Int { 1 }

    package func client(_ setting: AttackClientSetting) -> any AttackClient {
        let live = "{\"live\":\"\(setting.honestLives.first?.text ?? "none")\"}"
        return FloodingClient(token: setting.token("\(setting.name)-user"), live: nil) { writer in
            [writer.call("live.join", live), writer.call("live.leave", live)]
        }
    }
}

/// One user who sends messages to a live of honest viewers.
package struct MessageFlood: Attack {
    package let name = "message-flood"
    package let summary = "one user sends 150 messages a second to a live of honest viewers"
    package let channel = AttackChannel.webSocket
    package let turnInterval: Duration? = .milliseconds(20)

    package func connections(limit: Int) -> Int { 1 }

    package func client(_ setting: AttackClientSetting) -> any AttackClient {
        let live = setting.honestLives.first?.text ?? "none"
        return FloodingClient(token: setting.token("\(setting.name)-user"), live: live) { writer in
            (0..<3).map { _ in writer.call("barrage.sendText", "{\"live\":\"\(live)\",\"text\":\"flood\"}") }
        }
    }
}

/// Logins with good and with bad tokens, on new connections and again on open ones.
package struct LoginFlood: Attack {
    package let name = "login-flood"
    package let summary = "logins on new connections and on open ones; half of the tokens are forged"
    package let channel = AttackChannel.webSocket
    package let turnInterval: Duration? = .milliseconds(100)

    package func connections(limit: Int) -> Int { min(limit, 1_000) }

    package func client(_ setting: AttackClientSetting) -> any AttackClient {
        let good = setting.token("\(setting.name)-user")
        // The bad token has the same claims, but an invalid signature.
        let token = setting.index % 2 == 0 ? good : String(good.dropLast(8)) + "AAAAAAAA"
        return FloodingClient(token: token, live: nil) { writer in [writer.login(token)] }
    }
}

/// Logs in, joins a live if there is one, and then repeats the same pieces.
private struct FloodingClient: AttackClient {
    private let token: String?
    private let live: String?
    private let pieces: (inout CallWriter) -> [AttackBytes]
    private var writer = CallWriter()
    private var isReady: Bool

    /// A client without `token` starts at once, without a login.
    init(token: String?, live: String?, pieces: @escaping (inout CallWriter) -> [AttackBytes]) {
        self.token = token
        self.live = live
        self.pieces = pieces
        self.isReady = token == nil
    }

    mutating func opened() -> [AttackBytes] { self.token.map { [self.writer.login($0)] } ?? [] }

    mutating func replied(_ outcome: Outcome) -> [AttackBytes] {
        switch (outcome, self.live) {
        case (.success(.loggedIn), let live?): return [self.writer.call("live.join", "{\"live\":\"\(live)\"}")]
        case (.success(.loggedIn), nil), (.success(.joined), _): self.isReady = true
        default: break
        }
        return []
    }

    mutating func takeTurn() -> [AttackBytes] { self.isReady ? self.pieces(&self.writer) : [] }
}

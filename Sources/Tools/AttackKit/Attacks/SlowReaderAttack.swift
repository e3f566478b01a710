// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel

/// An attack by many viewers that ask for large answers and never read any.
///
/// The connection with the index 0 owns a live with nearly as much metadata as a live may have, and all viewers ask for
/// this metadata. The viewers also join a live of honest clients, so that the items of this live's feed wait for them
/// too. The viewers' systems buffer only a few received bytes, as in a slow network. So the gateway must keep what it
/// cannot send.
package struct SlowReaderAttack: Attack {
    package let name = "slow-reader"
    package let summary = "many viewers that ask for 16 KB four times a second and read nothing"
    package let channel = AttackChannel.webSocket
    package let turnInterval: Duration? = .milliseconds(250)
    package let readsSlowly = true
    /// 320 MiB for the output that waits for the viewers.
    ///
    /// The default of a gateway's setting `pending-output-mib` is 256; another 64 MiB are the allocator's overhead.
    package let allowedBytes = 320 << 20

    package func connectionCount(limit: Int) -> Int { min(limit, 2_000) }

    package func makeClient(_ setting: AttackClientSetting) -> any AttackClient {
        let token = setting.makeToken("\(setting.namePrefix)-\(setting.index)")
        let largeLive = "\(setting.namePrefix)-large"
        if setting.index == 0 { return LargeLiveOwner(token: token, live: largeLive) }
        return SlowReadingClient(token: token, live: setting.honestLives.first?.text ?? "none", largeLive: largeLive)
    }
}

/// A client that creates a live with nearly as much metadata as a live may have, and reads all answers.
private struct LargeLiveOwner: AttackClient {
    let token: String
    let live: String
    private var writer = CallWriter()

    init(token: String, live: String) {
        self.token = token
        self.live = live
    }

    mutating func opened() -> [AttackAction] { [self.writer.login(self.token)] }

    mutating func replied(_ outcome: Outcome) -> [AttackAction] {
        switch outcome {
        case .success(.loggedIn): return [self.writer.call("live.create", "{\"live\":\"\(self.live)\"}")]
        case .success(.live): return [self.writer.call("live.join", "{\"live\":\"\(self.live)\"}")]
        case .success(.joined):
            let value = String(repeating: "x", count: 2_000)
            let metadata = (0..<8).map { "\"k\($0)\":\"\(value)\"" }.joined(separator: ",")
            return [self.writer.call("metadata.set", "{\"live\":\"\(self.live)\",\"metadata\":{\(metadata)}}")]
        default: return []
        }
    }

    mutating func cleanUp() -> [AttackAction] { [self.writer.call("live.end", "{\"live\":\"\(self.live)\"}")] }
}

/// A client that logs in, stops reading, joins a live, and asks for the large metadata in each turn.
private struct SlowReadingClient: AttackClient {
    let token: String
    let live: String
    let largeLive: String
    private var writer = CallWriter()
    private var isLoggedIn = false

    init(token: String, live: String, largeLive: String) {
        self.token = token
        self.live = live
        self.largeLive = largeLive
    }

    mutating func opened() -> [AttackAction] { [self.writer.login(self.token)] }

    mutating func replied(_ outcome: Outcome) -> [AttackAction] {
        guard case .success(.loggedIn) = outcome, !self.isLoggedIn else { return [] }
        self.isLoggedIn = true
        return [.stopReading, self.writer.call("live.join", "{\"live\":\"\(self.live)\"}")]
    }

    mutating func takeTurn() -> [AttackAction] {
        self.isLoggedIn ? [self.writer.call("metadata.get", "{\"live\":\"\(self.largeLive)\"}")] : []
    }
}

// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel

/// An owner makes stored rows as large as the gateway allows, in one live of each partition of the directory.
///
/// The bans with the longest reasons enlarge the row of bans, and the longest metadata enlarge the row of the live. If
/// a row exceeds the broker's maximum message size, every batch of its partition fails.
package struct OversizedRowAttack: Attack {
    package let name = "record"
    package let summary = "an owner in each partition bans 20 users at a time with the longest reasons"
    package let channel = AttackChannel.webSocket
    package let turnInterval: Duration? = .milliseconds(100)

    /// One connection for each partition; the target's own number of partitions is not known here.
    package func connections(limit: Int) -> Int { min(limit, AttackTarget.assumedPartitions) }

    package func makeClient(_ setting: AttackClientSetting) -> any AttackClient {
        let name = "\(setting.namePrefix)-\(setting.index)-\(setting.attempt)"
        let live = PartitionedName.live(
            name, app: setting.app, partition: setting.index % setting.partitions, of: setting.partitions)
        return OversizedRowClient(
            token: setting.makeToken("\(setting.namePrefix)-\(setting.index)"), live: live ?? name)
    }
}

/// Creates a live, joins it as its owner, and then bans users and sets metadata in each turn.
private struct OversizedRowClient: AttackClient {
    let token: String
    let live: String
    private var writer = CallWriter()
    private var turns = 0
    private var hasJoined = false

    init(token: String, live: String) {
        self.token = token
        self.live = live
    }

    mutating func opened() -> [AttackAction] { [self.writer.login(self.token)] }

    mutating func replied(_ outcome: Outcome) -> [AttackAction] {
        switch outcome {
        case .success(.loggedIn): return [self.writer.call("live.create", "{\"live\":\"\(self.live)\"}")]
        case .success(.live): return [self.writer.call("live.join", "{\"live\":\"\(self.live)\"}")]
        case .success(.joined): self.hasJoined = true
        default: break
        }
        return []
    }

    mutating func takeTurn() -> [AttackAction] {
        guard self.hasJoined else { return [] }
        self.turns += 1
        // A call may name 20 users.
        let users = (0..<20).map { "\"user-with-a-long-name-\(10_000 + self.turns * 20 + $0)\"" }
            .joined(separator: ",")
        // A reason may have 200 bytes, also as JSON. A control character takes six bytes in JSON, a quote two. Services
        // refuse control characters, so only one call in eight is applied: the one whose reason consists of quotes. If
        // a service accepted control characters too, a row of 1,000 bans would exceed the broker's default maximum
        // message size.
        let usesQuotes = self.turns % 8 == 0
        let reason = String(repeating: usesQuotes ? #"\""# : #"\u0001"#, count: usesQuotes ? 100 : 200)
        let ban = "{\"live\":\"\(self.live)\",\"users\":[\(users)],\"duration\":-1,\"reason\":\"\(reason)\"}"
        // These values have six times as many bytes in JSON, which is more than a service must accept.
        let metadataValue = String(repeating: #"\u0001"#, count: 2_000)
        let metadata = (0..<4).map { "\"k\($0)\":\"\(metadataValue)\"" }.joined(separator: ",")
        return [
            self.writer.call("live.ban", ban),
            self.writer.call("metadata.set", "{\"live\":\"\(self.live)\",\"metadata\":{\(metadata)}}"),
        ]
    }

    mutating func cleanUp() -> [AttackAction] {
        self.hasJoined ? [self.writer.call("live.end", "{\"live\":\"\(self.live)\"}")] : []
    }
}

// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel

/// An attack by owners of lives who make rows as large as the limits allow, in each partition of the directory.
///
/// A row is a record of the topic in which the directory stores its state. Bans with the longest reasons enlarge the
/// rows of bans, and metadata of the maximum size enlarge the row of the live. If a row were larger than the broker's
/// maximum message size, the directory could commit nothing more in the row's partition.
package struct OversizedRowAttack: Attack {
    package let name = "record"
    package let summary = "an owner in each partition sets the longest metadata and bans users with the longest reasons"
    package let channel = AttackChannel.webSocket
    package let turnInterval: Duration? = .milliseconds(100)

    /// One connection for each partition.
    ///
    /// The cluster's number of partitions is not known here, so the default of an external Kafka is assumed.
    package func connectionCount(limit: Int) -> Int { min(limit, AttackTarget.assumedPartitions) }

    package func makeClient(_ setting: AttackClientSetting) -> any AttackClient {
        let name = "\(setting.namePrefix)-\(setting.index)-\(setting.attempt)"
        let live = PartitionedName.live(
            name, app: setting.app, partition: setting.index % setting.partitions, of: setting.partitions)
        return OversizedRowClient(
            token: setting.makeToken("\(setting.namePrefix)-\(setting.index)"), live: live ?? name)
    }
}

/// A client that creates a live, joins it as its owner, and then bans users and sets metadata in each turn.
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
        return [self.setMetadata(), self.banUsers()]
    }

    /// Fills the metadata in the first turn, and replaces one value in each later turn.
    ///
    /// Each replacement makes the directory store the whole row again.
    private mutating func setMetadata() -> AttackAction {
        let keys = self.turns == 1 ? Array(0..<Limits.metadataKeys) : [self.turns % Self.longValues]
        let metadata = keys.map { key in
            // The total size of the metadata is limited, so only the first `longValues` values have the full length.
            // All later values are empty.
            let value = key < Self.longValues ? Self.longText("\(self.turns)", bytes: Limits.metadataValueBytes) : ""
            return "\"\(Self.longText("\(key)", bytes: Limits.metadataKeyBytes))\":\"\(value)\""
        }
        return self.writer.call(
            "metadata.set", "{\"live\":\"\(self.live)\",\"metadata\":{\(metadata.joined(separator: ","))}}")
    }

    /// Bans further users permanently.
    ///
    /// The gateway limits how many users one user may ban in a second, so it rejects some of these calls. One call in
    /// each turn is enough to reach this limit.
    private mutating func banUsers() -> AttackAction {
        let users = (0..<SanctionLimits.usersPerCall).map { index in
            let number = "\(self.turns * SanctionLimits.usersPerCall + index)"
            return "\"" + String(repeating: "u", count: Self.userIDBytes - number.utf8.count) + number + "\""
        }
        // The limit of a reason counts its bytes in JSON, where each quotation mark has two bytes.
        let reason = String(repeating: #"\""#, count: SanctionLimits.reasonBytes / 2)
        return self.writer.call(
            "live.ban",
            "{\"live\":\"\(self.live)\",\"users\":[\(users.joined(separator: ","))],\"duration\":-1,"
                + "\"reason\":\"\(reason)\"}")
    }

    /// How many values of the full length fit into a live's metadata.
    private static let longValues = Limits.metadataTotalBytes / Limits.metadataValueBytes
    /// The maximum length of a user's id.
    private static let userIDBytes = 32

    /// The JSON, without quotation marks, of a text of `bytes` bytes that begins with `start`.
    ///
    /// The text consists of quotation marks, each of which has two bytes in JSON. A text with more than twice its
    /// maximum length in JSON would be rejected (`TextRule.isBounded`).
    private static func longText(_ start: String, bytes: Int) -> String {
        start + String(repeating: #"\""#, count: bytes - start.utf8.count)
    }

    mutating func cleanUp() -> [AttackAction] {
        self.hasJoined ? [self.writer.call("live.end", "{\"live\":\"\(self.live)\"}")] : []
    }
}

// SPDX-License-Identifier: Apache-2.0
internal import MachineKit
internal import PlazaModel

/// The users who left a live within the last minute.
///
/// A user who comes back within a minute continues the visit (R3.31 in docs/RULES.md). One user can therefore not raise
/// the number of visits by entering and leaving again and again. If more than 32 users leave within a minute, the
/// oldest leaves are forgotten; in such a busy live the repeated visits of one user do not matter.
package struct RecentLeaves: Hashable, Sendable, Codable {
    /// How long a leave is remembered.
    static let span = Milliseconds.seconds(60)
    /// The maximum number of remembered leaves.
    static let maxEntries = 32

    /// One number for each user, oldest leave first.
    ///
    /// The upper bits of a number are 31 bits of the user's hash. The lower 32 bits are the time of the leave in
    /// seconds.
    private var entries: [Int64] = []

    init() {}

    package init(from decoder: any Decoder) throws {
        self.entries = Array(try decoder.singleValueContainer().decode([Int64].self).suffix(Self.maxEntries))
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(self.entries)
    }

    /// Records that `user` left at `now`; drops an earlier entry of the user, and the entries that are too old.
    mutating func add(_ user: UserID, at now: Timestamp) {
        let hash = Self.hash(of: user)
        self.entries.removeAll { !Self.isRecent($0, at: now) || $0 >> 32 == hash }
        if self.entries.count >= Self.maxEntries { self.entries.removeFirst() }
        self.entries.append(hash << 32 | Self.second(of: now))
    }

    /// Whether `user` left within the last minute.
    func contains(_ user: UserID, at now: Timestamp) -> Bool {
        let hash = Self.hash(of: user)
        return self.entries.contains { $0 >> 32 == hash && Self.isRecent($0, at: now) }
    }

    private static func isRecent(_ entry: Int64, at now: Timestamp) -> Bool {
        let leaveSecond = entry & 0xffff_ffff
        return self.second(of: now) - leaveSecond < self.span.count / 1_000
    }

    /// The time in whole seconds since 1970: the lowest 32 bits, which an entry stores.
    private static func second(of time: Timestamp) -> Int64 { (time.milliseconds / 1_000) & 0xffff_ffff }

    /// The 31 bits of the user's hash that an entry stores.
    private static func hash(of user: UserID) -> Int64 { Int64(StableHash.of(user.text) >> 33) }
}

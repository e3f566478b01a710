// SPDX-License-Identifier: Apache-2.0
package import RedisClient

/// The Lua scripts, which are the only code that reads or writes the leases (entries that expire after a session's last
/// sign of life).
///
/// The comment at the head of each file in `Scripts` describes the script's arguments, effects and reply.
package enum LeaseScript: String, CaseIterable, Sendable {
    // Scripts that change the leases; each takes effect at most once for each inbox offset.
    case join, leave, beats, assert, kick, rename, clear, tick
    // Scripts that only read.
    case page, member, profile, outbox
    // Scripts with which an owner opens the partition, and begins a new epoch.
    case open, begin

    /// The script with its whole source, as Redis runs it.
    package var source: RedisScript { Self.sources[self] ?? self.assembled }

    /// The scripts, each assembled once.
    private static let sources: [LeaseScript: RedisScript] = Dictionary(
        uniqueKeysWithValues: LeaseScript.allCases.map { ($0, $0.assembled) })

    /// A call of the script for one partition; all keys of the partition begin with `hashTag`.
    package func call(_ arguments: [String], hashTag: String) -> RedisScriptCall {
        RedisScriptCall(self.source, keys: [hashTag], arguments: arguments)
    }

    /// The script: its own file, preceded by the files that it needs.
    ///
    /// `guard.lua` checks the owner and the epoch. `change.lua` defines the functions that change the leases.
    private var assembled: RedisScript {
        let parts: [[UInt8]]
        switch self {
        case .join, .leave, .beats, .assert, .kick, .rename, .clear, .tick:
            parts = [PackageResources.guard_lua, PackageResources.change_lua, self.body]
        case .page, .member, .profile, .outbox: parts = [PackageResources.guard_lua, self.body]
        case .open, .begin: parts = [self.body]
        }
        let text = parts.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "\n")
        return RedisScript(name: self.rawValue, source: text)
    }

    /// The content of the script's own file.
    private var body: [UInt8] {
        switch self {
        case .join: PackageResources.join_lua
        case .leave: PackageResources.leave_lua
        case .beats: PackageResources.beats_lua
        case .assert: PackageResources.assert_lua
        case .kick: PackageResources.kick_lua
        case .rename: PackageResources.rename_lua
        case .clear: PackageResources.clear_lua
        case .tick: PackageResources.tick_lua
        case .page: PackageResources.page_lua
        case .member: PackageResources.member_lua
        case .profile: PackageResources.profile_lua
        case .outbox: PackageResources.outbox_lua
        case .open: PackageResources.open_lua
        case .begin: PackageResources.begin_lua
        }
    }
}

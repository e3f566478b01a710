// SPDX-License-Identifier: Apache-2.0

/// The Lua scripts that alone touch the leases; `Scripts/*.lua` say of each what it takes, does and gives.
package enum LeaseScript: String, CaseIterable, Sendable {
    // Changes, each once for each offset.
    case join, leave, beats, assert, kick, rename, clear, tick
    // Questions.
    case page, member, profile, outbox
    // An owner takes the partition.
    case open, begin

    /// The whole text, as Redis gets it.
    package var text: String { Self.texts[self] ?? "" }

    private static let texts: [LeaseScript: String] = Dictionary(
        uniqueKeysWithValues: LeaseScript.allCases.map { ($0, $0.assembled) })

    private var assembled: String {
        let parts: [[UInt8]]
        switch self {
        case .join, .leave, .beats, .assert, .kick, .rename, .clear, .tick:
            parts = [PackageResources.guard_lua, PackageResources.change_lua, self.body]
        case .page, .member, .profile, .outbox: parts = [PackageResources.guard_lua, self.body]
        case .open, .begin: parts = [self.body]
        }
        return parts.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "\n")
    }

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

/// A script with its arguments; its one key is the partition's hash tag.
package struct ScriptCall: Equatable, Sendable {
    package var script: LeaseScript
    package var arguments: [String]

    package init(_ script: LeaseScript, _ arguments: [String]) {
        self.script = script
        self.arguments = arguments
    }
}

// SPDX-License-Identifier: Apache-2.0
import PlazaModel

/// The role of the caller in the live `concert` (R15.1 to R15.11).
enum Role: String, CaseIterable, Sendable {
    case owner
    case admin
    /// In the audience, on no seat.
    case viewer
    /// In the audience, on seat 4.
    case seated
    /// In the audience, and muted.
    case muted
    /// Banned from the live.
    case banned
    /// The app's own server.
    case server
    /// A user of another app.
    case stranger

    /// The user with this role.
    var user: UserID {
        switch self {
        case .owner: "olga"
        case .admin: "adam"
        case .viewer: "gina"
        case .seated: "sara"
        case .muted: "mia"
        case .banned: "bert"
        case .server: "backend"
        case .stranger: "zoe"
        }
    }
}

/// One cell of the matrix.
struct Cell: Hashable, Sendable, CustomStringConvertible {
    var role: Role
    /// True: the call is about `concert`, where the user has the role.
    ///
    /// False: about `party`, where the user has no role.
    var isOwnLive: Bool
    /// Whether the user has joined; a banned user joined before its ban.
    var hasJoined: Bool

    static let all: [Cell] = Role.allCases.flatMap { role in
        [true, false].flatMap { isOwnLive in
            [true, false].map { Cell(role: role, isOwnLive: isOwnLive, hasJoined: $0) }
        }
    }

    var description: String {
        "\(self.role.rawValue), \(self.isOwnLive ? "own" : "foreign") live, \(self.hasJoined ? "in" : "out")"
    }

    /// The live that the call is about.
    var key: LiveKey {
        LiveKey(
            self.role == .stranger ? "elsewhere" : MatrixHarness.app,
            self.isOwnLive ? MatrixFixture.concert : MatrixFixture.party)
    }
}

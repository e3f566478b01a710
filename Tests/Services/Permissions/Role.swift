// SPDX-License-Identifier: Apache-2.0
import MachineTestSupport
import PlazaModel

/// The role of the caller in the live `concert` (R15.1 to R15.11); in the live `party` the caller has no role.
enum Role: String, CaseIterable, Sendable {
    case owner
    case admin
    /// A viewer without a seat.
    case viewer
    /// A viewer on seat 4; without a seat if the cell's `hasJoined` is false.
    case seated
    /// A muted viewer without a seat.
    case muted
    /// A user who is banned from the live.
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

/// One cell of the matrix: who calls, about which live, and from inside or outside of this live.
struct Cell: Hashable, Sendable, CustomStringConvertible {
    var role: Role
    /// Whether the caller has its role in the live that the call is about: true for `concert`, false for `party`.
    var hasRole: Bool
    /// Whether the caller has joined the live; a banned user joined before its ban.
    var hasJoined: Bool

    static let all: [Cell] = Role.allCases.flatMap { role in
        [true, false].flatMap { hasRole in
            [true, false].map { hasJoined in Cell(role: role, hasRole: hasRole, hasJoined: hasJoined) }
        }
    }

    var description: String {
        "\(self.role.rawValue) of concert, call about \(self.key.live), \(self.hasJoined ? "joined" : "not joined")"
    }

    /// The live that the call is about.
    var key: LiveKey {
        LiveKey(
            self.role == .stranger ? "elsewhere" : MatrixHarness.app,
            self.hasRole ? MatrixFixture.concert : MatrixFixture.party)
    }
}

// SPDX-License-Identifier: Apache-2.0
import PlazaModel

/// Who acts, by what it is in the live `concert` (reference 18).
enum Role: String, CaseIterable, Sendable {
    case owner
    case admin
    /// In the audience, on no seat.
    case viewer
    /// In the audience, on seat 4.
    case seated
    /// In the audience, and may not write.
    case muted
    /// May not enter.
    case banned
    /// The app's own server.
    case server
    /// A user of another app.
    case stranger

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
    /// In `concert`, where the role holds, or in `party`, where the same user is anybody.
    var isOwn: Bool
    /// Whether the user has joined; a banned user before its ban.
    var isIn: Bool

    static let all: [Cell] = Role.allCases.flatMap { role in
        [true, false].flatMap { isOwn in
            [true, false].map { Cell(role: role, isOwn: isOwn, isIn: $0) }
        }
    }

    var description: String {
        "\(self.role.rawValue), \(self.isOwn ? "own" : "foreign") live, \(self.isIn ? "in" : "out")"
    }

    var key: LiveKey {
        LiveKey(self.role == .stranger ? "elsewhere" : World.app, self.isOwn ? Town.concert : Town.party)
    }
}

// SPDX-License-Identifier: Apache-2.0
import MachineTestSupport
import PlazaModel
import Testing

/// The lives of the matrix and their users.
///
/// - `concert`, where the callers have their roles: olga owns this live, adam and anna are its admins, mia is muted
///   there, and bert is banned.
/// - `party`, where the callers have no role: otto owns this live, and anna is its admin.
/// - `duet`, with which the other two lives connect and battle: dora owns this live.
///
/// In `concert` and `party`, bob is a viewer, carl has applied for a seat, and sven sits on seat 3.
enum MatrixFixture {
    static let concert: LiveID = "concert"
    static let party: LiveID = "party"
    static let duet: LiveID = "duet"
    static let lives = [MatrixFixture.concert, MatrixFixture.party, MatrixFixture.duet]

    static func owner(of live: LiveID) -> UserID {
        switch live {
        case Self.concert: "olga"
        case Self.party: "otto"
        default: "dora"
        }
    }

    /// The initial state of all machines.
    static let harness: MatrixHarness = {
        var harness = MatrixHarness()
        for live in Self.lives {
            let key = LiveKey(MatrixHarness.app, live)
            let ownerCaller = Self.createAndJoin(key, &harness)
            guard live != Self.duet else { continue }
            for admin: UserID in live == Self.concert ? ["adam", "anna"] : ["anna"] {
                let ticket = Self.join(admin, key, &harness)
                let caller = harness.nextCall(of: ownerCaller)
                _ = harness.send(.directoryCommand(key, .setAdmin(live: live, user: admin, caller: caller)))
                // An admin who leaves stays an admin. adam leaves; in the cells where adam is the caller and must have
                // joined, he joins again. anna stays, because other users kick, mute or ban her.
                if admin == "adam" {
                    _ = harness.send(
                        .audience(AudienceInput(key, .leave(caller: harness.caller(admin, ticket: ticket)))))
                }
            }
            _ = Self.join("bob", key, &harness)
            let carlsTicket = Self.join("carl", key, &harness)
            // A seat index of -1 means any free seat.
            let application = SeatCommand.apply(
                seatIndex: -1, timeoutSeconds: 1800, extraInfo: "", caller: harness.caller("carl", ticket: carlsTicket))
            _ = harness.send(.seat(SeatInput(key, application)))
            _ = Self.join("sven", key, &harness)
            Self.place("sven", on: 3, key, &harness)
        }
        let key = LiveKey(MatrixHarness.app, Self.concert)
        // A duration of -1 means that the mute has no end.
        _ = harness.send(
            .directoryCommand(key, .mute(live: key.live, users: ["mia"], durationSeconds: -1, caller: harness.server()))
        )
        _ = harness.send(.directoryCommand(key, Self.ban("bert", key, harness.server())))
        return harness
    }()

    /// For each cell the initial state, and the caller's ticket if the caller has joined.
    static let initialStates: [Cell: (harness: MatrixHarness, ticket: Ticket?)] = {
        var initialStates: [Cell: (MatrixHarness, Ticket?)] = [:]
        for cell in Cell.all {
            var harness = Self.harness
            initialStates[cell] = (harness, nil)
            guard cell.hasJoined, cell.role != .server else { continue }
            // A banned user cannot join, so the ban is lifted for the time of the join.
            let isBannedMember = cell.role == .banned && cell.hasRole
            if isBannedMember {
                let unban = DirectoryCommand.unban(live: cell.key.live, users: ["bert"], caller: harness.server())
                _ = harness.send(.directoryCommand(cell.key, unban))
            }
            let ticket = Self.join(cell.role.user, cell.key, &harness)
            if cell.role == .seated, cell.hasRole { Self.place(cell.role.user, on: 4, cell.key, &harness) }
            if isBannedMember {
                _ = harness.send(.directoryCommand(cell.key, Self.ban("bert", cell.key, harness.server())))
            }
            initialStates[cell] = (harness, ticket)
        }
        return initialStates
    }()

    /// Lets a user join; returns its ticket, or nil if the join is rejected.
    ///
    /// A rejection fails the test, except in another app, where there is no such live.
    static func join(_ user: UserID, _ key: LiveKey, _ harness: inout MatrixHarness) -> Ticket? {
        let caller = harness.caller(user)
        let outcome = harness.outcome(.audience(AudienceInput(key, .join(caller: caller))), of: caller)
        guard case .success(.joined(let ticket, _, _, _))? = outcome else {
            if key.app == MatrixHarness.app {
                Issue.record("\(user) cannot join \(key): \(String(describing: outcome))")
            }
            return nil
        }
        return ticket
    }

    /// Lets the app's server put a user on a seat.
    static func place(_ user: UserID, on seat: Int, _ key: LiveKey, _ harness: inout MatrixHarness) {
        _ = harness.send(.seat(SeatInput(key, .place(user: user, seatIndex: seat, caller: harness.server()))))
    }

    /// The command that bans a user until the ban is lifted.
    private static func ban(_ user: UserID, _ key: LiveKey, _ caller: Caller) -> DirectoryCommand {
        .ban(live: key.live, users: [user], durationSeconds: -1, reason: "", caller: caller)
    }

    /// Creates a live, and lets its owner join; returns the caller of the owner's next call.
    private static func createAndJoin(_ key: LiveKey, _ harness: inout MatrixHarness) -> Caller {
        let user = self.owner(of: key.live)
        let caller = harness.caller(user)
        _ = harness.send(
            .directoryCommand(key, .create(live: key.live, changes: LiveChanges(), owner: caller.user, caller: caller)))
        return harness.caller(user, ticket: self.join(user, key, &harness))
    }
}

extension Effect {
    /// A command to the directory.
    static func directoryCommand(_ key: LiveKey, _ command: DirectoryCommand) -> Effect {
        .directory(DirectoryInput(app: key.app, command))
    }

    /// A command to the fan-out.
    static func barrageCommand(_ key: LiveKey, _ command: BarrageCommand) -> Effect {
        .barrage(BarrageInput(key, command))
    }

    /// A command to the seat machine.
    static func seatCommand(_ key: LiveKey, _ command: SeatCommand) -> Effect { .seat(SeatInput(key, command)) }

    /// A command to the connection machine.
    static func connectionCommand(_ key: LiveKey, _ command: ConnectionCommand) -> Effect {
        .connection(ConnectionInput(app: key.app, command))
    }
}

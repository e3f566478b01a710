// SPDX-License-Identifier: Apache-2.0
import CoreKit
import PlazaModel

/// The lives of the matrix, and who is in them.
///
/// `concert` is where the people of the matrix have their roles: olga owns it, adam and anna are its admins, mia is muted
/// in it and bert banned from it. `party` is another live of the same kind, owned by otto, with anna as its admin, and
/// `duet` a third one, owned by dora, to co-host and fight with. In the first two, bob watches, carl has applied for a
/// seat, and sven sits on seat 3.
enum Town {
    static let concert: LiveID = "concert"
    static let party: LiveID = "party"
    static let duet: LiveID = "duet"
    static let lives = [Town.concert, Town.party, Town.duet]

    static func owner(of live: LiveID) -> UserID {
        switch live {
        case Self.concert: "olga"
        case Self.party: "otto"
        default: "dora"
        }
    }

    /// Everything as the matrix finds it.
    static let world: World = {
        var world = World()
        for live in Self.lives {
            let key = LiveKey(World.app, live)
            let owner = Self.enterAsOwner(key, &world)
            guard live != Self.duet else { continue }
            for admin: UserID in live == Self.concert ? ["adam", "anna"] : ["anna"] {
                let ticket = Self.enter(admin, key, &world)
                let caller = world.again(owner)
                _ = world.run(.room(key, .setAdmin(live: live, user: admin, caller: caller)))
                // Admins stay admins when they leave; anna stays, for she is whom others act upon.
                if admin == "adam" {
                    _ = world.run(.audience(AudienceInput(key, .leave(caller: world.caller(admin, ticket: ticket)))))
                }
            }
            _ = Self.enter("bob", key, &world)
            let carl = Self.enter("carl", key, &world)
            let application = SeatCommand.apply(
                seatIndex: -1, timeoutSeconds: 1800, extraInfo: "", caller: world.caller("carl", ticket: carl))
            _ = world.run(.seat(SeatInput(key, application)))
            _ = Self.enter("sven", key, &world)
            Self.place("sven", on: 3, key, &world)
        }
        let key = LiveKey(World.app, Self.concert)
        _ = world.run(.room(key, .mute(live: key.live, users: ["mia"], durationSeconds: -1, caller: world.server())))
        _ = world.run(.room(key, Self.ban("bert", key, world.server())))
        return world
    }()

    /// The world as each cell's caller finds it, with the caller's ticket.
    static let scenes: [Cell: (world: World, ticket: Ticket?)] = {
        var scenes: [Cell: (World, Ticket?)] = [:]
        for cell in Cell.all {
            var world = Self.world
            scenes[cell] = (world, nil)
            guard cell.isIn, cell.role != .server else { continue }
            let wasBanned = cell.role == .banned && cell.isOwn
            if wasBanned {
                let unban = DirectoryCommand.unban(live: cell.key.live, users: ["bert"], caller: world.server())
                _ = world.run(.room(cell.key, unban))
            }
            let ticket = Self.enter(cell.role.user, cell.key, &world)
            if cell.role == .seated, cell.isOwn { Self.place(cell.role.user, on: 4, cell.key, &world) }
            if wasBanned { _ = world.run(.room(cell.key, Self.ban("bert", cell.key, world.server()))) }
            scenes[cell] = (world, ticket)
        }
        return scenes
    }()

    /// Lets a user join; its ticket.
    static func enter(_ user: UserID, _ key: LiveKey, _ world: inout World) -> Ticket? {
        let caller = world.caller(user)
        let outcome = world.outcome(.audience(AudienceInput(key, .join(caller: caller))), of: caller)
        guard case .success(.joined(let ticket, _, _))? = outcome else { return nil }
        return ticket
    }

    /// Lets the app's server put a user on a seat.
    static func place(_ user: UserID, on seat: Int, _ key: LiveKey, _ world: inout World) {
        _ = world.run(.seat(SeatInput(key, .place(user: user, seatIndex: seat, caller: world.server()))))
    }

    private static func ban(_ user: UserID, _ key: LiveKey, _ caller: Caller) -> DirectoryCommand {
        .ban(live: key.live, users: [user], durationSeconds: -1, reason: "", caller: caller)
    }

    /// Makes a live, and lets its owner in.
    private static func enterAsOwner(_ key: LiveKey, _ world: inout World) -> Caller {
        let user = self.owner(of: key.live)
        let caller = world.caller(user)
        _ = world.run(.room(key, .create(live: key.live, changes: LiveChanges(), owner: caller.user, caller: caller)))
        return world.caller(user, ticket: self.enter(user, key, &world))
    }
}

extension Effect {
    /// A command to the directory.
    static func room(_ key: LiveKey, _ command: DirectoryCommand) -> Effect {
        .directory(DirectoryInput(app: key.app, command))
    }

    /// A command to the fan-out.
    static func feed(_ key: LiveKey, _ command: BarrageCommand) -> Effect { .barrage(BarrageInput(key, command)) }

    /// A command to the seats.
    static func stage(_ key: LiveKey, _ command: SeatCommand) -> Effect { .seat(SeatInput(key, command)) }

    /// A command to the connection machine.
    static func hosts(_ key: LiveKey, _ command: ConnectionCommand) -> Effect {
        .connection(ConnectionInput(app: key.app, command))
    }
}

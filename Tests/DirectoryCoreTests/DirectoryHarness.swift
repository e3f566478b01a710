// SPDX-License-Identifier: Apache-2.0
import CoreKit
import PlazaModel
import Testing

@testable import DirectoryCore

let app: AppID = "demo"
let live: LiveID = "show"
let key = LiveKey(app, live)
let gateway: GatewayID = "gateway-1"
let alice = UserInfo(userID: "alice", userName: "Alice")

/// One partition of the directory, fed by hand.
struct DirectoryHarness {
    var machine = DirectoryMachine(policies: Policies())
    var rows = DirectoryRows()
    var now = Timestamp(milliseconds: 1_000_000)
    var offset: Int64 = 0

    /// Feeds one input and gives what follows, after all that fell due before it.
    mutating func send(_ command: DirectoryCommand) -> [Effect] {
        var effects: [Effect] = []
        self.offset += 1
        let moment = Moment(now: self.now, offset: self.offset)
        self.machine.handleDue(in: &self.rows, at: moment, into: &effects)
        self.machine.handle(DirectoryInput(app: app, command), in: &self.rows, at: moment, into: &effects)
        return effects
    }

    /// Feeds an input and all that the directory then tells itself; gives everything else that follows.
    mutating func settle(_ command: DirectoryCommand) -> [Effect] {
        var open = [command]
        var others: [Effect] = []
        while !open.isEmpty {
            for effect in self.send(open.removeFirst()) {
                if case .directory(let input, _) = effect { open.append(input.command) } else { others.append(effect) }
                if case .connection(let input) = effect, case .ended(let live, let ending) = input.command {
                    // The other machines, which an end passes one after the other; the fan-out answers.
                    open.append(.closed(live: live, epoch: ending.epoch))
                    if let caller = ending.caller { others.append(Self.statistics(caller)) }
                }
                if case .barrage(let input) = effect, case .repeatEnding(let caller) = input.command {
                    others.append(Self.statistics(caller))
                }
            }
        }
        return others
    }

    /// The fan-out's answer to an end.
    static func statistics(_ caller: Caller) -> Effect {
        .success(.statistics(statistics: LiveStatistics()), to: caller, app: app)
    }

    /// Lets time pass; gives what fell due.
    mutating func pass(_ span: Milliseconds) -> [Effect] {
        self.now = self.now + span
        var effects: [Effect] = []
        self.machine.handleDue(in: &self.rows, at: Moment(now: self.now, offset: self.offset), into: &effects)
        return effects
    }

    /// A directory in which alice runs the live, settled.
    static func running(_ changes: LiveChanges = LiveChanges()) -> DirectoryHarness {
        var directory = DirectoryHarness()
        _ = directory.settle(.create(live: live, changes: changes, owner: alice, caller: user("alice", 1, ticket: nil)))
        return directory
    }

    /// Makes `user` an admin, presence vouching.
    mutating func makeAdmin(_ admin: UserID, counter: Int64) {
        let caller = user("alice", counter)
        _ = self.send(.setAdmin(live: live, user: admin, caller: caller))
        _ = self.send(.setAdminVouched(live: live, user: admin, caller: caller))
    }

    var room: RoomRow? {
        if case .room(let row)? = self.rows[.room(key)] { row } else { nil }
    }

    func expectSound(sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(self.machine.checkInvariants(self.rows, isWhole: true) == [], sourceLocation: sourceLocation)
    }
}

/// A caller with a session of its own; a ticket as if it had joined.
func user(_ id: UserID, _ counter: Int64, ticket: Int64? = 100) -> Caller {
    Caller(
        user: id == alice.userID ? alice : UserInfo(userID: id), role: .user,
        request: RequestID(session: SessionID("s-\(id)"), counter: counter), replyTo: gateway,
        ticket: ticket.map { Ticket($0) })
}

/// The app's own server.
func server(_ counter: Int64) -> Caller {
    Caller(
        user: UserInfo(userID: "backend"), role: .server,
        request: RequestID(session: "s-backend", counter: counter), replyTo: gateway)
}

/// The codes of the refusals among `effects`.
func codes(_ effects: [Effect]) -> [ReplyCode] {
    effects.compactMap {
        if case .reply(let reply) = $0, case .failure(let error) = reply.outcome { error.code } else { nil }
    }
}

/// The results of the successes among `effects`.
func results(_ effects: [Effect]) -> [CallResult] {
    effects.compactMap {
        if case .reply(let reply) = $0, case .success(let result) = reply.outcome { result } else { nil }
    }
}

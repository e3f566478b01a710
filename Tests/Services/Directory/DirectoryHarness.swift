// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel
import Testing

@testable import DirectoryCore

let app: AppID = "demo"
let live: LiveID = "show"
let key = LiveKey(app, live)
let gateway: GatewayID = "gateway-1"
let alice = UserInfo(userID: "alice", userName: "Alice")

/// A directory with one partition, to which tests send inputs directly.
struct DirectoryHarness {
    var machine = DirectoryMachine(policies: Policies())
    var rows = DirectoryRows()
    var now = Timestamp(milliseconds: 1_000_000)
    /// The offset of the last input; the first input has offset 1.
    ///
    /// The epoch of a live is the offset of its `open`; the revision of its row is the offset of the input that changed
    /// the row last.
    var offset: Int64 = 0

    /// Handles the due rows, then one input; returns the effects.
    mutating func send(_ command: DirectoryCommand) -> [Effect] {
        var effects: [Effect] = []
        self.offset += 1
        let moment = Moment(now: self.now, offset: self.offset)
        self.machine.handleDue(in: &self.rows, at: moment, into: &effects)
        self.machine.handle(DirectoryInput(app: app, command), in: &self.rows, at: moment, into: &effects)
        return effects
    }

    /// Sends an input, then the commands that the directory sends to itself because of it; returns all other effects.
    mutating func sendWithFollowUps(_ command: DirectoryCommand) -> [Effect] {
        var pending = [command]
        var otherEffects: [Effect] = []
        while !pending.isEmpty {
            for effect in self.send(pending.removeFirst()) {
                if case .directory(let input, _) = effect {
                    pending.append(input.command)
                } else {
                    otherEffects.append(effect)
                }
                if case .connection(let input) = effect, case .ended(let live, let ending) = input.command {
                    // In production the end is forwarded from machine to machine. The last one, the fan-out (it writes
                    // the feed), reports `closed` and replies. Here both happen at once.
                    pending.append(.closed(live: live, epoch: ending.epoch))
                    if let caller = ending.caller { otherEffects.append(Self.statisticsReply(to: caller)) }
                }
                if case .barrage(let input) = effect, case .repeatEnding(let caller) = input.command {
                    otherEffects.append(Self.statisticsReply(to: caller))
                }
            }
        }
        return otherEffects
    }

    /// The fan-out's reply to an end.
    static func statisticsReply(to caller: Caller) -> Effect {
        .success(.statistics(statistics: LiveStatistics()), to: caller, app: app)
    }

    /// Advances the time; returns the effects of the rows that fell due.
    mutating func advance(_ span: Milliseconds) -> [Effect] {
        self.now = self.now + span
        var effects: [Effect] = []
        self.machine.handleDue(in: &self.rows, at: Moment(now: self.now, offset: self.offset), into: &effects)
        return effects
    }

    /// A directory in which alice has created the live with her call 1.
    ///
    /// The create is input 1, its follow-up `open` is input 2: the live has epoch 2 and revision 2.
    static func withLive(_ changes: LiveChanges = LiveChanges()) -> DirectoryHarness {
        var directory = DirectoryHarness()
        _ = directory.sendWithFollowUps(
            .create(live: live, changes: changes, owner: alice, caller: user("alice", call: 1, ticket: nil)))
        return directory
    }

    /// Makes `admin` an admin by alice's call number `counter`; presence verifies the membership.
    mutating func makeAdmin(_ admin: UserID, call counter: Int64) {
        let caller = user("alice", call: counter)
        _ = self.send(.setAdmin(live: live, user: admin, caller: caller))
        _ = self.send(.adminMembershipVerified(live: live, user: admin, caller: caller))
    }

    /// The row of the live `show`.
    var liveRow: LiveRow? {
        if case .live(let row)? = self.rows[.live(key)] { row } else { nil }
    }

    /// Checks the machine's invariants; the rows are whole, because there is no other partition.
    func expectInvariants(sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(self.machine.checkInvariants(self.rows, isWhole: true) == [], sourceLocation: sourceLocation)
    }
}

/// The caller of call number `counter` in the user's only session, with the ticket of a join by default.
///
/// Tests read as "by user bob, in call 2": `caller: user("bob", call: 2)`.
/// A call with the number of an earlier call is a repetition of that call.
func user(_ id: UserID, call counter: Int64, ticket: Int64? = 100) -> Caller {
    Caller(
        user: id == alice.userID ? alice : UserInfo(userID: id), role: .user,
        request: RequestID(session: SessionID("s-\(id)"), counter: counter), replyTo: gateway,
        ticket: ticket.map { Ticket($0) })
}

/// The caller of call number `counter` of the app's server.
func server(call counter: Int64) -> Caller {
    Caller(
        user: UserInfo(userID: "backend"), role: .server,
        request: RequestID(session: "s-backend", counter: counter), replyTo: gateway)
}

/// The codes of the rejections among `effects`.
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

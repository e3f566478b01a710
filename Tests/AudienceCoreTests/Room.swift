// SPDX-License-Identifier: Apache-2.0
import AudienceCore
import CoreKit
import PlazaModel

/// One partition with one running live, for tests: inputs go in one by one, with the results that the leases would give.
struct Room {
    static let key = LiveKey("demo", "stage-1")
    static let owner = UserInfo(userID: "host", userName: "Host")
    static let alice = UserInfo(userID: "alice", userName: "Alice")
    static let ending = Ending(
        reason: .endedByHost, caller: nil, epoch: 7, createdAt: Timestamp(milliseconds: 1_000_000),
        endedAt: Timestamp(milliseconds: 1_020_000))
    static let bob = UserInfo(userID: "bob", userName: "Bob")

    var machine: AudienceMachine
    var rows = AudienceMachine.Rows()
    var offset: Int64 = 100
    var now = Timestamp(milliseconds: 1_000_000)

    /// A partition whose live was opened at offset 101, with its first count told.
    init(policies: Policies = Policies()) {
        self.machine = AudienceMachine(partition: 3, policies: policies)
        _ = self.send(.opened(epoch: 7, owner: Self.owner))
        self.now = self.now + .seconds(10)
    }

    /// Plans and concludes one input in a batch of its own.
    mutating func send(_ command: AudienceCommand?, _ result: LeaseResult = .nothing) -> [Effect] {
        var effects: [Effect] = []
        let step = self.plan(command)
        self.machine.conclude(step, result, in: &self.rows, into: &effects)
        self.rows.commit()
        return effects
    }

    /// The command that one input asks of the leases, in a batch of its own.
    mutating func plan(_ command: AudienceCommand?) -> AudienceStep {
        self.offset += 1
        let input = command.map { AudienceInput(Self.key, $0) }
        return self.machine.plan([(Moment(now: self.now, offset: self.offset), input)], in: &self.rows)[0]
    }

    /// Lets time pass up to a tick.
    mutating func tick(after span: Milliseconds, _ changes: [LeaseChange] = []) -> [Effect] {
        self.now = self.now + span
        return self.send(nil, self.did(changes))
    }

    /// A result whose entries are of the next input.
    func did(_ changes: [LeaseChange]) -> LeaseResult {
        .done(
            entries: changes.enumerated().map { LeaseEntry(id: Int64($0), offset: self.offset + 1, $1) }, answer: .none)
    }

    /// A new epoch begins with the next input.
    mutating func begin(_ name: String) -> [Effect] {
        var effects: [Effect] = []
        self.machine.epochBegan(
            name, wasEmpty: false, at: Moment(now: self.now, offset: self.offset + 1), in: &self.rows, into: &effects)
        self.rows.commit()
        return effects
    }

    /// The leases cannot be reached for an input.
    mutating func sendAway(_ command: AudienceCommand?, wereSent: Bool = false) -> [Effect] {
        var effects: [Effect] = []
        let step = self.plan(command)
        self.machine.leasesAway([step], wereSent: wereSent, in: &self.rows, into: &effects)
        self.machine.conclude(step, .away, in: &self.rows, into: &effects)
        self.rows.commit()
        return effects
    }

    static func caller(_ user: UserInfo, _ counter: Int64, ticket: Int64? = nil, session: SessionID = "s1") -> Caller {
        Caller(
            user: user, role: .user, request: RequestID(session: session, counter: counter), replyTo: "gateway-1",
            ticket: ticket.map { Ticket($0) })
    }

    static func reply(_ caller: Caller, _ result: CallResult) -> Effect {
        .success(result, to: caller, app: "demo")
    }
    static func refusal(_ caller: Caller, _ effects: [Effect]) -> ReplyCode? {
        for case .reply(let reply) in effects where reply.request == caller.request {
            if case .failure(let error) = reply.outcome { return error.code }
        }
        return nil
    }
    static func tip(_ content: FeedContent) -> Effect { .barrage(BarrageInput(key, .tell(content: content))) }
    static func gone(_ user: UserID) -> Effect { .seat(SeatInput(key, .userGone(user: user))) }
    static func back(_ user: UserInfo) -> Effect { .seat(SeatInput(key, .userBack(user: user))) }
    static func ownersName(_ user: UserInfo) -> Effect {
        .directory(DirectoryInput(app: "demo", .profile(live: "stage-1", user: user)))
    }
    static func occupancy(_ owner: OwnerPresence, isEmpty: Bool) -> Effect {
        .directory(DirectoryInput(app: "demo", .occupancy(live: "stage-1", owner: owner, isEmpty: isEmpty)))
    }
    static func occupancies(_ effects: [Effect]) -> [Effect] {
        effects.filter {
            if case .directory(let input, _) = $0, case .occupancy = input.command { true } else { false }
        }
    }
    static func notices(_ effects: [Effect]) -> [Notice] {
        effects.compactMap { if case .notice(let notice) = $0 { notice } else { nil } }
    }
    /// What tells all machines that a user's earlier tickets are void.
    static func floors(_ user: UserID, _ floor: Ticket) -> [Effect] {
        [
            .directory(DirectoryInput(app: "demo", .floor(live: "stage-1", user: user, ticket: floor))),
            .barrage(BarrageInput(key, .floor(user: user, ticket: floor))),
            .seat(SeatInput(key, .floor(user: user, ticket: floor))),
            .connection(ConnectionInput(app: "demo", .floor(live: "stage-1", user: user, ticket: floor))),
        ]
    }
    func count(_ count: Int, of total: Int, stale: Bool = false) -> Effect {
        .count(
            CountRecord(
                app: "demo", live: "stage-1", epoch: 7, count: count, totalViewers: total, stale: stale, at: self.now))
    }
}

// SPDX-License-Identifier: Apache-2.0
import AudienceCore
import MachineKit
import PlazaModel

/// The machine of presence with one partition and one running live, to which tests send inputs one by one.
///
/// The machine first plans an input: it decides which request to Redis the input needs, if any. Then it handles the
/// input with the result of the request. No Redis runs here, so the tests name each result themselves. For example,
/// `.changed([.joined(isFirst: true, count: 1)])` means that the user's first session joined, and that the live now has
/// one viewer.
struct AudienceHarness {
    static let key = LiveKey("demo", "stage-1")
    /// The epoch of the live.
    static let epoch: Int64 = 7
    static let owner = UserInfo(userID: "host", userName: "Host")
    static let alice = UserInfo(userID: "alice", userName: "Alice")
    static let bob = UserInfo(userID: "bob", userName: "Bob")
    /// The offset of a test's first input, because the harness itself opens the live at offset 101.
    ///
    /// If the first input is a join, this offset is also the ticket that the join returns.
    static let firstInputOffset: Int64 = 102
    /// A ticket that no join of a test returns, for callers whose join the test leaves out.
    ///
    /// In most calls the machine accepts every ticket above 101, the offset of the live's opening. In inputs where a
    /// wrong ticket could create or remove a lease, the ticket must also be below the offset of the input. These inputs
    /// are a resume (a join that names the ticket of an earlier join), a heartbeat, an assertion (a gateway lists its
    /// sessions), and a sign-off (a gateway has closed a session permanently).
    static let unusedTicket: Int64 = 110
    static let ending = Ending(
        reason: .endedByServer, caller: nil, epoch: Self.epoch, createdAt: Timestamp(milliseconds: 1_000_000),
        endedAt: Timestamp(milliseconds: 1_020_000))
    /// The command that ends the live.
    static var endOfLive: AudienceCommand { .ended(epoch: Self.epoch, ending: Self.ending) }

    var machine: AudienceMachine
    var rows = AudienceMachine.Rows()
    /// The offset of the last input.
    var offset: Int64 = 100
    var now = Timestamp(milliseconds: 1_000_000)

    /// A partition whose live was opened at offset 101, with its first count published 10 s ago.
    init(policies: Policies = Policies()) {
        self.machine = AudienceMachine(partition: 3, policies: policies)
        _ = self.send(.opened(epoch: Self.epoch, owner: Self.owner))
        self.now = self.now + .seconds(10)
    }

    /// Plans and handles one input in a batch of its own; without a command (nil), the input is a tick.
    ///
    /// `redisResult` is the answer of Redis to the input's request.
    mutating func send(_ command: AudienceCommand?, redisResult: LeaseResult = .nothing) -> [Effect] {
        var effects: [Effect] = []
        self.handle(.leasesAnswered(self.plan(command), redisResult), into: &effects)
        self.rows.commit()
        return effects
    }

    /// Handles an event: the result of one planned input, or a change of the availability of Redis.
    ///
    /// The event happens at the moment of its input, or of the first input of its batch. An event without an input
    /// happens at the moment of the next input.
    mutating func handle(_ event: AudienceEvent, into effects: inout [Effect]) {
        let firstInput: PlannedInput? =
            switch event {
            case .leasesAnswered(let planned, _): planned
            case .leasesUnavailable(let batch, _): batch.first
            case .leasesRecovered, .leaseEpochBegan: nil
            }
        let moment = firstInput?.moment ?? Moment(now: self.now, offset: self.offset + 1)
        self.machine.handle(event, in: &self.rows, at: moment, into: &effects)
    }

    /// Plans one input in a batch of its own, without handling it; without a command (nil), the input is a tick.
    mutating func plan(_ command: AudienceCommand?) -> PlannedInput {
        self.offset += 1
        let input = command.map { AudienceInput(Self.key, $0) }
        return self.machine.plan([(Moment(now: self.now, offset: self.offset), input)], in: &self.rows)[0]
    }

    /// Plans a tick in a batch of its own, without handling it.
    mutating func planTick() -> PlannedInput { self.plan(nil) }

    /// Advances the time by `span`, then handles a tick, at which Redis reports `changes`.
    ///
    /// A lease lasts 90 s, so in the tests Redis reports an expiry at a tick after 91 s.
    mutating func tick(after span: Milliseconds, changes: [LeaseChange] = []) -> [Effect] {
        self.now = self.now + span
        return self.send(nil, redisResult: .changed(changes))
    }

    /// Begins a new presence epoch, as after a loss of the leases in Redis.
    ///
    /// The epoch settles 12 s later. Until then, gateways assert their sessions, and counts are stale.
    mutating func beginEpoch(_ name: String) -> [Effect] {
        var effects: [Effect] = []
        self.handle(.leaseEpochBegan(name: name, wasEmpty: false), into: &effects)
        self.rows.commit()
        return effects
    }

    /// Plans and handles one input while Redis cannot be reached; without a command (nil), the input is a tick.
    ///
    /// `mayHaveRun` says whether Redis may have executed the request before the connection was lost. As in production,
    /// the machine first gets `leasesUnavailable` for the whole batch, then the result `unavailable` for each input.
    mutating func sendWithoutRedis(_ command: AudienceCommand?, mayHaveRun: Bool = false) -> [Effect] {
        var effects: [Effect] = []
        let planned = self.plan(command)
        self.handle(.leasesUnavailable(batch: [planned], mayHaveRun: mayHaveRun), into: &effects)
        self.handle(.leasesAnswered(planned, .unavailable), into: &effects)
        self.rows.commit()
        return effects
    }

    /// Handles a tick while Redis cannot be reached.
    mutating func tickWithoutRedis(mayHaveRun: Bool = false) -> [Effect] {
        self.sendWithoutRedis(nil, mayHaveRun: mayHaveRun)
    }

    /// The effects that report to the other machines that the owner has joined or returned.
    static let effectsOfOwnerArrival: [Effect] = [
        Self.userPresent(Self.owner),
        .connection(ConnectionInput(app: "demo", .userBack(live: "stage-1", user: Self.owner))),
        Self.directoryProfile(Self.owner), Self.occupancyReport(.present, isEmpty: false),
    ]

    /// The caller of call number `counter` of a session, with the ticket that the session's join returned.
    ///
    /// The first join of a session has no ticket. A kick needs none here: the directory has checked its caller.
    static func caller(
        _ user: UserInfo, counter: Int64, ticket: Int64? = nil, session: SessionID = "s1"
    ) -> Caller {
        Caller(
            user: user, role: .user, request: RequestID(session: session, counter: counter), replyTo: "gateway-1",
            ticket: ticket.map { Ticket($0) })
    }

    /// The reply to a successful call.
    static func reply(_ caller: Caller, _ result: CallResult) -> Effect {
        .success(result, to: caller, app: "demo")
    }

    /// The reply to a join that was the last input; its ticket is the offset of the join.
    ///
    /// A join is `confirmed` when Redis has stored its lease.
    func joinReply(to caller: Caller, confirmed: Bool = true) -> Effect {
        Self.reply(caller, .joined(ticket: Ticket(self.offset), epoch: Self.epoch, confirmed: confirmed))
    }

    /// The effects that are replies.
    static func replies(_ effects: [Effect]) -> [Effect] {
        effects.filter { if case .reply = $0 { true } else { false } }
    }

    /// A heartbeat of the user's session `s1` that the client has just sent.
    static func heartbeat(of user: UserID, ticket: Ticket) -> Heartbeat {
        Heartbeat(session: "s1", user: user, ticket: ticket, silentFor: 0)
    }

    /// The user's session `s1`, as a join or an assertion reports it, with a heartbeat that has just been sent.
    static func session(of user: UserInfo, ticket: Ticket) -> MemberSession {
        MemberSession(session: "s1", user: user, ticket: ticket, silentFor: 0)
    }

    /// The reason in the first reply that rejects a call.
    static func rejectionReason(_ effects: [Effect]) -> String? {
        for case .reply(let reply) in effects {
            if case .failure(let error) = reply.outcome { return error.reason }
        }
        return nil
    }

    /// The code with which the call of `caller` is rejected.
    static func rejectionCode(_ caller: Caller, _ effects: [Effect]) -> ReplyCode? {
        for case .reply(let reply) in effects where reply.request == caller.request {
            if case .failure(let error) = reply.outcome { return error.code }
        }
        return nil
    }
    /// The effect that publishes a content to the live's viewers.
    static func publish(_ content: FeedContent) -> Effect { .barrage(BarrageInput(key, .publish(content: content))) }
    /// The effect that reports to the seat machine that a user has left the live.
    static func userGone(_ user: UserID) -> Effect { .seat(SeatInput(key, .userGone(user: user))) }
    /// The effect that reports to the seat machine that a user has joined the live or has returned to it.
    static func userPresent(_ user: UserInfo) -> Effect { .seat(SeatInput(key, .userBack(user: user))) }
    /// The effect that reports a user's profile to the directory.
    static func directoryProfile(_ user: UserInfo) -> Effect {
        .directory(DirectoryInput(app: "demo", .profile(live: "stage-1", user: user)))
    }
    /// The effect that reports to the directory whether the owner is present and whether the live is empty.
    ///
    /// An owner who has not joined yet is reported as `left`.
    static func occupancyReport(_ owner: OwnerPresence, isEmpty: Bool) -> Effect {
        .directory(DirectoryInput(app: "demo", .occupancy(live: "stage-1", owner: owner, isEmpty: isEmpty)))
    }
    /// The effects that report to the directory whether the owner is present and whether the live is empty.
    static func occupancyReports(_ effects: [Effect]) -> [Effect] {
        effects.filter {
            if case .directory(let input, _) = $0, case .occupancy = input.command { true } else { false }
        }
    }
    /// The notices to users among the effects.
    static func notices(_ effects: [Effect]) -> [Notice] {
        effects.compactMap { if case .notice(let notice) = $0 { notice } else { nil } }
    }
    /// The effects that make all machines reject the user's tickets that are lower than `ticket`.
    static func effectsOfRevokedTickets(of user: UserID, before ticket: Ticket) -> [Effect] {
        [
            .directory(DirectoryInput(app: "demo", .floor(live: "stage-1", user: user, ticket: ticket))),
            .barrage(BarrageInput(key, .floor(user: user, ticket: ticket))),
            .seat(SeatInput(key, .floor(user: user, ticket: ticket))),
            .connection(ConnectionInput(app: "demo", .floor(live: "stage-1", user: user, ticket: ticket))),
        ]
    }
    /// The effects of a kick of alice, the only viewer, except the effects that revoke her tickets.
    ///
    /// A kick first has the effects in `effectsOfRevokedTickets`, then these.
    func effectsOfKickingAlice(lowestValidTicket: Ticket) -> [Effect] {
        [
            Self.publish(.audienceLeft(user: Self.alice)), Self.userGone("alice"), self.countEffect(0, totalViewers: 1),
            Self.occupancyReport(.left, isEmpty: true),
            .notice(
                Notice(
                    to: UserKey("demo", "alice"), live: "stage-1", at: self.now, floor: lowestValidTicket,
                    content: .kickedOut(reason: .byAdmin, by: "host"))),
        ]
    }

    /// Lets alice join as the only viewer, then advances the time by five seconds.
    ///
    /// A count is published at most once a second. After the five seconds, the next count is published at once.
    ///
    /// - Returns: the ticket of the join.
    mutating func joinAlice() -> Int64 {
        _ = self.send(
            .join(caller: Self.caller(Self.alice, counter: 1)),
            redisResult: .changed([.joined(isFirst: true, count: 1)]))
        let ticket = self.offset
        self.now = self.now + .seconds(5)
        return ticket
    }

    /// The effect that publishes the count of viewers, with the total of visits since the live began.
    func countEffect(_ count: Int, totalViewers: Int, stale: Bool = false) -> Effect {
        .count(
            CountRecord(
                app: "demo", live: "stage-1", epoch: Self.epoch, count: count, totalViewers: totalViewers, stale: stale,
                at: self.now))
    }
}

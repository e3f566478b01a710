// SPDX-License-Identifier: Apache-2.0
import AudienceCore
import MachineKit
import PlazaModel

/// One partition with one running live: inputs are handled one by one, with the results that Redis would return.
///
/// An input is first planned: the plan has the request to Redis, if the input needs one. Then the input is handled,
/// with the result of the request. The tests name each result themselves, such as
/// `.changed([.joined(isFirst: true, count: 1)])`: the user's first session joined, and the live now has one viewer.
struct AudienceHarness {
    static let key = LiveKey("demo", "stage-1")
    /// The epoch of the live.
    static let epoch: Int64 = 7
    static let owner = UserInfo(userID: "host", userName: "Host")
    static let alice = UserInfo(userID: "alice", userName: "Alice")
    static let bob = UserInfo(userID: "bob", userName: "Bob")
    /// The offset of the first input of a test; if this input is a join, it is the ticket of the join.
    static let firstOffset: Int64 = 102
    /// A ticket for calls that need one.
    ///
    /// It is above the live's opening, and no join of the tests has this offset. Presence does not know which offsets
    /// belong to joins, so it accepts the ticket in calls. Only in joins, heartbeats, assertions and sign-offs must a
    /// ticket be below the offset of the input.
    static let unusedTicket: Int64 = 110
    static let ending = Ending(
        reason: .endedByHost, caller: nil, epoch: Self.epoch, createdAt: Timestamp(milliseconds: 1_000_000),
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

    /// Plans and handles one input in a batch of its own, with `redisResult` as the answer of Redis; nil is a tick.
    mutating func send(_ command: AudienceCommand?, redisResult: LeaseResult = .nothing) -> [Effect] {
        var effects: [Effect] = []
        self.handle(.leasesAnswered(self.plan(command), redisResult), into: &effects)
        self.rows.commit()
        return effects
    }

    /// Handles an event: a result at the moment of its input, any other event at the moment of the next input.
    mutating func handle(_ event: AudienceEvent, into effects: inout [Effect]) {
        var moment = Moment(now: self.now, offset: self.offset + 1)
        if case .leasesAnswered(let planned, _) = event { moment = planned.moment }
        if case .leasesUnavailable(let batch, _) = event, let first = batch.first { moment = first.moment }
        self.machine.handle(event, in: &self.rows, at: moment, into: &effects)
    }

    /// Plans one input in a batch of its own, without handling it; nil is a tick.
    mutating func plan(_ command: AudienceCommand?) -> PlannedInput {
        self.offset += 1
        let input = command.map { AudienceInput(Self.key, $0) }
        return self.machine.plan([(Moment(now: self.now, offset: self.offset), input)], in: &self.rows)[0]
    }

    /// Plans a tick in a batch of its own, without handling it.
    mutating func planTick() -> PlannedInput { self.plan(nil) }

    /// Advances the time by `span`, then handles a tick, at which Redis reports `changes`.
    ///
    /// A lease lasts 90 s, so the tests report an expiry 91 s later.
    mutating func tick(after span: Milliseconds, changes: [LeaseChange] = []) -> [Effect] {
        self.now = self.now + span
        return self.send(nil, redisResult: .changed(changes))
    }

    /// Begins a new epoch at the next input; it settles 12 s later.
    mutating func beginEpoch(_ name: String) -> [Effect] {
        var effects: [Effect] = []
        self.handle(.leaseEpochBegan(name: name, wasEmpty: false), into: &effects)
        self.rows.commit()
        return effects
    }

    /// Plans and handles one input while Redis cannot be reached; nil is a tick.
    ///
    /// `mayHaveRun` says whether Redis may have executed the request before the connection was lost.
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

    /// The effects that tell the other machines of the owner's arrival.
    static let ownerArrived: [Effect] = [
        Self.userPresent(Self.owner),
        .connection(ConnectionInput(app: "demo", .userBack(live: "stage-1", user: Self.owner))),
        Self.directoryProfile(Self.owner), Self.occupancy(.present, isEmpty: false),
    ]

    /// The caller of a user's call with this request counter; without a ticket the user has not joined.
    static func caller(
        _ user: UserInfo, counter: Int64, ticket: Int64? = nil, session: SessionID = "s1"
    ) -> Caller {
        Caller(
            user: user, role: .user, request: RequestID(session: session, counter: counter), replyTo: "gateway-1",
            ticket: ticket.map { Ticket($0) })
    }

    /// The effect of a successful call.
    static func reply(_ caller: Caller, _ result: CallResult) -> Effect {
        .success(result, to: caller, app: "demo")
    }

    /// The reply to a join that was the last input: the offset of the join is the ticket.
    func joinReply(to caller: Caller, confirmed: Bool = true) -> Effect {
        Self.reply(caller, .joined(ticket: Ticket(self.offset), epoch: Self.epoch, confirmed: confirmed))
    }

    /// The effects that are replies.
    static func replies(_ effects: [Effect]) -> [Effect] {
        effects.filter { if case .reply = $0 { true } else { false } }
    }
    /// The reason in the first reply that rejects a call.
    static func rejectionReason(_ effects: [Effect]) -> String? {
        for case .reply(let reply) in effects {
            if case .failure(let error) = reply.outcome { return error.reason }
        }
        return nil
    }

    /// The code with which the call of `caller` is rejected.
    static func rejection(_ caller: Caller, _ effects: [Effect]) -> ReplyCode? {
        for case .reply(let reply) in effects where reply.request == caller.request {
            if case .failure(let error) = reply.outcome { return error.code }
        }
        return nil
    }
    /// The effect that publishes a content to the live's viewers.
    static func publish(_ content: FeedContent) -> Effect { .barrage(BarrageInput(key, .publish(content: content))) }
    /// The effect that tells the seats that a user has left the live.
    static func userGone(_ user: UserID) -> Effect { .seat(SeatInput(key, .userGone(user: user))) }
    /// The effect that tells the seats that a user has joined the live or has returned to it.
    static func userPresent(_ user: UserInfo) -> Effect { .seat(SeatInput(key, .userBack(user: user))) }
    /// The effect that tells the directory a user's name; it stores the owner's name.
    static func directoryProfile(_ user: UserInfo) -> Effect {
        .directory(DirectoryInput(app: "demo", .profile(live: "stage-1", user: user)))
    }
    /// The effect that reports the owner's presence and whether the live is empty.
    ///
    /// An owner who has not joined yet is reported as `left`.
    static func occupancy(_ owner: OwnerPresence, isEmpty: Bool) -> Effect {
        .directory(DirectoryInput(app: "demo", .occupancy(live: "stage-1", owner: owner, isEmpty: isEmpty)))
    }
    /// The effects that `occupancy` describes.
    static func occupancies(_ effects: [Effect]) -> [Effect] {
        effects.filter {
            if case .directory(let input, _) = $0, case .occupancy = input.command { true } else { false }
        }
    }
    /// The notices to users among the effects.
    static func notices(_ effects: [Effect]) -> [Notice] {
        effects.compactMap { if case .notice(let notice) = $0 { notice } else { nil } }
    }
    /// The effects that raise a user's revocation fence in all machines.
    static func floors(_ user: UserID, _ floor: Ticket) -> [Effect] {
        [
            .directory(DirectoryInput(app: "demo", .floor(live: "stage-1", user: user, ticket: floor))),
            .barrage(BarrageInput(key, .floor(user: user, ticket: floor))),
            .seat(SeatInput(key, .floor(user: user, ticket: floor))),
            .connection(ConnectionInput(app: "demo", .floor(live: "stage-1", user: user, ticket: floor))),
        ]
    }
    /// The effects of the kick of alice, the only member, after those of the revocation fence.
    func effectsOfKick(floor: Ticket) -> [Effect] {
        [
            Self.publish(.audienceLeft(user: Self.alice)), Self.userGone("alice"), self.countEffect(0, totalViewers: 1),
            Self.occupancy(.left, isEmpty: true),
            .notice(
                Notice(
                    to: UserKey("demo", "alice"), live: "stage-1", at: self.now, floor: floor,
                    content: .kickedOut(reason: .byAdmin, by: "host"))),
        ]
    }

    /// Lets alice join as the only member, then advances the time by five seconds, so that the next count is published
    /// at once.
    ///
    /// - Returns: the offset of the join.
    mutating func joinAlice() -> Int64 {
        _ = self.send(
            .join(caller: Self.caller(Self.alice, counter: 1)),
            redisResult: .changed([.joined(isFirst: true, count: 1)]))
        let offset = self.offset
        self.now = self.now + .seconds(5)
        return offset
    }

    /// The effect that publishes the count, with the total of visits since the live began.
    func countEffect(_ count: Int, totalViewers: Int, stale: Bool = false) -> Effect {
        .count(
            CountRecord(
                app: "demo", live: "stage-1", epoch: Self.epoch, count: count, totalViewers: totalViewers, stale: stale,
                at: self.now))
    }
}

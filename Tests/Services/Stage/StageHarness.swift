// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import MachineKit
import MachineTestSupport
import PlazaModel
import StageCore
import Testing

extension MachineHarness {
    /// A partition whose first input has offset 101; every caller joined before, so all tickets are lower offsets.
    init(_ machine: M) {
        self.init(machine, at: Moment(now: Timestamp(milliseconds: 1_000_000), offset: 100))
    }
}

extension MachineHarness where M.Effect == Effect {
    /// Handles a batch, rolls it back, handles it again, and commits.
    ///
    /// Requires that effects and rows are the same both times.
    mutating func requireSameAfterRollback(_ inputs: [M.Input], _ comment: Comment) throws {
        let momentBefore = self.moment
        let rowsBefore = self.rows.sortedKeys.map { self.rows[$0] }
        let firstEffects = inputs.map { self.sendUncommitted($0) }
        let rowsAfter = self.rows.sortedKeys.map { self.rows[$0] }
        self.rows.rollback()
        try #require(self.rows.sortedKeys.map { self.rows[$0] } == rowsBefore, comment)
        // The repetition has the same time and the same offsets as the first attempt.
        self.moment = momentBefore
        let secondEffects = inputs.map { self.sendUncommitted($0) }
        try #require(firstEffects == secondEffects, comment)
        try #require(self.rows.sortedKeys.map { self.rows[$0] } == rowsAfter, comment)
        self.rows.commit()
    }
}

/// A harness that checks the invariants after every step.
protocol CheckedHarness {
    associatedtype Tested: CheckedMachine where Tested.Effect == Effect
    var machine: MachineHarness<Tested> { get set }
}

extension CheckedHarness {
    /// Handles one input, commits, and checks the invariants.
    mutating func send(_ input: Tested.Input, sourceLocation: SourceLocation) -> [Effect] {
        let effects = self.machine.send(input)
        self.machine.expectInvariants(sourceLocation: sourceLocation)
        return effects
    }

    /// Advances the clock, handles the rows that fall due, and checks the invariants.
    mutating func advance(
        milliseconds: Int64, sourceLocation: SourceLocation = #_sourceLocation
    ) -> [Effect] {
        let effects = self.machine.advance(Milliseconds(milliseconds))
        self.machine.expectInvariants(sourceLocation: sourceLocation)
        return effects
    }
}

/// Creates the callers of calls; each call gets the next request counter, whoever makes it.
struct Callers {
    /// The request counter of the last call.
    var counter: Int64 = 0

    /// The ticket of every user's calls: the offset at which the user joined the live, before the test began.
    static let joinTicket = Ticket(50)

    /// The caller of a user's next call; without a ticket, the user has not joined the live.
    mutating func user(_ user: UserID, ticket: Ticket? = Self.joinTicket) -> Caller {
        self.counter += 1
        return Caller(
            user: UserInfo(userID: user, userName: user.text), role: .user,
            request: RequestID(session: SessionID("s-\(user.text)"), counter: self.counter), replyTo: "gw-1",
            ticket: ticket)
    }

    /// The caller of the next call of the app's server.
    mutating func server() -> Caller {
        self.counter += 1
        return Caller(
            user: UserInfo(userID: "backend"), role: .server,
            request: RequestID(session: "s-backend", counter: self.counter), replyTo: "gw-1")
    }
}

extension ReplyCode {
    /// Stands for the success of a call; a reply never contains it.
    static let success = ReplyCode(0)
}

extension [Effect] {
    var replies: [Reply] { self.compactMap { if case .reply(let reply) = $0 { reply } else { nil } } }
    var notices: [Notice] { self.compactMap { if case .notice(let notice) = $0 { notice } else { nil } } }
    var stages: [StageRecord] { self.compactMap { if case .stage(let record) = $0 { record } else { nil } } }

    /// The contents that are published to feeds, in order.
    var feedItems: [FeedContent] {
        self.compactMap {
            if case .barrage(let input) = $0, case .publish(let content) = input.command { content } else { nil }
        }
    }

    /// The inputs for the seat machine, in order.
    var seatInputs: [SeatInput] { self.compactMap { if case .seat(let input) = $0 { input } else { nil } } }

    /// The code of the last reply; nil when there is no reply.
    var code: ReplyCode? {
        guard let outcome = self.replies.last?.outcome else { return nil }
        return switch outcome {
        case .success: .success
        case .failure(let error): error.code
        }
    }

    /// The result of the last reply; nil when the call was rejected or there is no reply.
    var result: CallResult? {
        if case .success(let result)? = self.replies.last?.outcome { result } else { nil }
    }
}

extension [Effect] {
    /// The answer of presence (the machine that knows who is in a live) to a seat offer among these effects.
    ///
    /// Presence returns the offer to the seat machine, or rejects the call if the guest is one of `absent`. Nil
    /// means that there is no offer.
    func membershipReply(absent: Set<UserID>) -> Result<SeatInput, MembershipRejection>? {
        for case .audience(let input) in self {
            guard case .verifyGuestMembership(let user, let offer, let caller) = input.command else { continue }
            if absent.contains(user) {
                let effect = Effect.failure(.notMember, "the user is not in the live", to: caller, app: input.key.app)
                return .failure(MembershipRejection(effect: effect))
            }
            return .success(
                SeatInput(input.key, .guestMembershipVerified(user: userInfo(user), offer: offer, caller: caller)))
        }
        return nil
    }
}

/// The rejection of an offer by presence, because the user is not in the live.
struct MembershipRejection: Error {
    let effect: Effect
}

extension SeatCommand {
    /// Locks or unlocks the seat, but not its devices.
    static func lock(seatIndex: Int, isLocked: Bool, caller: Caller) -> SeatCommand {
        .lock(seatIndex: seatIndex, isLocked: isLocked, microphone: nil, camera: nil, caller: caller)
    }
}

/// A user with its id as its name.
func userInfo(_ user: UserID) -> UserInfo { UserInfo(userID: user, userName: user.text) }

/// The end of the live with this epoch; `SeatHarness` opens its live with epoch 7.
func ending(epoch: Int64 = 7) -> Ending {
    Ending(
        reason: .endedByServer, caller: nil, epoch: epoch, createdAt: Timestamp(milliseconds: 400_000),
        endedAt: Timestamp(milliseconds: 1_000_000))
}

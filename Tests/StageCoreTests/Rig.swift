// SPDX-License-Identifier: Apache-2.0
import CoreKit
import FoundationEssentials
import PlazaModel

/// A machine, its rows and a clock that stands still unless it is moved.
struct Rig<M: Machine> {
    let machine: M
    var journal = Journal<M.Key, M.Row>()
    var moment = Moment(now: Timestamp(milliseconds: 1_000_000), offset: 100)

    init(_ machine: M) { self.machine = machine }

    /// Hands over one input, at the next offset.
    mutating func send(_ input: M.Input) -> [Effect] where M.Effect == Effect {
        let effects = self.tentatively(input)
        self.journal.commit()
        return effects
    }

    /// The same without a commit.
    mutating func tentatively(_ input: M.Input) -> [Effect] where M.Effect == Effect {
        self.moment.offset += 1
        var effects: [Effect] = []
        self.machine.handle(input, in: &self.journal, at: self.moment, into: &effects)
        return effects
    }

    /// Lets time pass, as a tick of the inbox does.
    mutating func pass(milliseconds: Int64) -> [Effect] where M.Effect == Effect {
        self.moment.now = self.moment.now + Milliseconds(milliseconds)
        self.moment.offset += 1
        var effects: [Effect] = []
        self.machine.handleDue(in: &self.journal, at: self.moment, into: &effects)
        self.journal.commit()
        return effects
    }
}

extension Rig where M.Row: Codable {
    /// Whether every key and row is the same after a way through the state topic.
    func survivesStateTopic() throws -> Bool {
        for key in self.journal.sortedKeys {
            guard let row = self.journal[key] else { return false }
            let text = try JSONEncoder().encode(row)
            guard try JSONDecoder().decode(M.Row.self, from: text) == row, M.Key(text: key.text) == key else {
                return false
            }
        }
        return true
    }
}

/// Makes callers, each call with an id of its own.
struct Callers {
    var counter: Int64 = 0

    mutating func user(_ user: UserID, ticket: Ticket? = Ticket(50)) -> Caller {
        self.counter += 1
        return Caller(
            user: UserInfo(userID: user, userName: user.text), role: .user,
            request: RequestID(session: SessionID("s-\(user.text)"), counter: self.counter), replyTo: "gw-1",
            ticket: ticket)
    }

    mutating func server() -> Caller {
        self.counter += 1
        return Caller(
            user: UserInfo(userID: "backend"), role: .server,
            request: RequestID(session: "s-backend", counter: self.counter), replyTo: "gw-1")
    }
}

extension [Effect] {
    var replies: [Reply] { self.compactMap { if case .reply(let reply) = $0 { reply } else { nil } } }
    var notices: [Notice] { self.compactMap { if case .notice(let notice) = $0 { notice } else { nil } } }
    var stages: [StageRecord] { self.compactMap { if case .stage(let record) = $0 { record } else { nil } } }

    /// What is told in the feed of `live`.
    var told: [FeedContent] {
        self.compactMap {
            if case .barrage(let input) = $0, case .tell(let content) = input.command { content } else { nil }
        }
    }

    /// What the connection machine tells the seat machine, in order.
    var seatInputs: [SeatInput] { self.compactMap { if case .seat(let input) = $0 { input } else { nil } } }

    /// The code of the one reply; 0 for a success, nil when there is no reply.
    var code: Int? {
        guard let outcome = self.replies.last?.outcome else { return nil }
        return switch outcome {
        case .success: 0
        case .failure(let error): error.code.code
        }
    }

    /// The result of the one reply.
    var result: CallResult? {
        if case .success(let result)? = self.replies.last?.outcome { result } else { nil }
    }
}

extension [Effect] {
    /// What presence makes of an offer that is among the effects: it comes back, or the caller is refused.
    func vouched(absent: Set<UserID>) -> Result<SeatInput, Refusal>? {
        for case .audience(let input) in self {
            guard case .vouchGuest(let user, let offer, let caller) = input.command else { continue }
            if absent.contains(user) {
                let effect = Effect.failure(.notMember, "the user is not in the live", to: caller, app: input.key.app)
                return .failure(Refusal(effect: effect))
            }
            return .success(SeatInput(input.key, .vouched(user: info(user), offer: offer, caller: caller)))
        }
        return nil
    }
}

/// What presence answers in place of sending an offer back.
struct Refusal: Error {
    let effect: Effect
}

extension SeatCommand {
    /// A lock of the seat alone.
    static func lock(seatIndex: Int, isLocked: Bool, caller: Caller) -> SeatCommand {
        .lock(seatIndex: seatIndex, isLocked: isLocked, microphone: nil, camera: nil, caller: caller)
    }
}

func info(_ user: UserID) -> UserInfo { UserInfo(userID: user, userName: user.text) }

/// An end without a caller, of an incarnation that is no older than `epoch`.
func ending(_ epoch: Int64 = 7, _ caller: Caller? = nil) -> Ending {
    Ending(
        reason: .endedByHost, caller: caller, epoch: epoch, createdAt: Timestamp(milliseconds: 400_000),
        endedAt: Timestamp(milliseconds: 1_000_000))
}

// SPDX-License-Identifier: Apache-2.0
import AudienceCore
import BarrageCore
import DirectoryCore
import MachineKit
import MachineTestSupport
import PlazaModel
import StageCore

/// All machines of one app in one process: effects for other machines are delivered at once and in order.
struct MatrixHarness {
    static let app: AppID = "demo"

    var directory = MachineHarness(DirectoryMachine(policies: Policies()))
    var barrage = MachineHarness(BarrageMachine(policies: Policies()))
    var seats = MachineHarness(SeatMachine(policies: Policies()))
    var connections = MachineHarness(ConnectionMachine(policies: Policies()))
    private let audience = AudienceMachine(partition: 0)
    private var audienceRows = AudienceMachine.Rows()
    private var leases = LeaseFake()
    private var now = Timestamp(milliseconds: 1_700_000_000_000)
    private var offset: Int64 = 0
    /// The request counter of the last call.
    private var counter: Int64 = 0
    /// The battle that the preparation of an action has requested or started; `none` if there is no such battle.
    var battle: BattleID = "none"

    /// A harness without lives, whose app has one gift.
    init() {
        let rose = Gift(giftID: "rose", name: "Rose", coins: 1)
        let settings = AppSettings(gifts: [GiftCategory(categoryID: "flowers", name: "Flowers", gifts: [rose])])
        self.barrage.machine.updateSettings(AppTable([AppRecord(app: Self.app, revision: 1, settings: settings)]))
    }

    /// The caller of a user's next call; each call gets a new request counter.
    mutating func caller(_ user: UserID, _ role: CallerRole = .user, ticket: Ticket? = nil) -> Caller {
        self.counter += 1
        return Caller(
            user: UserInfo(userID: user, userName: user.text), role: role,
            request: RequestID(session: SessionID("s-\(user.text)"), counter: self.counter), replyTo: "gateway-1",
            ticket: ticket)
    }

    /// The caller of the next call of the app's server.
    mutating func server() -> Caller { self.caller("backend", .server) }

    /// The same caller with the request counter of its next call.
    mutating func nextCall(of caller: Caller) -> Caller {
        self.caller(caller.userID, caller.role, ticket: caller.ticket)
    }

    /// Handles one input and all inputs that follow from it; returns all effects.
    ///
    /// Before the input, the clock advances by a second, so that no call is above a rate limit.
    mutating func send(_ effect: Effect) -> [Effect] {
        self.now = self.now + .seconds(1)
        var pending = [effect]
        var allEffects: [Effect] = []
        while !pending.isEmpty {
            let newEffects = self.handle(pending.removeFirst())
            pending += newEffects
            allEffects += newEffects
        }
        return allEffects
    }

    /// Handles all rows that fall due within 20 seconds, so that afterwards only calls change the state.
    mutating func handleAllDue() {
        for _ in 0..<20 {
            self.now = self.now + .seconds(1)
            self.offset += 1
            let moment = Moment(now: self.now, offset: self.offset)
            var pending = self.directory.handle(nil, at: moment) + self.seats.handle(nil, at: moment)
            pending += self.connections.handle(nil, at: moment) + self.barrage.handle(nil, at: moment)
            self.audience.handleDue(in: &self.audienceRows, at: moment, into: &pending)
            self.audienceRows.commit()
            while !pending.isEmpty { pending += self.handle(pending.removeFirst()) }
        }
    }

    /// Handles the call of `caller`; returns its outcome, or nil unless there is exactly one reply.
    mutating func outcome(_ effect: Effect, of caller: Caller) -> Outcome? {
        self.send(effect).outcome(of: caller)
    }

    private mutating func handle(_ effect: Effect) -> [Effect] {
        self.offset += 1
        let moment = Moment(now: self.now, offset: self.offset)
        switch effect {
        case .directory(let input, _): return self.directory.handle(input, at: moment)
        case .barrage(let input): return self.barrage.handle(input, at: moment)
        case .seat(let input): return self.seats.handle(input, at: moment)
        case .connection(let input): return self.connections.handle(input, at: moment)
        case .audience(let input):
            var effects: [Effect] = []
            let planned = self.audience.plan([(moment, input)], in: &self.audienceRows)[0]
            let result = self.leases.execute(planned)
            self.audience.handle(
                .leasesAnswered(planned, result), in: &self.audienceRows, at: moment, into: &effects)
            self.audienceRows.commit()
            return effects
        default: return []
        }
    }
}

// MARK: - State that a rejected call must not change

extension MatrixHarness {
    /// The state of all machines, without the recorded outcomes of calls and the ledgers of feeds, because a rejected
    /// call changes both.
    struct State: Equatable {
        var directory: [DirectoryKey: DirectoryRow] = [:]
        var barrage: [BarrageKey: BarrageRow] = [:]
        var seats: [SeatKey: SeatRow] = [:]
        var connections: [ConnectionKey: ConnectionRow] = [:]
        var audience: [AudienceKey: AudienceRow] = [:]
        /// The users who have a lease in each live.
        var members: [LiveID: [UserID]] = [:]
    }

    /// The state that a rejected call must leave as it is.
    var state: State {
        var state = State()
        for key in self.directory.rows.sortedKeys {
            switch key {
            case .liveCalls, .ownerCalls, .appCalls: break
            default: state.directory[key] = self.directory.rows[key]
            }
        }
        for key in self.barrage.rows.sortedKeys {
            guard case .feed(var feed)? = self.barrage.rows[key] else { continue }
            feed.value.ledger = Ledger()
            state.barrage[key] = .feed(row: feed)
        }
        for key in self.seats.rows.sortedKeys {
            if case .callHistory = key { continue }
            state.seats[key] = self.seats.rows[key]
        }
        for key in self.connections.rows.sortedKeys {
            if key.kind == .idempotencyWindow { continue }
            state.connections[key] = self.connections.rows[key]
        }
        for key in self.audienceRows.sortedKeys {
            if case .calls = key { continue }
            state.audience[key] = self.audienceRows[key]
        }
        for live in MatrixFixture.lives { state.members[live] = self.leases.users(in: LiveKey(Self.app, live)) }
        return state
    }
}

extension [Effect] {
    /// The outcome of a call; nil unless there is exactly one reply.
    func outcome(of caller: Caller) -> Outcome? {
        let outcomes = self.compactMap { effect -> Outcome? in
            guard case .reply(let reply) = effect, reply.request == caller.request else { return nil }
            return reply.outcome
        }
        return outcomes.count == 1 ? outcomes[0] : nil
    }

    /// The effects that are visible outside the machines, without the reply.
    var visible: [Effect] {
        self.filter {
            switch $0 {
            case .directory, .audience, .barrage, .seat, .connection, .reply: false
            default: true
            }
        }
    }
}

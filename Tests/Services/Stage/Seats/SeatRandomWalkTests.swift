// SPDX-License-Identifier: Apache-2.0
import MachineKit
import MachineTestSupport
import PlazaModel
import StageCore
import Testing

/// Long random walks: the invariants hold after each step, for any inputs in any order.
struct SeatRandomWalkTests {
    @Test(arguments: UInt64(1)...8)
    func `I11 I13 I15 random commands never seat a user twice, and end every request once`(seed: UInt64) throws {
        var walk = SeatRandomWalk(seed: seed)
        for step in 0..<6000 {
            walk.step()
            try #require(walk.machine.violations == [], "seed \(seed), step \(step)")
            try #require(walk.checker.contradictions == [], "seed \(seed), step \(step)")
            try #require(walk.checker.openRequests == walk.storedOpenRequests, "seed \(seed), step \(step)")
            if step % 250 == 0 {
                try #require(try walk.machine.roundTripsThroughStateTopic(), "seed \(seed), step \(step)")
            }
        }
        #expect(walk.checker.openedCount > 100, "expected a walk that opens many requests")
        #expect(walk.checker.openedCount == walk.checker.endedCount + walk.checker.openRequests.count)
        // 1800 s, the longest time-out of a request.
        walk.advance(milliseconds: 1_800_000)
        let livesWithUnshownChanges = walk.checker.stages.keys.filter {
            walk.checker.shownStages[$0] != walk.checker.stages[$0]
        }
        #expect(livesWithUnshownChanges.isEmpty, "expected the feed to show every change after the pause")
        #expect(walk.checker.openedCount == walk.checker.endedCount, "expected every request to have ended by now")
    }

    @Test(arguments: UInt64(21)...24)
    func `I15 a batch that is rolled back and repeated has the same effects and rows`(seed: UInt64) throws {
        try SeatRandomWalk.requireSameAfterRollbacks(seed: seed, rounds: 150)
    }
}

/// One random walk: a machine, random inputs, and a checker of its effects.
struct SeatRandomWalk: RandomWalk {
    static let stepsPerPause = 5
    static let maxPauseMilliseconds: Int64 = 4000
    static let lives: [LiveID] = ["red", "blue"]
    static let users: [UserID] = ["olga", "adam", "gina", "gus", "gerd", "gabi"]
    var random: SeededRandom
    var machine = MachineHarness(SeatMachine())
    var callers = Callers()
    var checker = StageEffectChecker()
    var lastCall: (input: SeatInput, reply: Reply)?

    var contradictions: [String] {
        get { self.checker.contradictions }
        set { self.checker.contradictions = newValue }
    }

    init(seed: UInt64) { self.random = SeededRandom(seed: seed) }

    mutating func send(_ input: SeatInput) -> [Effect] {
        let effects = self.machine.send(input)
        self.checker.check(input, effects)
        // gabi is never in the live, so presence rejects each offer of a seat to her.
        guard case .success(let returnedOffer)? = effects.membershipReply(absent: ["gabi"]) else { return effects }
        let offerEffects = self.machine.send(returnedOffer)
        self.checker.check(returnedOffer, offerEffects)
        return offerEffects
    }

    mutating func advance(milliseconds: Int64) {
        self.checker.check(nil, self.machine.advance(Milliseconds(milliseconds)))
    }

    /// The open requests in the rows, in the form of `StageEffectChecker.openRequests`.
    var storedOpenRequests: Set<String> {
        var openRequests: Set<String> = []
        for key in self.machine.rows.sortedKeys {
            guard case .requests(let live, _) = key, case .requests(let requests)? = self.machine.rows[key] else {
                continue
            }
            for request in requests.open {
                if case .invitation(let host) = request.kind {
                    openRequests.insert("\(live.live)/\(request.guest.userID)<\(host.userID)")
                } else {
                    openRequests.insert("\(live.live)/\(request.guest.userID)")
                }
            }
        }
        return openRequests
    }

    mutating func randomInput() -> SeatInput {
        let key = LiveKey("demo", self.pick(Self.lives))
        return SeatInput(key, self.randomCommand(key))
    }

    private mutating func randomCommand(_ key: LiveKey) -> SeatCommand {
        let user = self.pick(Self.users)
        let caller = self.callers.user(self.pick(Self.users))
        // Six of the twelve numbers give -1, which means any free seat. A live has three to six seats, so the seats 3
        // to 5 do not exist in every live.
        let index = max(-1, Int.random(in: -6...5, using: &self.random))
        let timeoutSeconds = Int64.random(in: 0...12, using: &self.random)
        // The more numbers a command has, the more often it is chosen.
        switch Int.random(in: 0..<54, using: &self.random) {
        case 0:
            // An end with the highest epoch ends the live, whichever epoch the live has.
            return .ended(ending: ending(epoch: .max))
        case 1, 2:
            return .opened(epoch: self.machine.moment.offset, info: self.randomInfo(key.live))
        case 3: return .infoChanged(info: self.randomInfo(key.live))
        case 4, 5: return .userGone(user: user)
        case 6: return .confirmOccupants
        case 7:
            // A floor is the lowest valid ticket, so a floor up to the callers' ticket does not revoke the ticket.
            let ticket = Callers.joinTicket.offset + Int64.random(in: -1...0, using: &self.random)
            return .floor(user: user, ticket: Ticket(ticket))
        case 8:
            let revision = Int64.random(in: 0...self.machine.moment.offset, using: &self.random)
            return .connection(
                view: self.pick([nil, ConnectionView(id: "c-1", members: [])]), battle: nil, revision: revision,
                events: [])
        case 9...14: return .apply(seatIndex: index, timeoutSeconds: timeoutSeconds, extraInfo: "", caller: caller)
        case 15, 16: return .cancelApplication(caller: caller)
        case 17...19: return .acceptApplication(user: user, caller: caller)
        case 20: return .rejectApplication(user: user, caller: caller)
        case 21...25:
            return .invite(user: user, seatIndex: index, timeoutSeconds: timeoutSeconds, extraInfo: "", caller: caller)
        case 26: return .cancelInvitation(user: user, caller: caller)
        case 27, 28: return .acceptInvitation(inviter: user, caller: caller)
        case 29: return .rejectInvitation(inviter: user, caller: caller)
        case 30, 31: return .take(seatIndex: index, caller: caller)
        case 32, 33: return .leave(caller: caller)
        case 34: return .kickOff(user: user, caller: caller)
        case 35...38:
            let policy = self.pick([MoveSeatPolicy.abortWhenOccupied, .forceReplace, .swapPosition])
            return .move(user: user, to: index, policy: policy, caller: caller)
        case 39, 40: return .lock(seatIndex: index, isLocked: self.pick([true, false, false, false]), caller: caller)
        case 41, 42:
            return .lock(
                seatIndex: index, isLocked: nil, microphone: self.pick([nil, true, false]),
                camera: self.pick([nil, true, false]), caller: caller)
        case 43...46:
            return .device(
                microphone: self.pick([nil, true, false]), camera: self.pick([nil, true, false]),
                suspend: self.pick([nil, SuspendStatus.none, .inCalling]), caller: caller)
        case 47, 48:
            return .lockDevice(
                user: user, device: self.pick(Device.allCases), isLocked: self.pick([true, false]), caller: caller)
        case 49: return .place(user: user, seatIndex: index, caller: self.callers.server())
        case 50: return .requests(caller: caller)
        // This command has no time-out, so the random number serves as a random name.
        case 51: return .profile(user: UserInfo(userID: user, userName: "name \(timeoutSeconds)"))
        default: return .userBack(user: userInfo(user))
        }
    }

    private mutating func randomInfo(_ live: LiveID) -> LiveInfo {
        var live = LiveInfo(liveID: live, liveOwner: userInfo("olga"))
        live.keepOwnerOnSeat = Bool.random(using: &self.random)
        live.maxSeatCount = Int.random(in: 3...6, using: &self.random)
        live.seatMode = self.pick([.free, .apply, .apply])
        live.seatTemplate = 70
        live.admins = self.pick([[], ["adam"]])
        return live
    }
}

/// Reads effects as gateways and clients do; collects contradictions between effects.
struct StageEffectChecker {
    /// The last record of each stage.
    var stages: [LiveID: StageRecord] = [:]
    /// The last record of each stage that the live's feed has shown.
    var shownStages: [LiveID: StageRecord] = [:]
    /// The open requests: `live/guest` is an application, `live/guest<host` an invitation.
    var openRequests: Set<String> = []
    /// How many requests have been opened.
    var openedCount = 0
    /// How many requests have ended.
    var endedCount = 0
    var contradictions: [String] = []

    /// Checks the effects of an input; without an input, the effects are those of the rows that fell due.
    mutating func check(_ input: SeatInput?, _ effects: [Effect]) {
        for notice in effects.notices { self.checkNotice(notice) }
        if let input { self.recordResult(effects.result, of: input, hasSucceeded: effects.code == .success) }
        if let input, case .opened = input.command, !effects.stages.isEmpty {
            // A newer live with the same id may open before the end of the previous live arrives. The requests of the
            // previous live end then.
            for request in self.openRequests.filter({ $0.hasPrefix("\(input.key.live)/") }) {
                self.requestEnded(request)
            }
        }
        for record in effects.stages {
            if let last = self.stages[record.live], last.revision >= record.revision {
                self.contradictions.append("a stage whose revision is not higher than the last one")
            }
            self.stages[record.live] = record
        }
        for case .stage(let record, let events) in effects.feedItems {
            if let last = self.shownStages[record.live], last.revision >= record.revision {
                self.contradictions.append("a feed item whose revision is not higher than the last one")
            }
            self.checkEvents(events, leadTo: record)
            self.shownStages[record.live] = record
        }
        if Set(effects.stages.map(\.live)).count != effects.stages.count {
            self.contradictions.append("two revisions of a stage in one input")
        }
        for case .stageRemoved(let key) in effects { self.stages[key.live] = nil }
    }

    /// Checks that the events alone turn the occupants of the last shown record into those of `record`.
    private mutating func checkEvents(_ events: [StageEvent], leadTo record: StageRecord) {
        var seatOfUser: [UserID: Int] = [:]
        let lastShown = self.shownStages[record.live]
        // A live of another epoch begins without occupants.
        for seat in lastShown?.epoch == record.epoch ? lastShown?.seats ?? [] : [] {
            if let user = seat.occupant?.user.userID { seatOfUser[user] = seat.index }
        }
        for event in events {
            switch event {
            case .seatTaken(let index, let user): seatOfUser[user.userID] = index
            case .seatLeft(_, let user): seatOfUser[user.userID] = nil
            case .userMoved(let user, _, let index): seatOfUser[user.userID] = index
            default: break
            }
        }
        var seated: [UserID: Int] = [:]
        for seat in record.seats { if let user = seat.occupant?.user.userID { seated[user] = seat.index } }
        if seatOfUser != seated { self.contradictions.append("events \(events) do not lead to \(seated)") }
    }

    /// Records the end of a request, which is named as in `openRequests`.
    private mutating func requestEnded(_ request: String) {
        if self.openRequests.remove(request) == nil {
            self.contradictions.append("I13: \(request) ended, but was not open")
        }
        self.endedCount += 1
    }

    /// Records the end of a request that a notice reports.
    ///
    /// Most ends cause two notices, one to each side; only one of the two is counted.
    private mutating func checkNotice(_ notice: Notice) {
        let prefix = "\(notice.live)/"
        switch notice.content {
        case .applicationNoResponse, .applicationAnswered: self.requestEnded("\(prefix)\(notice.to.user)")
        case .invitationCancelled(let host), .invitationTimedOut(let host):
            self.requestEnded("\(prefix)\(notice.to.user)<\(host.userID)")
        case .invitationAnswered(let guest, _): self.requestEnded("\(prefix)\(guest.userID)<\(notice.to.user)")
        default: break
        }
    }

    /// Records the requests that an input opens, and those ends of requests that `checkNotice` does not record.
    ///
    /// When an application is cancelled or its applicant leaves, each host gets a notice, so the input is counted
    /// instead of the notices. When the live ends, there are no notices.
    private mutating func recordResult(_ result: CallResult?, of input: SeatInput, hasSucceeded: Bool) {
        let prefix = "\(input.key.live)/"
        switch input.command {
        case .apply(_, _, _, let caller), .take(_, let caller):
            // A result without an index means that the call has opened an application.
            guard result == .seat(index: nil) else { return }
            self.openRequests.insert("\(prefix)\(caller.userID)")
            self.openedCount += 1
        case .guestMembershipVerified(let user, .invitation, let caller) where hasSucceeded:
            self.openRequests.insert("\(prefix)\(user.userID)<\(caller.userID)")
            self.openedCount += 1
        case .cancelApplication(let caller) where hasSucceeded: self.requestEnded("\(prefix)\(caller.userID)")
        case .userGone(let user) where self.openRequests.contains("\(prefix)\(user)"):
            self.requestEnded("\(prefix)\(user)")
        case .ended:
            for request in self.openRequests.filter({ $0.hasPrefix(prefix) }) { self.requestEnded(request) }
        default: break
        }
    }
}

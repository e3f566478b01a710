// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel
import StageCore

/// Measures how many calls the seat machine handles in one CPU second.
///
/// The time includes the writing of rows and outcomes, and the making of stages and layouts.
enum SeatBench {
    static let benchmark = Benchmark(
        name: "seats", summary: "calls per CPU second of the seat machine, by operation and mixed",
        run: { try SeatBench.measure() })

    /// The target: the minimum number of calls per CPU second in the mixed pattern.
    private static let minimumRate = 200_000.0
    /// How often each pattern is measured; the report shows medians.
    private static let rounds = BenchReport.roundCount(default: 5)

    private static func measure() throws -> BenchReport {
        var values: [(String, Double)] = []
        var mixedRate = 0.0
        for pattern in SeatPattern.allCases {
            let rate = try self.callsPerSecond(pattern)
            values.append(("\(pattern.rawValue)_calls_per_second", rate.rounded()))
            if pattern == .mixed { mixedRate = rate }
        }
        return BenchReport(values: values, reachesTarget: mixedRate >= self.minimumRate)
    }

    /// The median over the rounds of the calls per CPU second.
    ///
    /// - Throws: `BenchFailure` when a call of the pattern `refused` succeeds, or a call of another pattern is refused.
    private static func callsPerSecond(_ pattern: SeatPattern) throws -> Double {
        let schedule = SeatSchedule(pattern: pattern)
        let inputs = schedule.inputs
        var rates: [Double] = []
        for _ in 0..<self.rounds {
            let machine = SeatMachine()
            var rows = Journal<SeatKey, SeatRow>()
            var effects: [Effect] = []
            for (index, input) in schedule.preparation.enumerated() {
                machine.handle(input, in: &rows, at: schedule.moment(index), into: &effects)
            }
            rows.commit()
            let firstMeasuredIndex = schedule.preparation.count
            var succeededCount = 0
            var seconds = 0.0
            for start in stride(from: 0, to: inputs.count, by: SeatSchedule.batchSize) {
                effects.removeAll(keepingCapacity: true)
                let startSeconds = threadCPUSeconds()
                for index in start..<min(start + SeatSchedule.batchSize, inputs.count) {
                    machine.handle(
                        inputs[index], in: &rows, at: schedule.moment(firstMeasuredIndex + index), into: &effects)
                }
                rows.commit()
                seconds += threadCPUSeconds() - startSeconds
                for case .reply(let reply) in effects { if case .success = reply.outcome { succeededCount += 1 } }
            }
            let expectedCount = pattern == .refused ? 0 : inputs.count
            guard succeededCount == expectedCount else {
                throw BenchFailure(description: "\(pattern): \(succeededCount) of \(inputs.count) calls succeeded")
            }
            rates.append(Double(inputs.count) / seconds)
        }
        return median(rates)
    }
}

/// Which calls are measured together.
private enum SeatPattern: String, CaseIterable {
    /// A guest takes a seat and leaves it.
    case takeLeave = "take_leave"
    /// A seated user turns the microphone on and off.
    case device
    /// A guest applies, the owner accepts, the guest leaves.
    case applyAccept = "apply_accept_leave"
    /// The owner moves a guest to another seat and back.
    case move
    /// The owner locks and unlocks a seat.
    case lock
    /// A guest tries to take an occupied seat.
    case refused
    /// All other patterns except `refused`; each live has one of them.
    case mixed
}

/// The calls of a round: in each turn one call to each live.
private struct SeatSchedule {
    /// The number of inputs in one batch, after which the rows are committed.
    static let batchSize = 1_000
    /// The number of measured calls: 300 turns of `lives` calls.
    static let callCount = 120_000
    /// The number of lives; each has one call in a turn.
    static let lives = 400

    var pattern: SeatPattern

    /// The time and offset of an input: two inputs in each millisecond.
    ///
    /// The calls of one live are thus 400 / 2 = 200 ms apart, so that no user reaches its rate limit.
    func moment(_ index: Int) -> Moment {
        Moment(now: Timestamp(milliseconds: firstInputMilliseconds + Int64(index / 2)), offset: Int64(index) + 1)
    }

    private func key(_ live: Int) -> LiveKey { LiveKey("demo", LiveID("live-\(live)")) }

    /// The user with this name as the caller of its call number `counter`; `preparation` uses the counter 1.
    private func caller(_ name: String, _ counter: Int) -> Caller {
        Caller(
            user: UserInfo(userID: UserID(name), userName: "User \(name)", avatarURL: "https://example.org/\(name)"),
            role: .user, request: RequestID(session: SessionID("session-\(name)"), counter: Int64(counter)),
            replyTo: "gateway-1", ticket: Ticket(1))
    }

    /// Opens the lives, each with an owner and a guest on seat 3.
    ///
    /// In some lives a guest must apply for a seat: there `take` is an application, which the owner accepts. In the
    /// other lives `take` takes the seat, and the owner's call fails because there is no application.
    var preparation: [SeatInput] {
        (0..<Self.lives).flatMap { live in
            let owner = UserInfo(userID: UserID("owner-\(live)"), userName: "Owner")
            let info = LiveInfo(liveID: self.key(live).live, liveOwner: owner) {
                $0.seatMode = self.seatMode(ofLive: live)
            }
            return [
                SeatInput(self.key(live), .opened(epoch: 1, info: info)),
                SeatInput(self.key(live), .take(seatIndex: 3, caller: self.caller("seated-\(live)", 1))),
                SeatInput(
                    self.key(live),
                    .acceptApplication(user: UserID("seated-\(live)"), caller: self.caller("owner-\(live)", 1))),
            ]
        }
    }

    /// The pattern of the calls for live number `live`; never `mixed`, for which the lives have the other patterns.
    private func pattern(ofLive live: Int) -> SeatPattern {
        guard self.pattern == .mixed else { return self.pattern }
        let mixedPatterns: [SeatPattern] = [.takeLeave, .device, .applyAccept, .move, .lock]
        return mixedPatterns[live % mixedPatterns.count]
    }

    /// Whether a guest must apply for a seat in a live, or may take one.
    private func seatMode(ofLive live: Int) -> TakeSeatMode {
        self.pattern(ofLive: live) == .applyAccept ? .apply : .free
    }

    /// The measured calls.
    var inputs: [SeatInput] {
        (0..<Self.callCount).map { index in
            let (live, turn) = (index % Self.lives, index / Self.lives)
            return SeatInput(self.key(live), self.command(live: live, turn: turn))
        }
    }

    /// The call for live number `live` in its turn number `turn`.
    private func command(live: Int, turn: Int) -> SeatCommand {
        let (isEven, owner, seated) = (turn % 2 == 0, "owner-\(live)", "seated-\(live)")
        // Each turn has its own counter, above the counter 1 of `preparation`.
        let counter = turn + 10
        // 20 users take turns as the guest of a live. A guest who asks for seat -1 gets any free seat.
        switch self.pattern(ofLive: live) {
        // `pattern(ofLive:)` never returns `mixed`.
        case .takeLeave, .mixed:
            let guest = self.caller("guest-\(live)-\(turn / 2 % 20)", counter)
            return isEven ? .take(seatIndex: -1, caller: guest) : .leave(caller: guest)
        case .device:
            return .device(microphone: isEven, camera: nil, suspend: nil, caller: self.caller(seated, counter))
        case .applyAccept:
            let guest = "guest-\(live)-\(turn / 3 % 20)"
            switch turn % 3 {
            case 0:
                return .apply(
                    seatIndex: -1, timeoutSeconds: 30, extraInfo: "please", caller: self.caller(guest, counter))
            case 1: return .acceptApplication(user: UserID(guest), caller: self.caller(owner, counter))
            default: return .leave(caller: self.caller(guest, counter))
            }
        case .move:
            return .move(
                user: UserID(seated), to: isEven ? 5 : 3, policy: .abortWhenOccupied,
                caller: self.caller(owner, counter))
        case .lock:
            return .lock(
                seatIndex: 7, isLocked: isEven, microphone: nil, camera: nil, caller: self.caller(owner, counter))
        case .refused: return .take(seatIndex: 3, caller: self.caller("guest-\(live)-\(turn % 20)", counter))
        }
    }
}

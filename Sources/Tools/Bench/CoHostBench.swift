// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel
import StageCore

/// Measures how many commands the connection machine handles in one CPU second, including rows, idempotency windows
/// and effects.
///
/// A thousand pairs of lives of one app repeat a sequence of steps: they connect, battle, score and disconnect. All
/// pairs complete a step before the next step begins. Each owner calls in its own session. The app's backend sends the
/// scores in a few sessions of its own.
enum CoHostBench {
    static let benchmark = Benchmark(
        name: "connections", summary: "co-host and battle commands per CPU second of the connection machine",
        run: { try CoHostBench.measure() })

    /// The target: the minimum number of commands per CPU second.
    private static let minimumRate = 200_000.0
    /// The number of runs; the report shows medians over the runs.
    private static let rounds = BenchReport.roundCount(default: 5)

    private static func measure() throws -> BenchReport {
        var rates: [Double] = []
        // Microseconds per command: for each step, one value per run.
        var microseconds: [[Double]] = Array(repeating: [], count: CoHostBenchRun.steps.count)
        for _ in 0..<self.rounds {
            var run = CoHostBenchRun()
            let secondsByStep = try run.runSteps()
            let commandsPerStep = Double(CoHostBenchRun.pairs * CoHostBenchRun.repetitions)
            rates.append(
                commandsPerStep * Double(CoHostBenchRun.steps.count) / secondsByStep.reduce(0, +))
            for (index, seconds) in secondsByStep.enumerated() {
                microseconds[index].append(seconds / commandsPerStep * 1e6)
            }
        }
        let rate = median(rates)
        var report = BenchReport(values: [("commands_per_second", rate)], reachesTarget: rate >= self.minimumRate)
        for kind in CoHostBenchRun.StepKind.allCases {
            let times = CoHostBenchRun.steps.indices.filter { CoHostBenchRun.steps[$0] == kind }.map {
                median(microseconds[$0])
            }
            report.values.append(("\(kind.rawValue)_microseconds", times.reduce(0, +) / Double(times.count)))
        }
        return report
    }
}

/// One run of all steps: the connection machine, its rows and its offset in the inbox.
private struct CoHostBenchRun {
    /// The kind of a step.
    ///
    /// The raw values are the keys of the printed report. Three of them differ from the names of their cases, because
    /// the keys of earlier reports must stay.
    enum StepKind: String, CaseIterable {
        case request, accept, seats
        case requestBattle = "ask"
        case acceptBattle = "agree"
        case score
        case exitBattle = "leave"
        case exit
    }

    /// The number of pairs of lives.
    static let pairs = 1_000
    /// How often a run repeats all steps.
    ///
    /// Each repetition sends one connection request and one battle request of a live. The rate limiter lets a live send
    /// this many without a pause.
    static let repetitions = Int(RequestRateLimiter.burst)
    /// The number of sessions in which the app's backend sends scores.
    private static let backendSessions = 64
    /// The steps of one repetition, in order.
    static let steps: [StepKind] =
        [.request, .accept, .seats, .seats, .requestBattle, .acceptBattle] + Array(repeating: .score, count: 10) + [
            .exitBattle, .exitBattle, .exit,
        ]
    private static let app = AppID("demo")

    private let machine = ConnectionMachine()
    private var rows = Journal<ConnectionKey, ConnectionRow>()
    private var effects: [Effect] = []
    private var offset: Int64 = 0
    /// The offset of the first pair's battle request; the id of a battle contains the offset of its request.
    private var firstBattleOffset: Int64 = 0

    /// Runs all steps of all repetitions and returns the CPU seconds of each step, summed over the repetitions.
    mutating func runSteps() throws -> [Double] {
        for live in 0..<(2 * Self.pairs) {
            let owner = UserInfo(userID: UserID("host-\(live)"), userName: "Host \(live)")
            self.handle(.opened(live: Self.live(live), owner: owner, isVoice: false))
        }
        self.rows.commit()
        self.effects.removeAll(keepingCapacity: true)
        var seconds = Array(repeating: 0.0, count: Self.steps.count)
        for repetition in 0..<Self.repetitions {
            for (index, kind) in Self.steps.enumerated() {
                if kind == .requestBattle { self.firstBattleOffset = self.offset }
                let counter = repetition * Self.steps.count + index
                let inputs = (0..<Self.pairs).map { self.command(kind, at: index, pair: $0, counter: Int64(counter)) }
                let start = threadCPUSeconds()
                for input in inputs { self.handle(input) }
                // A change of seats is a fact of another machine, so it gets no reply that could be checked.
                if kind != .seats { try self.checkAccepted(kind) }
                // The commands of all pairs in one step are one batch.
                self.rows.commit()
                self.effects.removeAll(keepingCapacity: true)
                seconds[index] += threadCPUSeconds() - start
            }
        }
        return seconds
    }

    /// Lets the machine handle a command at the next offset; the commands' time advances 1 ms every 200 commands.
    private mutating func handle(_ command: ConnectionCommand) {
        let now = Timestamp(milliseconds: firstInputMilliseconds + self.offset / 200)
        let moment = Moment(now: now, offset: self.offset)
        self.machine.handle(ConnectionInput(app: Self.app, command), in: &self.rows, at: moment, into: &self.effects)
        self.offset += 1
    }

    /// Checks that the step's last command was accepted: rejected commands would be fast, and the measurement useless.
    private func checkAccepted(_ kind: StepKind) throws {
        guard case .reply(let reply)? = self.effects.last, case .success = reply.outcome else {
            throw BenchFailure(description: "\(kind.rawValue) gave \(String(describing: self.effects.last))")
        }
    }

    private static func live(_ number: Int) -> LiveID { LiveID("live-\(number)") }

    /// The command of a pair of lives for the step of this kind at `index` of `steps`.
    private func command(_ kind: StepKind, at index: Int, pair: Int, counter: Int64) -> ConnectionCommand {
        let (firstLive, secondLive) = (Self.live(2 * pair), Self.live(2 * pair + 1))
        let battle = BattleID("b-\(self.firstBattleOffset + Int64(pair))")
        // The owner of the pair's first live (0) or second live (1), as the caller.
        func owner(ofLive indexInPair: Int) -> Caller {
            let number = 2 * pair + indexInPair
            return Caller(
                user: UserInfo(userID: UserID("host-\(number)"), userName: "Host"), role: .user,
                request: RequestID(session: SessionID("session-\(number)"), counter: counter),
                replyTo: "gateway-1", ticket: Ticket(1))
        }
        switch kind {
        case .request:
            return .request(
                from: firstLive, to: [secondLive], layoutTemplate: 0, timeoutSeconds: 30, extensionInfo: "",
                caller: owner(ofLive: 0))
        case .accept: return .accept(live: secondLive, inviter: firstLive, caller: owner(ofLive: 1))
        case .seats:
            let user = SeatUser(
                user: UserInfo(userID: UserID("host-\(2 * pair)"), userName: "Host"), role: .owner, live: firstLive)
            // The two steps of this kind are neighbours: the even index stands for the first live, the odd index for
            // the second live.
            return .seatsChanged(
                live: index % 2 == 0 ? firstLive : secondLive, seats: [Seat(index: 0, occupant: user), Seat(index: 1)])
        case .requestBattle:
            return .requestBattle(
                from: firstLive, to: [secondLive], durationSeconds: 300, needResponse: true, timeoutSeconds: 30,
                extensionInfo: "", caller: owner(ofLive: 0))
        case .acceptBattle: return .acceptBattle(battle: battle, live: secondLive, caller: owner(ofLive: 1))
        case .score:
            let server = Caller(
                user: UserInfo(userID: "backend"), role: .server,
                request: RequestID(
                    session: SessionID("backend-\(pair % Self.backendSessions)"),
                    // Several pairs share a session. In a session, the counter must grow from call to call.
                    counter: counter * Int64(Self.pairs) + Int64(pair)), replyTo: "gateway-1")
            return .updateScores(
                battle: battle, operation: .accumulate,
                scores: [ScoreUpdate(live: firstLive, score: 3), ScoreUpdate(live: secondLive, score: 2)],
                caller: server)
        case .exitBattle:
            // The two steps of this kind are neighbours, too: the second live leaves in the later step.
            let isSecondLive = Self.steps[index - 1] == .exitBattle
            return .exitBattle(
                battle: battle, live: isSecondLive ? secondLive : firstLive,
                caller: owner(ofLive: isSecondLive ? 1 : 0))
        case .exit: return .exit(live: firstLive, caller: owner(ofLive: 0))
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
import CoreKit
import PlazaModel
import StageCore

/// How many commands a second of one core's time the connection machine decides: rows, windows, effects and all.
///
/// A thousand pairs of lives of one app connect, battle, score and part, all at the same time and ten times over. Each
/// owner calls in a session of its own; the app's backend scores in sessions of its connections.
enum ConnectionBench {
    static let benchmark = Benchmark(
        name: "connections", summary: "co-host and battle commands per CPU second of the connection machine",
        run: { try ConnectionBench.measure() })

    /// Fewest commands that a CPU second may decide.
    private static let fewest = 200_000.0
    private static let rounds = BenchReport.rounds(5)

    private static func measure() throws -> BenchReport {
        var all: [Double] = []
        var steps: [[Double]] = Array(repeating: [], count: Evening.steps.count)
        for _ in 0..<self.rounds {
            var evening = Evening()
            let seconds = try evening.play()
            let each = Double(Evening.pairs * Evening.evenings)
            all.append(each * Double(Evening.steps.count) / seconds.reduce(0, +))
            for (index, one) in seconds.enumerated() { steps[index].append(one / each * 1e6) }
        }
        let rate = median(all)
        var report = BenchReport(values: [("commands_per_second", rate)], isGood: rate >= self.fewest)
        for step in Evening.Step.allCases {
            let times = Evening.steps.indices.filter { Evening.steps[$0] == step }.map { median(steps[$0]) }
            report.values.append(("\(step.rawValue)_microseconds", times.reduce(0, +) / Double(times.count)))
        }
        return report
    }
}

/// One run: the machine, its rows, and where in the inbox it stands.
private struct Evening {
    enum Step: String, CaseIterable {
        case request, accept, seats, ask, agree, score, leave, exit
    }

    static let pairs = 1_000
    /// As often as a live may ask without a rest.
    static let evenings = Int(Pace.burst)
    private static let backendSessions = 64
    static let steps: [Step] =
        [.request, .accept, .seats, .seats, .ask, .agree] + Array(repeating: .score, count: 10) + [
            .leave, .leave, .exit,
        ]
    private static let app = AppID("demo")

    private let machine = ConnectionMachine()
    private var rows = Journal<ConnectionKey, ConnectionRow>()
    private var effects: [Effect] = []
    private var offset: Int64 = 0
    /// The offset at which the first pair asked for its battle.
    private var firstBattle: Int64 = 0

    /// CPU seconds of each step.
    mutating func play() throws -> [Double] {
        for live in 0..<(2 * Self.pairs) {
            let owner = UserInfo(userID: UserID("host-\(live)"), userName: "Host \(live)")
            self.handle(.opened(live: Self.live(live), owner: owner, isVoice: false))
        }
        self.rows.commit()
        self.effects.removeAll(keepingCapacity: true)
        var seconds = Array(repeating: 0.0, count: Self.steps.count)
        for evening in 0..<Self.evenings {
            for (number, step) in Self.steps.enumerated() {
                if step == .ask { self.firstBattle = self.offset }
                let counter = evening * Self.steps.count + number
                let inputs = (0..<Self.pairs).map { self.command(step, number, pair: $0, counter: Int64(counter)) }
                let start = threadCPUSeconds()
                for input in inputs { self.handle(input) }
                if step != .seats { try self.check(step) }
                // One transaction.
                self.rows.commit()
                self.effects.removeAll(keepingCapacity: true)
                seconds[number] += threadCPUSeconds() - start
            }
        }
        return seconds
    }

    private mutating func handle(_ command: ConnectionCommand) {
        let now = Timestamp(milliseconds: 1_700_000_000_000 + self.offset / 200)
        let moment = Moment(now: now, offset: self.offset)
        self.machine.handle(ConnectionInput(app: Self.app, command), in: &self.rows, at: moment, into: &self.effects)
        self.offset += 1
    }

    /// A step that was refused would be quick and worth nothing.
    private func check(_ step: Step) throws {
        guard case .reply(let reply)? = self.effects.last, case .success = reply.outcome else {
            throw BenchFailure(description: "\(step.rawValue) gave \(String(describing: self.effects.last))")
        }
    }

    private static func live(_ number: Int) -> LiveID { LiveID("live-\(number)") }

    private func command(_ step: Step, _ number: Int, pair: Int, counter: Int64) -> ConnectionCommand {
        let (a, b) = (Self.live(2 * pair), Self.live(2 * pair + 1))
        let battle = BattleID("b-\(self.firstBattle + Int64(pair))")
        func host(_ which: Int) -> Caller {
            Caller(
                user: UserInfo(userID: UserID("host-\(2 * pair + which)"), userName: "Host"), role: .user,
                request: RequestID(session: SessionID("session-\(2 * pair + which)"), counter: counter),
                replyTo: "gateway-1", ticket: Ticket(1))
        }
        switch step {
        case .request:
            return .request(
                from: a, to: [b], layoutTemplate: 0, timeoutSeconds: 30, extensionInfo: "", caller: host(0))
        case .accept: return .accept(live: b, inviter: a, caller: host(1))
        case .seats:
            let user = SeatUser(
                user: UserInfo(userID: UserID("host-\(2 * pair)"), userName: "Host"), role: .owner, live: a)
            return .seatsChanged(
                live: number % 2 == 0 ? a : b, seats: [Seat(index: 0, occupant: user), Seat(index: 1)])
        case .ask:
            return .requestBattle(
                from: a, to: [b], durationSeconds: 300, needResponse: true, timeoutSeconds: 30, extensionInfo: "",
                caller: host(0))
        case .agree: return .acceptBattle(battle: battle, live: b, caller: host(1))
        case .score:
            let server = Caller(
                user: UserInfo(userID: "backend"), role: .server,
                request: RequestID(
                    session: SessionID("backend-\(pair % Self.backendSessions)"),
                    counter: counter * Int64(Self.pairs) + Int64(pair)), replyTo: "gateway-1")
            return .updateScores(
                battle: battle, operation: .accumulate,
                scores: [ScoreUpdate(live: a, score: 3), ScoreUpdate(live: b, score: 2)], caller: server)
        case .leave:
            let isSecond = Self.steps[number - 1] == .leave
            return .exitBattle(battle: battle, live: isSecond ? b : a, caller: host(isSecond ? 1 : 0))
        case .exit: return .exit(live: a, caller: host(0))
        }
    }
}

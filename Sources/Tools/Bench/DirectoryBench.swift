// SPDX-License-Identifier: Apache-2.0
import DirectoryCore
import MachineKit
import PlazaModel

/// Measures how many commands the directory machine handles in one CPU second, including rows, outcomes, records and
/// notifications.
enum DirectoryBench {
    static let benchmark = Benchmark(
        name: "directory", summary: "commands per CPU second of the directory's machine, by operation and mixed",
        run: { try DirectoryBench.measure() })

    /// The target: the minimum number of commands per CPU second in the mixed pattern.
    private static let minimumRate = 200_000.0
    /// The number of rounds in which each pattern is measured; the report shows the medians.
    private static let rounds = BenchReport.roundCount(default: 5)

    private static func measure() throws -> BenchReport {
        var values: [(String, Double)] = []
        var mixedRate = 0.0
        for pattern in DirectoryPattern.allCases {
            let rate = try self.commandsPerSecond(pattern)
            values.append(("\(pattern.rawValue)_commands_per_second", rate.rounded()))
            if pattern == .mixed { mixedRate = rate }
        }
        return BenchReport(values: values, reachesTarget: mixedRate >= self.minimumRate)
    }

    /// Measures the number of commands per CPU second in each round, and returns the median.
    ///
    /// - Throws: `BenchFailure` when a command of the pattern `refused` is accepted, or a command of another pattern is
    ///   rejected.
    private static func commandsPerSecond(_ pattern: DirectoryPattern) throws -> Double {
        let schedule = DirectorySchedule(pattern: pattern)
        let inputs = schedule.inputs
        var rates: [Double] = []
        for _ in 0..<self.rounds {
            let machine = DirectoryMachine(policies: Policies())
            var rows = DirectoryRows()
            var effects: [Effect] = []
            for (index, input) in schedule.preparation.enumerated() {
                machine.handle(input, in: &rows, at: schedule.moment(index), into: &effects)
            }
            rows.commit()
            var rejectedCount = 0
            var cpuSeconds = 0.0
            for start in stride(from: 0, to: inputs.count, by: DirectorySchedule.batchSize) {
                effects.removeAll(keepingCapacity: true)
                let cpuSecondsBefore = threadCPUSeconds()
                for index in start..<min(start + DirectorySchedule.batchSize, inputs.count) {
                    let moment = schedule.moment(DirectorySchedule.firstMeasuredIndex + index)
                    machine.handleDue(in: &rows, at: moment, into: &effects)
                    machine.handle(inputs[index], in: &rows, at: moment, into: &effects)
                }
                rows.commit()
                cpuSeconds += threadCPUSeconds() - cpuSecondsBefore
                for case .reply(let reply) in effects { if case .failure = reply.outcome { rejectedCount += 1 } }
            }
            let expectedCount = pattern == .refused ? inputs.count : 0
            guard rejectedCount == expectedCount else {
                throw BenchFailure(
                    description: "\(pattern): \(rejectedCount) of \(inputs.count) commands were rejected")
            }
            rates.append(Double(inputs.count) / cpuSeconds)
        }
        return median(rates)
    }
}

/// The kinds of commands in a run.
private enum DirectoryPattern: String, CaseIterable {
    /// A live from its creation to its end: both steps of the creation (`create` and `open`), the end, the release of
    /// the owner's claim, and the release of the live's id (`closed`).
    case life
    case update
    case metadata
    /// The owner appoints an admin in two steps (`setAdmin`, then the confirmation that the user is in the live), and
    /// revokes the admin.
    case admin
    case kick
    /// A viewer is muted and unmuted.
    case mute
    /// The presence service reports that the owner joins and leaves.
    case occupancy
    /// A viewer sends a command that it is not permitted to send.
    case refused
    /// All other patterns except `refused`; each live has one of them.
    case mixed
}

/// The commands of a round; a turn is one command for each live.
private struct DirectorySchedule {
    /// The number of inputs in one batch, after which the rows are committed.
    static let batchSize = 1_000
    /// The number of measured commands: 300 turns of 400 lives.
    static let commandCount = 120_000
    static let liveCount = 400
    /// The index of the first measured input, above the indexes of the 3 * 400 inputs of `preparation`.
    static let firstMeasuredIndex = 10_000

    var pattern: DirectoryPattern

    /// The time and offset of the input with this index: twenty inputs in each millisecond.
    func moment(_ index: Int) -> Moment {
        Moment(now: Timestamp(milliseconds: firstInputMilliseconds + Int64(index / 20)), offset: Int64(index) + 1)
    }

    private func live(_ index: Int) -> LiveID { LiveID("live-\(index)") }

    private func user(_ name: String) -> UserInfo {
        UserInfo(userID: UserID(name), userName: "User \(name)", avatarURL: "https://example.org/\(name)")
    }

    /// The user with this name as the caller of its call number `counter`; `preparation` uses the counters 1 and 2.
    private func caller(_ name: String, _ counter: Int) -> Caller {
        Caller(
            user: self.user(name), role: .user,
            request: RequestID(session: SessionID("session-\(name)"), counter: Int64(counter)), replyTo: "gateway-1",
            ticket: Ticket(1))
    }

    private static let changes = LiveChanges(
        liveName: "An evening with many guests", notice: "Be kind to each other", coverURL: "https://example.org/cover",
        categoryList: [1, 2])

    /// Creates and opens the lives, with an owner and three keys of metadata each.
    var preparation: [DirectoryInput] {
        (0..<Self.liveCount).flatMap { index -> [DirectoryInput] in
            let owner = "owner-\(index)"
            let commands: [DirectoryCommand] = [
                .create(
                    live: self.live(index), changes: Self.changes, owner: self.user(owner),
                    caller: self.caller(owner, 1)),
                .open(
                    live: self.live(index), changes: Self.changes, owner: self.user(owner),
                    caller: self.caller(owner, 1)),
                .setMetadata(
                    live: self.live(index), values: ["a": "1", "b": "2", "topic": "an evening"],
                    caller: self.caller(owner, 2)),
            ]
            return commands.map { DirectoryInput(app: "demo", $0) }
        }
    }

    /// The measured commands.
    var inputs: [DirectoryInput] {
        (0..<Self.commandCount).map { index in
            let (live, turn) = (index % Self.liveCount, index / Self.liveCount)
            return DirectoryInput(app: "demo", self.command(live: live, turn: turn, input: index))
        }
    }

    /// The pattern of the commands of live number `live`; if the run's pattern is `mixed`, one of seven others.
    private func pattern(ofLive live: Int) -> DirectoryPattern {
        guard self.pattern == .mixed else { return self.pattern }
        return [.life, .update, .metadata, .admin, .kick, .mute, .occupancy][live % 7]
    }

    /// The command of live number `number` in its turn number `turn`, which is input number `input` of the round.
    private func command(live number: Int, turn: Int, input: Int) -> DirectoryCommand {
        let live = self.live(number)
        let isEvenTurn = turn % 2 == 0
        // Each turn has its own counter, above the counters of `preparation`.
        let counter = turn + 10
        let owner = self.caller("owner-\(number)", counter)
        // Three turns concern the same viewer, because the pattern `admin` has three commands.
        let viewer = UserID("viewer-\(number)-\(turn / 3)")
        switch self.pattern(ofLive: number) {
        // `pattern(ofLive:)` never returns `mixed`.
        case .life, .mixed: return self.lifeCommand(live: number, turn: turn, input: input)
        case .update: return .updateInfo(live: live, changes: LiveChanges(notice: "notice \(turn)"), caller: owner)
        case .metadata: return .setMetadata(live: live, values: ["topic": "topic \(turn)"], caller: owner)
        case .admin:
            switch turn % 3 {
            case 0: return .setAdmin(live: live, user: viewer, caller: owner)
            case 1:
                // The second step of the call whose first step was the previous turn, so it has the previous counter.
                return .adminMembershipVerified(
                    live: live, user: viewer, caller: self.caller("owner-\(number)", counter - 1))
            default: return .revokeAdmin(live: live, user: viewer, caller: owner)
            }
        case .kick: return .kick(live: live, user: viewer, caller: owner)
        case .mute:
            let muted = UserID("viewer-\(number)-\(turn / 2)")
            // A duration of 0 ends the mute.
            return .mute(live: live, users: [muted], durationSeconds: isEvenTurn ? 60 : 0, caller: owner)
        // `isEmpty`: whether no user at all is in the live.
        case .occupancy: return .occupancy(live: live, owner: isEvenTurn ? .left : .present, isEmpty: false)
        case .refused:
            // Only the owner or an admin may update the live; twenty viewers try in turn.
            return .updateInfo(
                live: live, changes: Self.changes, caller: self.caller("viewer-\(number)-\(turn % 20)", counter))
        }
    }

    /// The command for one of the five turns of a short live, from its creation to its end.
    ///
    /// The turns of live number `number` are used for a sequence of short lives, each with its own owner.
    private func lifeCommand(live number: Int, turn: Int, input: Int) -> DirectoryCommand {
        let owner = "host-\(number)-\(turn / 5)"
        let shortLive = LiveID("short-\(number)-\(turn / 5)")
        // `create` and `open` are the two steps of the owner's call 1; `end` is call 2. The last two commands have no
        // caller.
        let caller = self.caller(owner, turn % 5 < 2 ? 1 : 2)
        switch turn % 5 {
        case 0: return .create(live: shortLive, changes: Self.changes, owner: self.user(owner), caller: caller)
        case 1: return .open(live: shortLive, changes: Self.changes, owner: self.user(owner), caller: caller)
        case 2: return .end(live: shortLive, caller: caller)
        case 3: return .release(owner: UserID(owner), live: shortLive, thenReply: nil)
        default:
            // The epoch is the offset of `open`, which was three turns before; an offset is one more than the index.
            let openIndex = Self.firstMeasuredIndex + input - 3 * Self.liveCount
            return .closed(live: shortLive, epoch: Int64(openIndex) + 1)
        }
    }
}

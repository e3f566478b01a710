// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import MachineKit
import MachineTestSupport
import PlazaModel
import Testing

@testable import DirectoryCore

private let users: [UserID] = ["alice", "bob", "carl"]
private let lives: [LiveID] = ["one", "two"]

/// Random schedules, in which three users send conflicting commands about two lives; transactions may abort.
@Suite struct DirectoryScheduleTests {
    /// A pause, then a command.
    private struct Step {
        var pauseMilliseconds: Int64
        var command: DirectoryCommand
    }

    /// Generates random steps; some repeat a command of the last minute.
    private struct Schedule {
        var random: SeededRandom
        var counter: Int64 = 0
        var now: Int64 = 0
        var recentCommands: [(at: Int64, command: DirectoryCommand)] = []

        init(seed: UInt64) { self.random = SeededRandom(seed: seed) }

        mutating func next() -> Step {
            // The outcome of a call is remembered for 60 s, or 70 s with rounding. On average, one pause in thirty
            // lasts 70 s, so that all earlier outcomes are forgotten.
            let isLongPause = Int.random(in: 0..<30, using: &self.random) == 0
            let pause: Int64 = isLongPause ? 70_000 : 300
            self.now += pause
            self.recentCommands.removeAll { $0.at <= self.now - 60_000 }
            // One step in four repeats one of the last eight commands.
            if Int.random(in: 0..<4, using: &self.random) == 0,
                let earlier = self.recentCommands.suffix(8).randomElement(using: &self.random)
            {
                return Step(pauseMilliseconds: pause, command: earlier.command)
            }
            let command = self.randomCommand()
            self.recentCommands.append((self.now, command))
            return Step(pauseMilliseconds: pause, command: command)
        }

        private mutating func randomCommand() -> DirectoryCommand {
            let target = users.randomElement(using: &self.random) ?? "alice"
            let live = lives.randomElement(using: &self.random) ?? "one"
            self.counter += 1
            let callerID = users.randomElement(using: &self.random) ?? "alice"
            // The ticket is the number of the call. A floor is the lowest ticket that a kicked user may still use. So
            // each floor below is above the tickets of some calls, and not above those of others.
            let caller: Caller = user(callerID, call: self.counter, ticket: self.counter)
            // -1 to 7 seconds. -1 stands for a ban or mute without an end; 0 is invalid for a ban, and ends a mute.
            let durationSeconds = self.counter % 9 - 1
            switch Int.random(in: 0..<16, using: &self.random) {
            case 0...3: return .create(live: live, changes: LiveChanges(), owner: caller.user, caller: caller)
            case 4, 5: return .end(live: live, caller: caller)
            case 6: return .setAdmin(live: live, user: target, caller: caller)
            case 7: return .revokeAdmin(live: live, user: target, caller: caller)
            case 8: return .kick(live: live, user: target, caller: caller)
            case 9:
                // Some floors revoke only tickets of past calls, others also those of the next calls.
                let ticket = Ticket(self.counter + Int64.random(in: -5...5, using: &self.random))
                return .floor(live: live, user: target, ticket: ticket)
            // A live may have ten metadata keys. The calls use twelve keys, so some are rejected.
            case 10: return .setMetadata(live: live, values: ["k\(counter % 12)": "v\(counter)"], caller: caller)
            case 11:
                return .ban(live: live, users: [target], durationSeconds: durationSeconds, reason: "", caller: caller)
            case 12: return .mute(live: live, users: [target], durationSeconds: durationSeconds, caller: caller)
            case 13: return .unban(live: live, users: [target], caller: caller)
            case 14:
                let ownerStates: [OwnerPresence] = [.present, .left, .offline]
                let owner = ownerStates[Int(counter % 3)]
                return .occupancy(live: live, owner: owner, isEmpty: counter % 2 == 0)
            default: return .updateInfo(live: live, changes: LiveChanges(notice: "\(counter % 3)"), caller: caller)
            }
        }

        static func steps(_ count: Int, seed: UInt64) -> [Step] {
            var schedule = Schedule(seed: seed)
            return (0..<count).map { _ in schedule.next() }
        }
    }

    /// Runs `steps`; returns all effects, including those of commands that the effects send back to the directory.
    ///
    /// With a seed, on average one transaction in two aborts once, and then succeeds. Without a seed (nil), no
    /// transaction aborts.
    private func runSteps(
        _ steps: [Step], abortingWith seed: UInt64?
    ) -> (effects: [Effect], directory: DirectoryHarness) {
        var directory = DirectoryHarness()
        // Lives are ended soon when they are empty or their owner is away.
        let dismissal = DismissalPolicy(
            afterNoUsersSeconds: 5, afterOwnerLeaveSeconds: 7, afterOwnerOfflineSeconds: 9)
        directory.machine = DirectoryMachine(policies: Policies([app: AppPolicy(dismissal: dismissal)]))
        var random = SeededRandom(seed: seed ?? 0)
        var effects: [Effect] = []
        for step in steps {
            let dueEffects = directory.advance(Milliseconds(step.pauseMilliseconds))
            effects += dueEffects
            var pending = Self.followUps(of: dueEffects) + [step.command]
            while !pending.isEmpty {
                let command = pending.removeFirst()
                if seed != nil, Bool.random(using: &random) {
                    // The transaction aborts after the input was handled: the rows are rolled back and the input is
                    // consumed again.
                    let rowsBefore = directory.rows.sortedKeys.map { (key: $0, row: directory.rows[$0]) }
                    _ = directory.sendUncommitted(DirectoryInput(app: app, command))
                    directory.rows.rollback()
                    directory.offset -= 1
                    #expect(directory.rows.sortedKeys == rowsBefore.map(\.key))
                    #expect(rowsBefore.allSatisfy { directory.rows[$0.key] == $0.row })
                }
                let newEffects = directory.send(command)
                effects += newEffects
                pending += Self.followUps(of: newEffects)
            }
            directory.expectInvariants()
        }
        return (effects, directory)
    }

    /// The commands that the directory and the other machines send to the directory because of `effects`.
    private static func followUps(of effects: [Effect]) -> [DirectoryCommand] {
        effects.compactMap { effect in
            switch effect {
            case .directory(let input, _): return input.command
            case .audience(let input):
                guard case .verifyAdminMembership(let user, let caller) = input.command else { return nil }
                return .adminMembershipVerified(live: input.key.live, user: user, caller: caller)
            case .connection(let input):
                // In production the end passes from machine to machine. The last of them, the fan-out, reports
                // `closed` to the directory. Here `closed` follows at once.
                guard case .ended(let live, let ending) = input.command else { return nil }
                return .closed(live: live, epoch: ending.epoch)
            default: return nil
            }
        }
    }

    /// The outcome without the live's metadata, for comparisons.
    ///
    /// The reply to a repeated call has the current metadata (R17.8), which may differ from that of the first reply.
    private static func withoutMetadata(_ outcome: Outcome) -> Outcome {
        guard case .success(.live(var info, let epoch, let revision, _)) = outcome else { return outcome }
        info.metaData = [:]
        return .success(result: .live(info: info, epoch: epoch, revision: revision))
    }

    @Test(arguments: 1...20)
    func `I1 I2 I15 any schedule keeps the invariants, ends a live once and gives repeated calls the same reply`(
        seed: UInt64
    ) {
        let (effects, _) = self.runSteps(Schedule.steps(400, seed: seed), abortingWith: nil)

        // Each epoch of a live is opened at most once and ends at most once. The sets contain `APP/LIVE#EPOCH`.
        var endedLives: Set<String> = []
        var openedLives: Set<String> = []
        var firstOutcomes: [RequestID: Outcome] = [:]
        var repeatedCount = 0
        for effect in effects {
            switch effect {
            case .connection(let input):
                if case .ended(let live, let ending) = input.command {
                    let endedLive = "\(LiveKey(input.app, live).text)#\(ending.epoch)"
                    #expect(endedLives.insert(endedLive).inserted)
                    #expect(openedLives.contains(endedLive))
                }
            case .audience(let input):
                if case .opened(let epoch, _) = input.command {
                    #expect(openedLives.insert("\(input.key.text)#\(epoch)").inserted)
                }
            case .reply(let reply):
                // The outcome of a call about an unknown live is not stored, so it may differ when the call is
                // repeated. Every other repeated call must get the same outcome.
                if case .failure(let error) = reply.outcome, error.code == .noSuchRoom { continue }
                let outcome = Self.withoutMetadata(reply.outcome)
                if let first = firstOutcomes[reply.request] {
                    #expect(outcome == first)
                    repeatedCount += 1
                } else {
                    firstOutcomes[reply.request] = outcome
                }
            default: break
            }
        }
        #expect(!endedLives.isEmpty, "expected a schedule that ends lives")
        #expect(repeatedCount > 10, "expected a schedule that repeats calls")
    }

    @Test(arguments: 1...20)
    func `I15 transactions that abort and are repeated have the same effects and rows as without aborts`(seed: UInt64) {
        let steps = Schedule.steps(200, seed: seed)
        let uninterrupted = self.runSteps(steps, abortingWith: nil)
        let aborted = self.runSteps(steps, abortingWith: seed)
        #expect(uninterrupted.effects == aborted.effects)
        let keys = uninterrupted.directory.rows.sortedKeys
        #expect(keys == aborted.directory.rows.sortedKeys)
        for key in keys { #expect(uninterrupted.directory.rows[key] == aborted.directory.rows[key]) }
    }

    @Test func `row keys are parsed back from their text`() {
        let keys: [DirectoryKey] = [
            .live(LiveKey("demo", "a:b#c")), .claim(UserKey("demo", "u-1")),
            .liveCalls(LiveKey("demo", "x"), "s_1"), .ownerCalls(UserKey("demo", "u"), "s"),
            .bans(LiveKey("demo", "x")), .mutes(LiveKey("demo", "x")),
        ]
        for key in keys { #expect(DirectoryKey(text: key.text) == key) }
        #expect(keys.map(\.text).first == "room/demo/a:b#c")
        // `room/demo/a/b` has too many parts, `claims` is no kind of row (`claim` is), and the other keys have too few.
        for malformed in ["", "room", "room/demo", "room/demo/a/b", "claims/demo/a", "roomCalls/demo/x"] {
            #expect(DirectoryKey(text: malformed) == nil)
        }
    }

    @Test func `a stored row of a live and its key are named room`() throws {
        let row = LiveRow(info: LiveInfo(liveID: "arena", liveOwner: UserInfo(userID: "anna")), epoch: 1)
        let json = String(decoding: try JSONEncoder().encode(DirectoryRow.live(row: row)), as: UTF8.self)
        #expect(json.hasPrefix(#"{"room":{"row":{"#), "\(json)")
        #expect(DirectoryKey.live(LiveKey("demo", "x")).text == "room/demo/x")
        #expect(DirectoryKey.liveCalls(LiveKey("demo", "x"), "s").text == "roomCalls/demo/x/s")
    }
}

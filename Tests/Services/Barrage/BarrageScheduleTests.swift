// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import MachineKit
import MachineTestSupport
import PlazaModel
import Testing

@testable import BarrageCore

/// Random schedules: inputs to two lives, in batches whose transactions may abort; another instance may take over.
@Suite struct BarrageScheduleTests {
    /// A pause, then an input.
    private struct Step {
        var pauseMilliseconds: Int64
        var input: BarrageInput
    }

    /// The time at which each run begins.
    private static let startTime = Timestamp(milliseconds: 1_000_000)

    /// Random steps: inputs of every kind, from the users u0 (the owner), u1 (the admin) and u2 to u5 to two lives.
    private func steps(_ count: Int, seed: UInt64) -> [Step] {
        var random = SeededRandom(seed: seed)
        var time = Self.startTime
        var counter: Int64 = 0
        var epoch: Int64 = 100
        return (0..<count).map { _ in
            // One pause in 200 is so long (400 s) that all rows of ended lives and all idempotency windows are removed.
            let isLongPause = Int.random(in: 0..<200, using: &random) == 0
            let pause = isLongPause ? 400_000 : Int64.random(in: 0...30, using: &random)
            time = time + Milliseconds(pause)
            let key = LiveKey(app, Bool.random(using: &random) ? "one" : "two")
            let id = UserID("u\(Int.random(in: 0..<6, using: &random))")
            counter += 1
            // One call in six has the number of the step five steps earlier. If the same user called the same live in
            // both steps, the later call counts as a repetition.
            let reusesNumber = Int.random(in: 0..<6, using: &random) == 0
            let number = reusesNumber ? max(1, counter - 5) : counter
            // The caller joined up to 50 steps ago: maybe before its last kick, which makes the ticket stale.
            let caller = user(id, call: number, ticket: counter - Int64.random(in: 0...50, using: &random))
            let command: BarrageCommand
            switch Int.random(in: 0..<80, using: &random) {
            case 0:
                epoch += 1
                command = .opened(epoch: epoch, owner: "u0")
            case 1:
                // The fan-out ignores an end whose epoch is below the live's epoch. The epoch `.max` is not below any
                // epoch, so this end always counts.
                command = .ended(ending: ending(of: .max))
            case 2:
                command = .rights(
                    isMessageDisable: Bool.random(using: &random), admins: ["u1"], isGiftEnabled: true)
            // A kick: from now on `counter` is the lowest ticket that the user may still use.
            case 3: command = .floor(user: id, ticket: Ticket(counter))
            case 4...9: command = .publish(content: .audienceJoined(user: caller.user))
            case 10...13: command = .publish(content: .adminSet(user: id))
            case 14: command = .sendCustom(businessID: "b", data: "d", caller: caller)
            case 15...18: command = .sendGift(giftID: "rose", count: 2, receivers: [], caller: caller)
            case 19...22: command = .sendLikes(count: 3, caller: caller)
            case 23...25: command = .speaking(level: Int.random(in: 0...100, using: &random), caller: caller)
            case 26:
                command = .muted(user: id, until: time + Milliseconds(Int64.random(in: 0...500, using: &random)))
            case 27: command = .unmuted(user: id)
            case 28: command = .publish(content: Self.stage(key, seatedUsers: Int.random(in: 0..<6, using: &random)))
            case 29: command = .repeatEnding(caller: caller)
            case 30: command = .summary(caller: caller)
            case 31: command = .sendText(text: "a Bad word", extensionInfo: nil, caller: caller)
            case 32...35:
                let error = ReplyError(ReplyCode(102_100 + Int(counter % 90)), "no \(counter)")
                command = .forbidden(error: error, isGift: counter % 2 == 0, caller: caller)
            default: command = .sendText(text: "\(counter)", extensionInfo: nil, caller: caller)
            }
            return Step(pauseMilliseconds: pause, input: BarrageInput(key, command))
        }
    }

    /// A stage on whose seats the users u0, u1 and so on sit.
    private static func stage(_ key: LiveKey, seatedUsers: Int) -> FeedContent {
        let seats = (0..<seatedUsers).map { number in
            let user = UserInfo(userID: UserID("u\(number)"))
            return Seat(index: number, occupant: SeatUser(user: user, role: .generalUser, live: key.live))
        }
        let record = StageRecord(app: key.app, live: key.live, epoch: 1, revision: 1, seats: seats)
        return .stage(record: record, events: [])
    }

    /// The app has the word "bad" and the gift "rose".
    private static let settings = AppTable([
        AppRecord(
            app: app, revision: 1,
            settings: AppSettings(
                words: ["bad"],
                gifts: [
                    GiftCategory(categoryID: "a", name: "A", gifts: [Gift(giftID: "rose", name: "Rose", coins: 3)])
                ]))
    ])

    /// Runs the steps; returns the effects of all committed batches, and the rows at the end.
    ///
    /// With a seed, one batch in three aborts and is consumed again. In half of these cases another instance has taken
    /// over, which restores the rows from the state topic. Without a seed no batch aborts.
    ///
    /// A pause is 15 ms on average, so the two lives get about 66 inputs a second, 33 each. The budget of a feed is 25
    /// items a second, so some items are dropped.
    private func runSteps(
        _ steps: [Step], abortingWith seed: UInt64?, batchSize: Int = 7
    ) throws -> (effects: [Effect], rows: BarrageRows) {
        let policy = AppPolicy(feedBudget: 25, messagesPerUserPerSecond: 5)
        var machine = BarrageMachine(policies: Policies([app: policy]))
        machine.updateSettings(Self.settings)
        var random = SeededRandom(seed: seed ?? 0)
        var rows = BarrageRows()
        var stateTopic: [String: Data] = [:]
        var now = Self.startTime
        var effects: [Effect] = []
        var nextStep = 0
        while nextStep < steps.count {
            let batch = steps[nextStep..<min(steps.count, nextStep + batchSize)]
            let willAbort = seed != nil && Int.random(in: 0..<3, using: &random) == 0
            var time = now
            var batchEffects: [Effect] = []
            for (index, step) in zip(batch.indices, batch) {
                time = time + Milliseconds(step.pauseMilliseconds)
                let moment = Moment(now: time, offset: Int64(index))
                machine.handleDue(in: &rows, at: moment, into: &batchEffects)
                machine.handle(step.input, in: &rows, at: moment, into: &batchEffects)
                // A batch that will abort ends after a random step.
                if willAbort, Bool.random(using: &random) { break }
            }
            if willAbort {
                rows.rollback()
                if Bool.random(using: &random) {
                    // Another instance takes over: its rows come from the state topic.
                    rows = BarrageRows()
                    for (text, data) in stateTopic {
                        let key = try #require(BarrageKey(text: text))
                        rows.restore(key, try JSONDecoder().decode(BarrageRow.self, from: data))
                    }
                }
                continue
            }
            for change in rows.changes {
                stateTopic[change.key.text] = try change.row.map { try JSONEncoder().encode($0) }
            }
            rows.commit()
            effects += batchEffects
            now = time
            nextStep = batch.endIndex
            #expect(machine.violations(in: rows, at: now) == [])
        }
        return (effects, rows)
    }

    @Test(arguments: 1...15) func `I7 I9 I15 after aborts and takeovers, no effect is lost, repeated or reordered`(
        seed: UInt64
    ) throws {
        let steps = self.steps(600, seed: seed)
        let uninterrupted = try self.runSteps(steps, abortingWith: nil)
        let interrupted = try self.runSteps(steps, abortingWith: seed)
        #expect(uninterrupted.effects == interrupted.effects)
        #expect(uninterrupted.rows.sortedKeys == interrupted.rows.sortedKeys)
        for key in uninterrupted.rows.sortedKeys { #expect(uninterrupted.rows[key] == interrupted.rows[key]) }
        let repeatedRun = try self.runSteps(steps, abortingWith: nil)
        #expect(uninterrupted.effects == repeatedRun.effects, "expected the same effects of the same steps")
    }

    @Test func `the schedules contain every kind of rejection that their inputs can cause`() throws {
        var codes: Set<ReplyCode> = []
        for seed in UInt64(1)...15 {
            let effects = try self.runSteps(self.steps(600, seed: seed), abortingWith: nil).effects
            for case .reply(let reply) in effects {
                if case .failure(let error) = reply.outcome { codes.insert(error.code) }
            }
        }
        let expected: Set<ReplyCode> = [
            .noSuchRoom, .staleTicket, .roomMuted, .userMuted, .tooFrequent, .droppedByBudget, .sensitiveWords,
            .notOnSeat,
        ]
        #expect(expected.subtracting(codes).isEmpty)
        #expect(codes.contains { (102_100..<102_190).contains($0.code) }, "expected errors of the app's backend")
    }

    @Test(arguments: [1, 2, 100, 10_000]) func `I7 I9 the batch size does not change the effects`(
        batchSize: Int
    ) throws {
        let steps = self.steps(1_500, seed: 77)
        let withDefaultBatches = try self.runSteps(steps, abortingWith: nil)
        let withOtherBatches = try self.runSteps(steps, abortingWith: nil, batchSize: batchSize)
        #expect(withDefaultBatches.effects == withOtherBatches.effects)
        #expect(withDefaultBatches.rows.sortedKeys == withOtherBatches.rows.sortedKeys)
        for key in withDefaultBatches.rows.sortedKeys {
            #expect(withDefaultBatches.rows[key] == withOtherBatches.rows[key])
        }
        let feedClasses = Set(withDefaultBatches.effects.items.map(\.content.feedClass))
        #expect(feedClasses == Set(FeedClass.allCases), "expected a schedule with items of every class")
    }

    @Test(arguments: 1...15) func `I7 I1 any schedule numbers feed items without gaps and ends a feed at most once`(
        seed: UInt64
    ) throws {
        let effects = try self.runSteps(self.steps(1_500, seed: seed), abortingWith: nil).effects
        var lastPositions: [LiveKey: FeedPosition] = [:]
        var endedLives: Set<LiveKey> = []
        for item in effects.items {
            let previous = lastPositions[item.key]
            // Within an epoch the numbers are consecutive, and the end comes last. A new epoch begins with number 1.
            if let previous, previous.epoch == item.position.epoch {
                #expect(item.position.number == previous.number + 1)
                #expect(!endedLives.contains(item.key))
            } else {
                #expect(item.position.number == 1)
                #expect(item.position.epoch > previous?.epoch ?? 0)
                endedLives.remove(item.key)
            }
            lastPositions[item.key] = item.position
            if case .liveEnded = item.content { endedLives.insert(item.key) }
        }
        #expect(effects.items.count > 100, "expected a schedule that publishes items")
        // Every message whose reply names a position is in the feed at that position.
        let positions = Set(effects.items.map(\.position))
        for case .reply(let reply) in effects {
            if case .success(.sent(let position)) = reply.outcome { #expect(positions.contains(position)) }
        }
    }
}

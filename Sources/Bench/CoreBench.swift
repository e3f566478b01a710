// SPDX-License-Identifier: Apache-2.0
import BarrageCore
import CoreKit
import PlazaModel

/// How many messages a second of one core's time the fan-out's machine decides: rows, windows, effects and all.
enum CoreBench {
    static let benchmark = Benchmark(
        name: "barrage", summary: "messages per CPU second of the fan-out's machine, spread out and in one hot room",
        run: { try CoreBench.measure() })

    /// Fewest messages that a CPU second may decide: well above what reading and writing their records allows.
    private static let fewest = 100_000.0
    private static let rounds = 7

    private static func measure() throws -> BenchReport {
        let spread = try self.perSecond(Schedule(lives: 500, senders: 10, gapMilliseconds: 0.05))
        let hot = try self.perSecond(Schedule(lives: 1, senders: 1_000, gapMilliseconds: 0.1))
        return BenchReport(
            values: [
                ("spread_messages_per_second", spread.messages), ("spread_admitted_share", spread.admitted),
                ("hot_messages_per_second", hot.messages), ("hot_admitted_share", hot.admitted),
            ],
            isGood: min(spread.messages, hot.messages) >= self.fewest)
    }

    /// The median of some rounds, and which share of the messages entered.
    private static func perSecond(_ schedule: Schedule) throws -> (messages: Double, admitted: Double) {
        let inputs = schedule.inputs
        var rates: [Double] = []
        var admitted = 0.0
        for _ in 0..<self.rounds {
            let machine = BarrageMachine(policies: Policies())
            var rows = BarrageRows()
            var effects: [Effect] = []
            for live in 0..<schedule.lives {
                let opened = BarrageInput(schedule.key(live), .opened(epoch: 1, owner: "host"))
                machine.handle(opened, in: &rows, at: schedule.moment(0), into: &effects)
            }
            rows.commit()
            var sent = 0
            let start = threadCPUSeconds()
            for first in stride(from: 0, to: inputs.count, by: Schedule.batch) {
                effects.removeAll(keepingCapacity: true)
                for index in first..<min(first + Schedule.batch, inputs.count) {
                    let moment = schedule.moment(index)
                    machine.handleDue(in: &rows, at: moment, into: &effects)
                    machine.handle(inputs[index], in: &rows, at: moment, into: &effects)
                }
                sent += effects.count - Schedule.batch
                rows.commit()
            }
            rates.append(Double(inputs.count) / (threadCPUSeconds() - start))
            admitted = Double(sent) / Double(inputs.count)
            guard machine.ledger(of: rows).isBalanced else { throw BenchFailure(description: "the ledger is off") }
        }
        return (median(rates), admitted)
    }
}

/// Messages in the order and at the times in which they come.
private struct Schedule {
    /// Inputs of one transaction.
    static let batch = 1_000
    static let messages = 200_000

    var lives: Int
    /// Senders of each live.
    var senders: Int
    /// Milliseconds between two messages, of whatever live.
    var gapMilliseconds: Double

    func key(_ live: Int) -> LiveKey { LiveKey("demo", LiveID("live-\(live)")) }

    func moment(_ index: Int) -> Moment {
        let now = 1_700_000_000_000 + Int64(Double(index) * self.gapMilliseconds)
        return Moment(now: Timestamp(milliseconds: now), offset: Int64(index))
    }

    var inputs: [BarrageInput] {
        (0..<Self.messages).map { index in
            let sender = index / self.lives % self.senders
            let caller = Caller(
                user: UserInfo(userID: UserID("user-\(sender)"), userName: "User \(sender)"), role: .user,
                request: RequestID(session: SessionID("session-\(sender)"), counter: Int64(index)),
                replyTo: "gateway-1", ticket: Ticket(1))
            let text = BarrageCommand.sendText(text: "message \(index)", extensionInfo: nil, caller: caller)
            return BarrageInput(self.key(index % self.lives), text)
        }
    }
}

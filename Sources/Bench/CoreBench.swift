// SPDX-License-Identifier: Apache-2.0
import BarrageCore
import CoreKit
import PlazaModel

/// How many inputs a second of one core's time the fan-out's machine decides: rows, windows, effects, undo and all.
enum CoreBench {
    static let benchmark = Benchmark(
        name: "barrage",
        summary: "inputs per CPU second of the fan-out's machine, by kind, spread out and in one hot room",
        run: { try CoreBench.measure() })

    /// Fewest messages that a CPU second may decide, spread out or hot.
    private static let fewest = 1_000_000.0
    private static let rounds = BenchReport.rounds(7)

    private static func measure() throws -> BenchReport {
        var report = BenchReport()
        let only = CommandLine.arguments.dropFirst(2).first { !$0.hasPrefix("-") }
        for load in BarrageLoad.all where only == nil || only == load.name {
            let (rate, entered) = try self.perSecond(load)
            report.values.append(("\(load.name)_per_second", rate))
            report.values.append(("\(load.name)_nanoseconds", 1e9 / rate))
            report.values.append(("\(load.name)_items_share", entered))
            if load.isMessages, rate < self.fewest { report.isGood = false }
        }
        return report
    }

    /// The median of some rounds, and how many feed items there were for each input.
    private static func perSecond(_ load: BarrageLoad) throws -> (rate: Double, entered: Double) {
        var rates: [Double] = []
        var entered = 0.0
        for _ in 0..<self.rounds {
            var machine = BarrageMachine(policies: Policies(["demo": AppPolicy()]))
            machine.take(BarrageLoad.settings)
            var rows = BarrageRows()
            var effects: [Effect] = []
            for input in load.openings { machine.handle(input, in: &rows, at: load.moment(0), into: &effects) }
            rows.commit()
            var items = 0
            var seconds = 0.0
            for first in stride(from: 0, to: BarrageLoad.count, by: BarrageLoad.batch) {
                // As in the shell, where they have just been decoded.
                let inputs = load.inputs(first..<first + BarrageLoad.batch)
                let start = threadCPUSeconds()
                effects.removeAll(keepingCapacity: true)
                for (index, input) in inputs.enumerated() {
                    let moment = load.moment(first + index)
                    machine.handleDue(in: &rows, at: moment, into: &effects)
                    machine.handle(input, in: &rows, at: moment, into: &effects)
                }
                rows.commit()
                seconds += threadCPUSeconds() - start
                for effect in effects { if case .feed = effect { items += 1 } }
            }
            rates.append(Double(BarrageLoad.count) / seconds)
            entered = Double(items) / Double(BarrageLoad.count)
            guard machine.ledger(of: rows).isBalanced else { throw BenchFailure(description: "the ledger is off") }
        }
        return (median(rates), entered)
    }
}

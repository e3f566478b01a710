// SPDX-License-Identifier: Apache-2.0
import BarrageCore
import MachineKit
import PlazaModel

/// Measures how many inputs the fan-out's machine (`BarrageMachine`) handles in one CPU second, including rows,
/// idempotency windows, effects, and the undo records of each batch.
enum BarrageBench {
    static let benchmark = Benchmark(
        name: "barrage",
        summary: "inputs per CPU second of the fan-out's machine, by kind, spread out and in one hot live",
        run: { try BarrageBench.measure() })

    /// The target: the minimum number of messages per CPU second, both in many lives and in one busy live.
    private static let minimumRate = 1_000_000.0
    /// How often each load is measured; the report shows medians.
    private static let rounds = BenchReport.roundCount(default: 7)

    /// Measures all loads, or the one that the command line names.
    private static func measure() throws -> BenchReport {
        var report = BenchReport()
        // `bench barrage NAME` measures only the load with this name.
        let loadName = CommandLine.arguments.dropFirst(2).first { !$0.hasPrefix("-") }
        for load in BarrageLoad.all where loadName == nil || loadName == load.name {
            let (rate, itemsPerInput) = try self.measure(load)
            report.values.append(("\(load.name)_per_second", rate))
            report.values.append(("\(load.name)_nanoseconds", 1e9 / rate))
            // The keys of earlier reports must stay: `items_share` is the number of feed items per input.
            report.values.append(("\(load.name)_items_share", itemsPerInput))
            if load.isMessages, rate < self.minimumRate { report.reachesTarget = false }
        }
        return report
    }

    /// The median over the rounds of the inputs per CPU second, and the number of feed items per input.
    private static func measure(_ load: BarrageLoad) throws -> (rate: Double, itemsPerInput: Double) {
        var rates: [Double] = []
        var itemsPerInput = 0.0
        for _ in 0..<self.rounds {
            var machine = BarrageMachine(policies: Policies(["demo": AppPolicy()]))
            machine.updateSettings(BarrageLoad.settings)
            var rows = BarrageRows()
            var effects: [Effect] = []
            for input in load.openings { machine.handle(input, in: &rows, at: load.moment(0), into: &effects) }
            rows.commit()
            var itemCount = 0
            var seconds = 0.0
            for firstIndex in stride(from: 0, to: BarrageLoad.inputCount, by: BarrageLoad.batchSize) {
                // The inputs are created just before they are handled, as the shell decodes its inputs.
                let inputs = load.inputs(firstIndex..<firstIndex + BarrageLoad.batchSize)
                let start = threadCPUSeconds()
                effects.removeAll(keepingCapacity: true)
                for (index, input) in inputs.enumerated() {
                    let moment = load.moment(firstIndex + index)
                    machine.handleDue(in: &rows, at: moment, into: &effects)
                    machine.handle(input, in: &rows, at: moment, into: &effects)
                }
                rows.commit()
                seconds += threadCPUSeconds() - start
                for effect in effects { if case .feed = effect { itemCount += 1 } }
            }
            rates.append(Double(BarrageLoad.inputCount) / seconds)
            itemsPerInput = Double(itemCount) / Double(BarrageLoad.inputCount)
            guard Ledger(of: rows).isBalanced else {
                throw BenchFailure(description: "the ledger's counters do not add up")
            }
        }
        return (median(rates), itemsPerInput)
    }
}

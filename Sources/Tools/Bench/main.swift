// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The benchmarks by name; `bench NAME [--json] [--once]` runs one.
let benchmarks = [
    BarrageBench.benchmark, DirectoryBench.benchmark, SeatBench.benchmark, CoHostBench.benchmark,
    FrameBench.benchmark, FanoutBench.benchmark, IdleBench.benchmark,
]

/// The main functions of the child processes of benchmarks, by the first argument.
let childMains = ["receive": Receivers.run]

let arguments = Array(CommandLine.arguments.dropFirst())
if let name = arguments.first, let childMain = childMains[name] {
    childMain(Array(arguments.dropFirst()))
    exit(0)
}
guard let name = arguments.first, let benchmark = benchmarks.first(where: { $0.name == name }) else {
    print("usage: bench NAME [--json] [--once]\n")
    for benchmark in benchmarks { print("  \(benchmark.name)  \(benchmark.summary)") }
    exit(2)
}
do {
    let report = try benchmark.run()
    print(arguments.contains("--json") ? report.json : report.text)
    exit(report.reachesTarget ? 0 : 1)
} catch {
    print("\(name): \(error)")
    exit(1)
}

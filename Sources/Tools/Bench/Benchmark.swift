// SPDX-License-Identifier: Apache-2.0
import Glibc

/// One benchmark of the runner.
struct Benchmark: Sendable {
    /// The benchmark's name on the command line.
    let name: String
    /// What the benchmark measures, in one line.
    let summary: String
    /// Runs the measurement.
    let run: @Sendable () throws -> BenchReport
}

/// The results of a benchmark, in the order in which they are printed.
struct BenchReport {
    /// Names with values; units are part of the names.
    var values: [(name: String, value: Double)] = []
    /// Whether the results reach the benchmark's target.
    var reachesTarget = true

    /// The number of rounds whose median is reported: `defaultCount`, or 1 with the option `--once`, for a profiler.
    static func roundCount(default defaultCount: Int) -> Int {
        CommandLine.arguments.contains("--once") ? 1 : defaultCount
    }

    /// One JSON object with all values, and `good`: whether the results reach the target.
    var json: String {
        let members =
            self.values.map { "\"\($0.name)\": \(Self.number($0.value))" } + ["\"good\": \(self.reachesTarget)"]
        return "{\(members.joined(separator: ", "))}"
    }

    /// A line for each value, and one for `good`.
    var text: String {
        (self.values.map { "\($0.name): \(Self.number($0.value))" } + ["good: \(self.reachesTarget)"]).joined(
            separator: "\n")
    }

    /// The value as text: a whole number, or rounded to three decimals.
    ///
    /// Below 1e15 a `Double` holds every whole number exactly.
    private static func number(_ value: Double) -> String {
        value == value.rounded() && abs(value) < 1e15 ? String(Int(value)) : String((value * 1_000).rounded() / 1_000)
    }
}

/// The time of a benchmark's first input, in milliseconds since 1970; any time would do.
let firstInputMilliseconds: Int64 = 1_700_000_000_000

/// Why a benchmark produced no results.
struct BenchFailure: Error, CustomStringConvertible {
    let description: String
}

/// The median; for an even number of values, the upper one of the two middle values.
func median(_ values: [Double]) -> Double {
    values.isEmpty ? 0 : values.sorted()[values.count / 2]
}

/// CPU seconds that the calling thread has used.
func threadCPUSeconds() -> Double {
    var time = timespec()
    unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

/// Raises the process's limit of open descriptors as far as the system allows.
func raiseDescriptorLimit() {
    var limit = rlimit()
    if unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) != 0 { return }
    limit.rlim_cur = limit.rlim_max
    unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
}

// SPDX-License-Identifier: Apache-2.0
import Glibc

/// One benchmark of the runner.
struct Benchmark: Sendable {
    /// What it is called on the command line.
    let name: String
    /// What it measures, in a line.
    let summary: String
    /// Measures.
    let run: @Sendable () throws -> BenchReport
}

/// What a benchmark found, in the order in which it is printed.
struct BenchReport {
    /// Names with values; units are part of the names.
    var values: [(name: String, value: Double)] = []
    /// Whether the benchmark's own limit was kept.
    var isGood = true

    /// How often what is measured is run: `usual` times, of which the median counts; once for a profiler (`--once`).
    static func rounds(_ usual: Int) -> Int { CommandLine.arguments.contains("--once") ? 1 : usual }

    /// One object with the names.
    var json: String {
        let members = self.values.map { "\"\($0.name)\": \(Self.number($0.value))" } + ["\"good\": \(self.isGood)"]
        return "{\(members.joined(separator: ", "))}"
    }

    /// A line for each value.
    var text: String {
        (self.values.map { "\($0.name): \(Self.number($0.value))" } + ["good: \(self.isGood)"]).joined(separator: "\n")
    }

    private static func number(_ value: Double) -> String {
        value == value.rounded() && abs(value) < 1e15 ? String(Int(value)) : String((value * 1_000).rounded() / 1_000)
    }
}

/// Why a benchmark gave no figures.
struct BenchFailure: Error, CustomStringConvertible {
    let description: String
}

/// The middle of an odd number of values, or near it.
func median(_ values: [Double]) -> Double {
    values.isEmpty ? 0 : values.sorted()[values.count / 2]
}

/// CPU seconds that the calling thread has used.
func threadCPUSeconds() -> Double {
    var time = timespec()
    unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

/// Lets the process have as many descriptors as the system allows it.
func raiseDescriptorLimit() {
    var limit = rlimit()
    if unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) != 0 { return }
    limit.rlim_cur = limit.rlim_max
    unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
}

// SPDX-License-Identifier: Apache-2.0
internal import Concurrency

/// All metrics of a process, by name and labels.
///
/// Asking again with the same name and labels gives the same instrument; keep it, for asking takes a lock. Labels are
/// bounded: when a name has `seriesLimit` sets of them, all further sets share one instrument whose values are `other`.
/// A name is a constant of ours (`MetricNames`): a malformed one, or one used for two kinds, is a programming error.
package final class MetricsRegistry: Sendable {
    private let state = Locked<State>(State())
    private let seriesLimit: Int

    /// Makes an empty registry.
    ///
    /// - Parameter seriesLimit: how many sets of labels a name may have.
    package init(seriesLimit: Int = 200) { self.seriesLimit = seriesLimit }

    /// The counter of this name and these labels; its name ends in `_total`.
    package func counter(_ name: String, help: String, labels: [String: String] = [:]) -> Counter {
        let instrument = self.instrument(name, help, .counter, labels) { .counter(Counter()) }
        guard case .counter(let counter) = instrument else { return Counter() }
        return counter
    }

    /// The gauge of this name and these labels.
    package func gauge(_ name: String, help: String, labels: [String: String] = [:]) -> Gauge {
        let instrument = self.instrument(name, help, .gauge, labels) { .gauge(Gauge()) }
        guard case .gauge(let gauge) = instrument else { return Gauge() }
        return gauge
    }

    /// The distribution of times of this name and these labels; its name ends in `_seconds`.
    package func timing(_ name: String, help: String, labels: [String: String] = [:]) -> Timing {
        let instrument = self.instrument(name, help, .histogram, labels) { .timing(Timing()) }
        guard case .timing(let timing) = instrument else { return Timing() }
        return timing
    }

    /// Exports what `read` gives whenever the metrics are asked for; a later call with the same labels replaces it.
    ///
    /// `read` is called on the thread that serves the metrics, without a lock of ours held.
    package func observe(
        _ name: String, help: String, kind: MetricKind = .gauge, labels: [String: String] = [:],
        read: @escaping @Sendable () -> Double
    ) {
        _ = self.instrument(name, help, kind, labels, replaces: true) { .callback(read) }
    }

    /// All metrics now, by name and then by labels.
    package func snapshot() -> [MetricFamily] {
        let families = self.state.withLock { $0.families }
        return families.sorted { $0.key < $1.key }.map { name, family in
            let samples = family.series.sorted { $0.key < $1.key }.map { labels, instrument in
                MetricSample(labels: labels, value: instrument.value)
            }
            return MetricFamily(name: name, help: family.help, kind: family.kind, samples: samples)
        }
    }

    private func instrument(
        _ name: String, _ help: String, _ kind: MetricKind, _ labels: [String: String], replaces: Bool = false,
        make: () -> Instrument
    ) -> Instrument {
        precondition(Self.isValid(name), "a metric cannot be named '\(name)'")
        let key = MetricLabels(labels)
        let made = make()
        let limit = self.seriesLimit
        return self.state.withLock { state in
            var family = state.families[name] ?? Family(help: help, kind: kind)
            precondition(family.kind == kind, "the metric '\(name)' is used as two kinds")
            let isNew = family.series[key] == nil
            let slot = isNew && family.series.count >= limit ? key.overflow : key
            if !replaces, let known = family.series[slot] { return known }
            family.series[slot] = made
            state.families[name] = family
            return made
        }
    }

    /// Whether `name` is snake case from the letters that every metrics store takes.
    private static func isValid(_ name: String) -> Bool {
        guard let first = name.utf8.first, (97...122).contains(first) else { return false }
        return name.utf8.allSatisfy { (97...122).contains($0) || (48...57).contains($0) || $0 == 95 }
    }

    private struct State {
        var families: [String: Family] = [:]
    }

    private struct Family {
        var help: String
        var kind: MetricKind
        var series: [MetricLabels: Instrument] = [:]
    }

    private enum Instrument: Sendable {
        case counter(Counter)
        case gauge(Gauge)
        case timing(Timing)
        case callback(@Sendable () -> Double)

        var value: MetricValue {
            switch self {
            case .counter(let counter): .number(Double(counter.value))
            case .gauge(let gauge): .number(Double(gauge.value))
            case .timing(let timing): .histogram(timing.histogram)
            case .callback(let read): .number(read())
            }
        }
    }
}

/// What a metric's values mean.
package enum MetricKind: String, Sendable {
    /// Only grows.
    case counter
    /// Goes up and down.
    case gauge
    /// A distribution of times.
    case histogram
}

/// A set of labels in the order in which it is written.
package struct MetricLabels: Sendable, Hashable, Comparable {
    /// Names and values, sorted by name.
    package let pairs: [Pair]

    /// Sorts `labels`.
    package init(_ labels: [String: String]) {
        self.pairs = labels.map { Pair(name: $0.key, value: $0.value) }.sorted { $0.name < $1.name }
    }

    /// The set that stands for all that came beyond the limit.
    var overflow: MetricLabels {
        MetricLabels(Dictionary(self.pairs.map { ($0.name, "other") }) { first, _ in first })
    }

    /// Orders by names and values.
    package static func < (a: MetricLabels, b: MetricLabels) -> Bool {
        a.pairs.lexicographicallyPrecedes(b.pairs) { ($0.name, $0.value) < ($1.name, $1.value) }
    }

    /// One label.
    package struct Pair: Sendable, Hashable {
        /// The label's name.
        package let name: String
        /// The label's value.
        package let value: String
    }
}

/// All series of one name at one moment.
package struct MetricFamily: Sendable {
    /// The name.
    package let name: String
    /// What it tells, in a sentence.
    package let help: String
    /// What the values mean.
    package let kind: MetricKind
    /// The series, by labels.
    package let samples: [MetricSample]
}

/// One series at one moment.
package struct MetricSample: Sendable {
    /// Its labels.
    package let labels: MetricLabels
    /// Its value.
    package let value: MetricValue
}

/// A number or a distribution.
package enum MetricValue: Sendable, Equatable {
    /// A plain number.
    case number(Double)
    /// A distribution in microseconds.
    case histogram(Histogram)
}

// SPDX-License-Identifier: Apache-2.0
internal import Concurrency

/// All metrics of a process, by name and labels.
///
/// The same name and labels always return the same instrument. Callers should store the instrument, because a look-up
/// takes a lock.
///
/// The number of series is bounded: when a name has `seriesLimit` sets of labels, all further sets share one instrument
/// whose label values are `other`.
///
/// Names are constants (`MetricNames`). A malformed name, or a name that is used for two kinds of metric, is a
/// programming error and traps.
package final class MetricsRegistry: Sendable {
    private let state = Locked<State>(State())
    private let seriesLimit: Int

    /// Makes an empty registry.
    ///
    /// - Parameter seriesLimit: the maximum number of label sets of a name.
    package init(seriesLimit: Int = 200) { self.seriesLimit = seriesLimit }

    /// The counter with this name and these labels; its name ends in `_total`.
    package func counter(_ name: String, help: String, labels: [String: String] = [:]) -> Counter {
        let instrument = self.instrument(name, help, .counter, labels) { .counter(Counter()) }
        // The labels may belong to a callback of `observe`. The new counter is then not exported. The same holds in
        // `gauge` and `timing`.
        guard case .counter(let counter) = instrument else { return Counter() }
        return counter
    }

    /// The gauge with this name and these labels.
    package func gauge(_ name: String, help: String, labels: [String: String] = [:]) -> Gauge {
        let instrument = self.instrument(name, help, .gauge, labels) { .gauge(Gauge()) }
        guard case .gauge(let gauge) = instrument else { return Gauge() }
        return gauge
    }

    /// The distribution of times with this name and these labels; its name ends in `_seconds`.
    package func timing(_ name: String, help: String, labels: [String: String] = [:]) -> Timing {
        let instrument = self.instrument(name, help, .histogram, labels) { .timing(Timing()) }
        guard case .timing(let timing) = instrument else { return Timing() }
        return timing
    }

    /// Exports the result of `read` at each scrape; a later call with the same name and labels replaces `read`.
    ///
    /// `read` is called on the thread that serves the metrics; the registry holds no lock during the call.
    package func observe(
        _ name: String, help: String, kind: MetricKind = .gauge, labels: [String: String] = [:],
        read: @escaping @Sendable () -> Double
    ) {
        _ = self.instrument(name, help, kind, labels, replaces: true) { .callback(read) }
    }

    /// The current metrics, sorted by name and labels.
    package func snapshot() -> [MetricFamily] {
        let families = self.state.withLock { $0.families }
        return families.sorted { $0.key < $1.key }.map { name, family in
            let samples = family.series.sorted { $0.key < $1.key }.map { labels, instrument in
                MetricSample(labels: labels, value: instrument.value)
            }
            return MetricFamily(name: name, help: family.help, kind: family.kind, samples: samples)
        }
    }

    /// Returns the instrument for a name and labels, and makes it if there is none yet or `replaces` is true.
    private func instrument(
        _ name: String, _ help: String, _ kind: MetricKind, _ labels: [String: String], replaces: Bool = false,
        make: () -> Instrument
    ) -> Instrument {
        precondition(Self.isValid(name), "the metric name '\(name)' is not in snake case")
        let key = MetricLabels(labels)
        let newInstrument = make()
        let limit = self.seriesLimit
        return self.state.withLock { state in
            var family = state.families[name] ?? Family(help: help, kind: kind)
            precondition(family.kind == kind, "the metric '\(name)' is used as \(family.kind) and as \(kind)")
            let isNew = family.series[key] == nil
            let seriesKey = isNew && family.series.count >= limit ? key.overflow : key
            if !replaces, let existing = family.series[seriesKey] { return existing }
            family.series[seriesKey] = newInstrument
            state.families[name] = family
            return newInstrument
        }
    }

    /// Whether `name` is in snake case with ASCII letters, which every metrics store accepts.
    private static func isValid(_ name: String) -> Bool {
        let letters = UInt8(ascii: "a")...UInt8(ascii: "z")
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        guard let first = name.utf8.first, letters.contains(first) else { return false }
        return name.utf8.allSatisfy { letters.contains($0) || digits.contains($0) || $0 == UInt8(ascii: "_") }
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

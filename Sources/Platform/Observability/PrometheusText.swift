// SPDX-License-Identifier: Apache-2.0

/// Metrics in Prometheus's text format, version 0.0.4.
package enum PrometheusText {
    /// The content type to serve the text with.
    package static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    /// The upper bounds of the buckets of times, in microseconds: 1, 2 and 5 times each power of ten, from 100 µs to
    /// 50 s.
    static let bucketBounds = (2...7).flatMap { exponent in
        let unit = (0..<exponent).reduce(1) { product, _ in product * 10 }
        return [unit, unit * 2, unit * 5]
    }

    /// The text of all metrics in `registry`.
    package static func render(_ registry: MetricsRegistry) -> String { self.render(registry.snapshot()) }

    /// The text of `families`.
    package static func render(_ families: [MetricFamily]) -> String {
        var text = ""
        for family in families {
            text += "# HELP \(family.name) \(self.escapedHelp(family.help))\n"
            text += "# TYPE \(family.name) \(family.kind.rawValue)\n"
            for sample in family.samples { self.append(sample, of: family.name, to: &text) }
        }
        return text
    }

    private static func append(_ sample: MetricSample, of name: String, to text: inout String) {
        let labels = sample.labels.pairs.map { "\($0.name)=\"\(self.escapedLabel($0.value))\"" }
        let labelSet = labels.isEmpty ? "" : "{\(labels.joined(separator: ","))}"
        switch sample.value {
        case .number(let number):
            text += "\(name)\(labelSet) \(self.number(number))\n"
        case .histogram(let histogram):
            for bound in self.bucketBounds {
                let bucketLabels = (labels + ["le=\"\(self.number(Double(bound) / 1e6))\""]).joined(separator: ",")
                text += "\(name)_bucket{\(bucketLabels)} \(histogram.count(upTo: bound))\n"
            }
            let bucketLabels = (labels + ["le=\"+Inf\""]).joined(separator: ",")
            text += "\(name)_bucket{\(bucketLabels)} \(histogram.count)\n"
            text += "\(name)_sum\(labelSet) \(self.number(Double(histogram.sum) / 1e6))\n"
            text += "\(name)_count\(labelSet) \(histogram.count)\n"
        }
    }

    /// A number in Prometheus's format.
    private static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        return Int(exactly: value).map(\.description) ?? value.description
    }

    private static func escapedHelp(_ text: String) -> String {
        text.reduce(into: "") { result, character in
            switch character {
            case "\\": result += "\\\\"
            case "\n", "\r\n": result += "\\n"
            default: result.append(character)
            }
        }
    }

    private static func escapedLabel(_ text: String) -> String {
        text.reduce(into: "") { result, character in
            switch character {
            case "\\": result += "\\\\"
            case "\"": result += "\\\""
            case "\n", "\r\n": result += "\\n"
            default: result.append(character)
            }
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

/// The samples of a page in the text format of Prometheus.
package struct MetricsPage: Sendable {
    /// The values; each key is a sample's name with its labels, as the page writes them.
    package let values: [String: Double]

    /// Parses a page; comments and malformed lines are skipped.
    package init(_ text: String) {
        var values: [String: Double] = [:]
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            guard let space = line.lastIndex(of: " "), let value = Double(line[line.index(after: space)...]) else {
                continue
            }
            values[String(line[..<space])] = value
        }
        self.values = values
    }
}

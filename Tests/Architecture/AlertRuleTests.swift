// SPDX-License-Identifier: Apache-2.0
import Foundation
import Repository
import Testing

/// Tests that the alert rules of `deploy/observe` name existing metrics, and that each alert has a test and a runbook.
@Suite struct AlertRuleTests {
    /// The prefixes of the names of all metrics that the programs export.
    private static let prefixes = [
        "shell", "kafka", "redis", "webhooks", "http", "gateway", "barrage", "audience", "process",
    ]

    /// The names of metrics in an expression or a series: words with one of the prefixes.
    ///
    /// The ending that Prometheus adds to a histogram's name, such as `_bucket`, is left out.
    static func metrics(in text: String) -> Set<String> {
        // A text in quotes is a label's value or a path.
        let unquoted = text.replacing(/"[^"]*"/, with: "\"\"")
        let words = unquoted.matches(of: /[a-z][a-z0-9_]*/).map { String($0.output) }
        let metricNames = words.filter { word in Self.prefixes.contains { word.hasPrefix("\($0)_") } }
        return Set(
            metricNames.map { name in
                for ending in ["_bucket", "_sum", "_count"] where name.hasSuffix(ending) {
                    return String(name.dropLast(ending.count))
                }
                return name
            })
    }

    /// The expressions of a file of rules, each as one line, even if the file folds it over several lines.
    ///
    /// A folded expression begins with YAML's mark `>-`, which stays.
    private static func expressions(_ text: String) -> [String] {
        var found: [String] = []
        var isFolded = false
        for line in text.split(separator: "\n") {
            let words = line.drop { $0 == " " || $0 == "-" }
            if words.hasPrefix("expr: ") {
                isFolded = words.hasSuffix(">-")
                found.append(String(words.dropFirst("expr: ".count)))
            } else if isFolded, !words.contains(": ") {
                found[found.count - 1] += " \(words)"
            } else {
                isFolded = false
            }
        }
        return found
    }

    /// Each quoted text of the sources that has the form of a metric's name.
    private static let exported: Set<String> = {
        var found: Set<String> = []
        for file in SourceTree.sources {
            for (_, text) in file.code {
                for match in text.matches(of: /"([a-z][a-z0-9_]*)"/) { found.insert(String(match.output.1)) }
            }
        }
        return found
    }()

    @Test func `the names of metrics are found in an expression`() {
        let text = #"sum by (le) (rate(redis_pipeline_seconds_bucket{a="kafka_x"}[1m])) > 10 * shell_ready"#
        #expect(Self.metrics(in: text) == ["redis_pipeline_seconds", "shell_ready"])
        #expect(Self.expressions("- expr: >-\n    a\n    > b\n  for: 2m\n  - expr: c") == [">- a > b", "c"])
    }

    @Test func `each alert rule names metrics that the programs export`() throws {
        let rules = Self.expressions(try Repository.text("deploy/observe/alerts.yml"))
        #expect(rules.count >= 9, "most rules were not recognized")
        for rule in rules {
            let names = Self.metrics(in: rule)
            // Prometheus itself makes the metric `up`.
            #expect(!names.isEmpty || rule.contains("up{job="), "\(rule)")
            for name in names { #expect(Self.exported.contains(name), "\(name) is exported by nobody: \(rule)") }
        }
    }

    @Test func `each alert has a test`() throws {
        let names = try Repository.text("deploy/observe/alerts.yml").matches(of: /- alert: ([A-Za-z]+)/)
            .map { String($0.output.1) }
        #expect(names.count >= 9, "most alerts were not recognized")
        #expect(Set(names).count == names.count, "each alert must have a name of its own")
        let tests = try Repository.text("deploy/observe/alerts.test.yml")
        for name in names {
            #expect(tests.contains("\"\(name)\"") || tests.contains("alertname: \(name)"), "\(name) has no test")
        }
    }

    @Test func `each alert has a section of the runbook: what it means, what to look at, what to do`() throws {
        let rules = try Repository.text("deploy/observe/alerts.yml")
        let names = Set(rules.matches(of: /- alert: ([A-Za-z]+)/).map { String($0.output.1) })
        #expect(names.count >= 9, "most alerts were not recognized")
        let runbook = try DocumentPage("OPERATING").sections.filter { $0.number.hasPrefix("5.") }
        for name in names {
            let section = runbook.first { $0.title == name }
            let text = (section?.lines ?? []).joined(separator: "\n").lowercased()
            #expect(text.contains("means: "), "\(name) has no section that says what it means")
            #expect(text.contains("look at") && text.contains("do "), "\(name): no word on what to look at or do")
        }
        // A title of one word must be the name of an alert.
        for section in runbook where !section.title.contains(" ") {
            #expect(names.contains(section.title), "\(section.number) \(section.title) is no alert")
        }
    }
}

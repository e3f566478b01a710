// SPDX-License-Identifier: Apache-2.0
internal import Foundation

/// The report of a scale test: costs of work, and what was seen while the number of instances changed.
package struct ScaleReport: Sendable, Encodable {
    package var services: [ServiceScale] = []
    /// The reason why the run ended early; nil if it ran to its end.
    ///
    /// After an early end, `services` has the results until then.
    package var error: String?

    package init(services: [ServiceScale] = []) { self.services = services }

    /// All faults, in the order of the services.
    package var findings: [ScaleFinding] { self.services.flatMap(\.findings) }
    package var isPassed: Bool { !self.services.isEmpty && self.findings.isEmpty && self.error == nil }

    private enum CodingKeys: String, CodingKey {
        case services, findings, error
        case isPassed = "passed"
    }

    package func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(self.services, forKey: .services)
        try values.encode(self.findings, forKey: .findings)
        try values.encode(self.isPassed, forKey: .isPassed)
        try values.encodeIfPresent(self.error, forKey: .error)
    }

    /// The report as JSON.
    package var json: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }

    /// The report for people: the tables, and below them each promise with its verdict.
    package var text: String {
        let findings = self.findings
        var lines = [self.table, ""]
        for promise in ScalePromise.allCases {
            let broken = findings.filter { $0.promise == promise }
            let verdict = !broken.isEmpty ? "BROKEN" : self.isTested(promise) ? "held" : "not tested"
            lines.append("\(verdict): \(promise.text)")
            lines += broken.map { "    \($0.text)" }
        }
        lines.append("")
        if let error = self.error { lines.append("FAILED: the run ended early. \(error)") }
        lines.append(self.isPassed ? "Every promise held." : "FAILED: see the promises above.")
        return lines.joined(separator: "\n")
    }

    /// Whether the run did something that could have broken the promise, such as adding an instance.
    private func isTested(_ promise: ScalePromise) -> Bool {
        let changes = self.services.flatMap(\.changes)
        return switch promise {
        case .answers, .cost: self.services.contains { !$0.steps.isEmpty }
        case .loss, .repetition, .order, .presence: !changes.isEmpty
        case .oneOrder: changes.contains { $0.comparedGateways > 1 && $0.comparedMessages > 0 }
        case .spread: changes.contains { !$0.spreads.isEmpty }
        case .stickiness: changes.contains { !$0.moves.isEmpty }
        case .pause: changes.contains(where: \.isAddition)
        }
    }

    /// Two tables in Markdown: the cost of a unit of work, and the effects of changes of the number of instances.
    ///
    /// | column | meaning | | --- | --- | | to one instance | the cost of a unit of work relative to its cost with one
    /// instance | | partitions | for each machine, how many partitions each instance owns after the change | | moved |
    /// for each machine and added instance: partitions moved / taken by that instance / maximum that may move | | one
    /// order | messages that viewers of a live compared, and on how many gateways the viewers were |
    package var table: String {
        var lines = [
            "| service (unit) | instances | units a second | of each instance | CPU µs a unit | to one instance |",
            "| --- | --- | --- | --- | --- | --- |",
        ]
        for service in self.services { lines += service.steps.map { service.row(of: $0) } }
        lines += [
            "", "| service | instances | partitions | moved | pause ms | lost, repeated, reordered | one order |",
            "| --- | --- | --- | --- | --- | --- | --- |",
        ]
        for service in self.services { lines += service.changes.map { service.row(of: $0) } }
        return lines.joined(separator: "\n")
    }
}

extension ServiceScale {
    /// The row of a step in the table of costs.
    fileprivate func row(of step: ScaleStep) -> String {
        let cost = step.cpuPerUnit.map { "\(Int($0.rounded()))" } ?? "–"
        let ratio = self.costRatio(of: step).map { String(format: "%.2f", $0) } ?? "–"
        let rateOfEach = step.rate / Double(max(1, step.instances))
        return "| \(self.load.title) (\(self.unit)) | \(step.instances) | \(Int(step.rate.rounded())) | "
            + "\(Int(rateOfEach.rounded())) | \(cost) | \(ratio) |"
    }

    /// The row of a change in the table of changes.
    fileprivate func row(of change: ScaleChange) -> String {
        func list(_ parts: [String]) -> String { parts.isEmpty ? "–" : parts.joined(separator: "; ") }
        return "| \(self.load.title) | \(change.instancesText) | \(list(change.spreads.map(\.text))) | "
            + "\(list(change.moves.map(\.text))) | \(Int(change.pauseMilliseconds)) | "
            + "\(change.lost), \(change.repeated), \(change.reordered) | "
            + "\(change.comparedMessages) on \(change.comparedGateways) |"
    }
}

// SPDX-License-Identifier: Apache-2.0
internal import Foundation

/// What was measured with one number of instances of a service.
package struct ScaleStep: Sendable, Encodable {
    package var instances: Int
    /// The units of work in the measured time, such as acknowledged calls.
    package var work: Int
    package var seconds: Double
    /// Processor time of all instances, minus what the same instances use in the same time without load.
    package var cpuSeconds: Double
    /// The longest pause of a feed while instances were added, in milliseconds; 0 for the first step.
    package var pauseMilliseconds: Double
    /// What was lost, repeated or reordered during the step, and any other fault; empty if there was none.
    package var findings: [String]

    package init(
        instances: Int, work: Int, seconds: Double, cpuSeconds: Double, pauseMilliseconds: Double, findings: [String]
    ) {
        self.instances = instances
        self.work = work
        self.seconds = seconds
        self.cpuSeconds = cpuSeconds
        self.pauseMilliseconds = pauseMilliseconds
        self.findings = findings
    }

    /// Processor time per unit of work, in microseconds; nil without work.
    package var cpuPerUnit: Double? { self.work > 0 ? self.cpuSeconds * 1e6 / Double(self.work) : nil }
}

/// The steps of one service.
package struct ServiceScale: Sendable, Encodable {
    package var service: String
    /// What a unit of work is.
    package var unit: String
    package var steps: [ScaleStep]

    package init(service: String, unit: String, steps: [ScaleStep] = []) {
        self.service = service
        self.unit = unit
        self.steps = steps
    }

    /// The processor time per unit of a step, relative to one instance; nil if one of the two did no work.
    package func ratio(_ step: ScaleStep) -> Double? {
        guard let one = self.steps.first?.cpuPerUnit, one > 0, let now = step.cpuPerUnit else { return nil }
        return now / one
    }

    /// The faults of all steps and the limits that they exceed, one sentence each.
    package var findings: [String] {
        self.steps.flatMap { step in
            var findings = step.findings
            if let ratio = self.ratio(step), ratio > ScaleReport.maxCostRatio {
                findings.append(
                    "a unit of work costs \(Int((ratio * 100).rounded())) % of its cost with one instance, more than "
                        + "\(Int((ScaleReport.maxCostRatio * 100).rounded())) %")
            }
            if step.pauseMilliseconds > ScaleReport.maxPauseMilliseconds {
                findings.append(
                    "a feed paused for \(Int(step.pauseMilliseconds)) ms while instances were added, more than "
                        + "\(Int(ScaleReport.maxPauseMilliseconds)) ms")
            }
            if step.work == 0 { findings.append("no unit of work was done") }
            return findings.map { "\(self.service) with \(step.instances): \($0)" }
        }
    }
}

/// The results of a run.
package struct ScaleReport: Sendable, Encodable {
    package var services: [ServiceScale] = []

    package init(services: [ServiceScale] = []) { self.services = services }

    /// The limit of the processor time per unit of work, relative to one instance.
    static let maxCostRatio = 1.15
    /// The limit of a feed's pause while an instance is added, in milliseconds.
    static let maxPauseMilliseconds = 500.0

    package var findings: [String] { self.services.flatMap(\.findings) }
    package var isPassed: Bool { !self.services.isEmpty && self.findings.isEmpty }

    /// The report as JSON.
    package var json: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }

    /// The report as a table in Markdown, with the findings below.
    ///
    /// The column "to one instance" is the cost of a unit of work relative to its cost with one instance.
    package var table: String {
        var lines = [
            "| service | instances | units a second | CPU µs a unit | to one instance | pause ms |",
            "| --- | --- | --- | --- | --- | --- |",
        ]
        for service in self.services {
            for step in service.steps {
                let rate = step.seconds > 0 ? Double(step.work) / step.seconds : 0
                let cost = step.cpuPerUnit.map { "\(Int($0.rounded()))" } ?? "–"
                let ratio = service.ratio(step).map { String(format: "%.2f", $0) } ?? "–"
                lines.append(
                    "| \(service.service) (\(service.unit)) | \(step.instances) | \(Int(rate.rounded())) | \(cost) | "
                        + "\(ratio) | \(Int(step.pauseMilliseconds)) |")
            }
        }
        let findings = self.findings
        lines.append("")
        lines += findings.isEmpty ? ["Every promise held."] : ["FAILED:"] + findings.map { "    \($0)" }
        return lines.joined(separator: "\n")
    }
}

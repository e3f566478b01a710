// SPDX-License-Identifier: Apache-2.0
internal import Foundation

/// What was measured with one number of instances of a service.
package struct ScaleStep: Sendable, Encodable {
    package var instances: Int
    /// The number of units of work, which are acknowledged calls, in the measured time.
    package var work: Int
    package var seconds: Double
    /// The processor time of all instances, minus the time that they would have used without load.
    package var cpuSeconds: Double
    /// The longest pause of a feed while instances were added, in milliseconds; 0 for the first step.
    package var pauseMilliseconds: Double
    /// The faults during the step, one sentence each, such as lost, repeated or reordered messages.
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
    /// What a unit of work is, such as `messages`.
    package var unit: String
    package var steps: [ScaleStep]

    package init(service: String, unit: String, steps: [ScaleStep] = []) {
        self.service = service
        self.unit = unit
        self.steps = steps
    }

    /// The processor time per unit in a step, relative to the first step, which has one instance.
    ///
    /// - Returns: nil if either step did no work.
    package func costRatio(of step: ScaleStep) -> Double? {
        guard let reference = self.steps.first?.cpuPerUnit, reference > 0, let cost = step.cpuPerUnit else {
            return nil
        }
        return cost / reference
    }

    /// The faults of all steps, including exceeded limits, one sentence each.
    package var findings: [String] {
        self.steps.flatMap { step in
            var findings = step.findings
            if let ratio = self.costRatio(of: step), ratio > ScaleReport.maxCostRatio {
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

    /// The maximum processor time per unit of work, relative to the time with one instance.
    static let maxCostRatio = 1.15
    /// The maximum pause of a feed while instances are added, in milliseconds.
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
                let ratio = service.costRatio(of: step).map { String(format: "%.2f", $0) } ?? "–"
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

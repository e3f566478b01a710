// SPDX-License-Identifier: Apache-2.0
internal import ClusterKit

/// A step of a scale test: the cost of a unit of work with a certain number of instances of a service.
package struct ScaleStep: Sendable, Encodable {
    package var instances: Int
    /// The number of units of work, which are acknowledged calls, in the measured time.
    package var work: Int
    package var seconds: Double
    /// The processor time of all instances, minus the time that they would have used without load.
    package var cpuSeconds: Double
    /// The faults that were seen in the step, such as rejected calls.
    package var findings: [ScaleFinding]

    package init(instances: Int, work: Int, seconds: Double, cpuSeconds: Double, findings: [ScaleFinding] = []) {
        self.instances = instances
        self.work = work
        self.seconds = seconds
        self.cpuSeconds = cpuSeconds
        self.findings = findings
    }

    /// Processor time per unit of work, in microseconds; nil without work.
    package var cpuPerUnit: Double? { self.work > 0 ? self.cpuSeconds * 1e6 / Double(self.work) : nil }

    /// Units of work per second.
    package var rate: Double { self.seconds > 0 ? Double(self.work) / self.seconds : 0 }
}

/// The results of one kind of work, with each number of instances of the service that does it.
package struct ServiceScale: Sendable, Encodable {
    package let load: ScaleLoad
    /// The name of the service's program.
    package let service: String
    /// What a unit of work is, such as `messages`.
    package let unit: String
    /// The costs, first with one instance.
    package var steps: [ScaleStep]
    /// The changes of the number of instances, in order.
    package var changes: [ScaleChange]

    package init(_ load: ScaleLoad, steps: [ScaleStep] = [], changes: [ScaleChange] = []) {
        self.load = load
        self.service = load.service.rawValue
        self.unit = load.unit
        self.steps = steps
        self.changes = changes
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

    /// The faults of all changes and steps; a step that costs too much is a fault, too.
    package var findings: [ScaleFinding] {
        let changes = self.changes.flatMap { change in
            change.allFindings.map { self.finding($0, change.instancesText) }
        }
        let steps = self.steps.flatMap { step in
            (step.findings + self.costFindings(of: step)).map { self.finding($0, "\(step.instances)") }
        }
        return changes + steps
    }

    /// A finding whose text begins with the work and the number of instances.
    private func finding(_ finding: ScaleFinding, _ instances: String) -> ScaleFinding {
        ScaleFinding(finding.promise, "\(self.load.title) with \(instances): \(finding.text)")
    }

    private func costFindings(of step: ScaleStep) -> [ScaleFinding] {
        if step.work == 0 { return [ScaleFinding(.answers, "no unit of work was done")] }
        // The cost is 0 if the calls used less than the resolution of the processor time, or if an idle instance used
        // as much time as the instance with calls.
        if self.steps.first?.cpuPerUnit == 0 {
            return [ScaleFinding(.cost, "one instance used no measurable processor time, so nothing can be compared")]
        }
        guard let ratio = self.costRatio(of: step), ratio > ScalePromise.maxCostRatio else { return [] }
        func percent(_ ratio: Double) -> String { "\(Int((ratio * 100).rounded())) %" }
        return [
            ScaleFinding(
                .cost,
                "a unit of work costs \(percent(ratio)) of its cost with one instance, more than "
                    + percent(ScalePromise.maxCostRatio))
        ]
    }
}

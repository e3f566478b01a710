// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel
import Testing

@testable import LoadKit

/// Tests of the incidents that a load run records: the first events behind each count of its report.
struct LoadIncidentTests {
    @Test func `the first incidents of each kind are kept`() {
        var incidents = LoadIncidents()
        for number in 1...LoadIncidents.maxPerKind + 3 {
            incidents.add(.missing, "viewer \(number)", in: LiveID("concert"), "lacks item \(number)")
        }
        incidents.add(.leaveTip, "viewer 0", in: LiveID("concert"), "is told that somebody left")
        #expect(incidents.firstOfEachKind.count == LoadIncidents.maxPerKind + 1)
        #expect(incidents.firstOfEachKind.first?.text == "lacks item 1")
        #expect(incidents.firstOfEachKind.last?.kind == .leaveTip)
        #expect(incidents.firstOfEachKind.allSatisfy { $0.at.milliseconds > 0 })
    }
}

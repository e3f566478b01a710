// SPDX-License-Identifier: Apache-2.0
package import MachineKit
package import Testing

/// A machine whose rows a test can check against the invariants.
package protocol CheckedMachine: Machine {
    /// Lists the violations of the invariants in the rows of one partition; empty when all hold.
    func violations(in rows: Journal<Key, Row>, at now: Timestamp) -> [String]
}

extension MachineHarness where M: CheckedMachine {
    /// Lists the violations of the invariants in the rows; empty when all hold.
    package var violations: [String] { self.machine.violations(in: self.rows, at: self.now) }

    /// Expects that the rows violate no invariant.
    package func expectInvariants(sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(self.violations == [], sourceLocation: sourceLocation)
    }
}

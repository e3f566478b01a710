// SPDX-License-Identifier: Apache-2.0
package import MachineKit

extension Machine {
    /// Handles the rows that are due at `moment`, then one input, as the service does; returns all effects.
    package func effects(
        of input: Input, in journal: inout Journal<Key, Row>, at moment: Moment
    ) -> [Effect] {
        var effects = self.effectsOfDueRows(in: &journal, at: moment)
        self.handle(input, in: &journal, at: moment, into: &effects)
        return effects
    }

    /// Handles the rows that are due at `moment`; returns the effects.
    package func effectsOfDueRows(in journal: inout Journal<Key, Row>, at moment: Moment) -> [Effect] {
        var effects: [Effect] = []
        self.handleDue(in: &journal, at: moment, into: &effects)
        return effects
    }
}

// SPDX-License-Identifier: Apache-2.0
package import MachineKit

extension Milliseconds {
    /// The milliseconds of a duration; a fraction is rounded up, so that a wait for the span is never too short.
    package init(roundingUp duration: Duration) {
        let whole = Milliseconds(duration)
        self = Duration(whole) < duration ? whole + Milliseconds(1) : whole
    }

    /// A random part of the span, rounded to a whole millisecond.
    ///
    /// `random`: a random number from 0 to below 1.
    func randomPart(_ random: Double) -> Milliseconds {
        Milliseconds(Int64((random * Double(self.count)).rounded()))
    }
}

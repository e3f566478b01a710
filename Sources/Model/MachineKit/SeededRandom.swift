// SPDX-License-Identifier: Apache-2.0

/// A random number generator (SplitMix64) whose numbers depend on its seed only, on every machine.
///
/// It is meant for tests, simulation, jitter and load. It must not be used for secrets.
@usableFromInline package struct SeededRandom: RandomNumberGenerator, Sendable {
    @usableFromInline var state: UInt64

    /// A generator that starts from `seed`.
    @inlinable package init(seed: UInt64) { self.state = seed }

    // The constants are those of SplitMix64.
    @inlinable package mutating func next() -> UInt64 {
        self.state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = self.state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

// SPDX-License-Identifier: Apache-2.0

/// Combining marks in texts of peers.
///
/// Swift compares and hashes strings by canonical equivalence. For that it sorts each run of combining marks by
/// insertion, which takes a time that grows with the square of the run's length: 32,000 marks took 0.4 s. Therefore a
/// text with a long run is rejected before anything compares or hashes the text. Unicode's stream-safe format (UAX #15,
/// section 13) has the same limit, which no writing system reaches.
extension String {
    /// The maximum number of combining marks in a row.
    package static var maxMarks: Int { 30 }

    /// Whether the text has more than `maxMarks` combining marks in a row; takes a time in proportion to its length.
    package var hasLongMarkRun: Bool {
        // Each combining mark has at least two bytes, so a shorter text cannot have too many.
        guard self.utf8.count > 2 * Self.maxMarks else { return false }
        var run = 0
        for scalar in self.unicodeScalars {
            run = Self.isMark(scalar) ? run + 1 : 0
            if run > Self.maxMarks { return true }
        }
        return false
    }

    /// Whether a scalar is a combining mark that Swift sorts when it compares strings.
    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        // The frequent scalars that are not marks (Latin letters, Chinese characters, Korean syllables) need no
        // look-up.
        case 0..<0x300, 0x4E00...0x9FFF, 0xAC00...0xD7A3: false
        default: scalar.properties.canonicalCombiningClass != .notReordered
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

/// The text of a load message: `#LP<sequence>:<due microseconds>#` and padding.
///
/// A receiver finds the message's number and due time in the frame's bytes, without parsing its JSON.
enum LoadMessage {
    /// Makes the text of a message.
    ///
    /// - Parameters:
    ///   - sequence: the message's number within its live.
    ///   - due: when the message is due, in microseconds.
    ///   - size: the text's size in bytes; a text without padding may be longer.
    /// - Returns: the text.
    static func text(sequence: Int, due: Int64, size: Int) -> String {
        let head = "#LP\(sequence):\(due)#"
        return head + String(repeating: "x", count: max(0, size - head.utf8.count))
    }

    /// Finds every message in a frame, in order, and calls `onMessage` with its number and its due time in
    /// microseconds.
    static func find(in text: Span<UInt8>, _ onMessage: (_ sequence: Int, _ due: Int64) -> Void) {
        var index = 0
        // No head begins at `end` or later: the shortest head, `#LP0:0#`, has 7 bytes, and at least two bytes of JSON
        // follow it in a frame. So the bytes at `index + 1` and `index + 2` exist.
        let end = text.count - 8
        while index < end {
            // The bytes of `#LP`.
            guard text[index] == 0x23, text[index + 1] == 0x4C, text[index + 2] == 0x50 else {
                index += 1
                continue
            }
            index += 3
            // The numbers end with `:` and `#`.
            guard let sequence = Self.number(text, &index, until: 0x3A),
                let due = Self.number(text, &index, until: 0x23)
            else { continue }
            onMessage(Int(sequence), due)
        }
    }

    /// Whether a frame contains a leave tip, the feed item which says that a viewer left.
    ///
    /// The search for the item's name in the bytes suffices, because no load message contains that name.
    static func containsLeaveTip(_ text: Span<UInt8>) -> Bool {
        var index = 0
        while index + Self.leaveTip.count <= text.count {
            var matchedBytes = 0
            while matchedBytes < Self.leaveTip.count, text[index + matchedBytes] == Self.leaveTip[matchedBytes] {
                matchedBytes += 1
            }
            if matchedBytes == Self.leaveTip.count { return true }
            index += 1
        }
        return false
    }

    /// The name of a leave tip in JSON.
    private static let leaveTip = Array("\"audienceLeft\"".utf8)

    /// Parses a decimal number at `index` and moves the index after its terminator; nil if the number or the terminator
    /// is missing.
    ///
    /// At most 18 digits are accepted, so that the number fits into 64 bits.
    private static func number(_ text: Span<UInt8>, _ index: inout Int, until terminator: UInt8) -> Int64? {
        var value: Int64 = 0
        let first = index
        while index < text.count, (0x30...0x39).contains(text[index]), index - first < 18 {
            value = value * 10 + Int64(text[index] - 0x30)
            index += 1
        }
        guard index > first, index < text.count, text[index] == terminator else { return nil }
        index += 1
        return value
    }
}

// SPDX-License-Identifier: Apache-2.0

/// The text of a load message: `#LP<sequence>:<due microseconds>#` and padding, so that a receiver finds out which
/// message it is and when it was due without reading the frame's JSON.
enum LoadMessage {
    private static let mark = Array("#LP".utf8)

    static func text(sequence: Int, due: Int64, size: Int) -> String {
        let head = "#LP\(sequence):\(due)#"
        return head + String(repeating: "x", count: max(0, size - head.utf8.count))
    }

    /// Finds every message in a frame, in order.
    static func find(in text: Span<UInt8>, _ found: (_ sequence: Int, _ due: Int64) -> Void) {
        var index = 0
        let end = text.count - 8
        while index < end {
            guard text[index] == 0x23, text[index + 1] == 0x4C, text[index + 2] == 0x50 else {
                index += 1
                continue
            }
            index += 3
            guard let sequence = Self.number(text, &index, until: 0x3A),
                let due = Self.number(text, &index, until: 0x23)
            else { continue }
            found(Int(sequence), due)
        }
    }

    /// Whether a frame has a tip that somebody left; no text of ours holds these bytes.
    static func mentionsLeave(_ text: Span<UInt8>) -> Bool {
        var index = 0
        while index + Self.leave.count <= text.count {
            var length = 0
            while length < Self.leave.count, text[index + length] == Self.leave[length] { length += 1 }
            if length == Self.leave.count { return true }
            index += 1
        }
        return false
    }

    private static let leave = Array("\"audienceLeft\"".utf8)

    private static func number(_ text: Span<UInt8>, _ index: inout Int, until end: UInt8) -> Int64? {
        var value: Int64 = 0
        let first = index
        while index < text.count, (0x30...0x39).contains(text[index]), index - first < 18 {
            value = value * 10 + Int64(text[index] - 0x30)
            index += 1
        }
        guard index > first, index < text.count, text[index] == end else { return nil }
        index += 1
        return value
    }
}

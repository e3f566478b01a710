// SPDX-License-Identifier: Apache-2.0

/// The beginning of a frame (RFC 6455, section 5.2), checked for what can be said of it alone.
struct FrameHeader: Equatable, Sendable {
    /// The longest one: two bytes, eight of length, four of mask.
    static let mostBytes = 14

    var opcode: Opcode
    var isFinal: Bool
    var mask: Mask?
    var payloadCount: Int

    /// How long a header is, by its second byte.
    static func length(secondByte: UInt8) -> Int {
        let length =
            switch secondByte & 0x7F {
            case 126: 4
            case 127: 10
            default: 2
            }
        return length + (secondByte & 0x80 == 0 ? 0 : 4)
    }

    /// Reads a whole header, as long as `length(secondByte:)` says.
    init(_ bytes: Span<UInt8>) throws(ProtocolViolation) {
        if bytes[0] & 0x70 != 0 { throw .reservedBits }
        guard let opcode = Opcode(rawValue: bytes[0] & 0x0F) else { throw .reservedOpcode }
        self.opcode = opcode
        self.isFinal = bytes[0] & 0x80 != 0
        let short = bytes[1] & 0x7F
        var at = 2
        switch short {
        case 126:
            self.payloadCount = Int(bytes[2]) << 8 | Int(bytes[3])
            if self.payloadCount < 126 { throw .lengthEncoding }
            at = 4
        case 127:
            var length: UInt64 = 0
            for index in 2..<10 { length = length << 8 | UInt64(bytes[index]) }
            guard length > 0xFFFF, let count = Int(exactly: length) else { throw .lengthEncoding }
            self.payloadCount = count
            at = 10
        default: self.payloadCount = Int(short)
        }
        if opcode.isControl && (!self.isFinal || self.payloadCount > 125) { throw .controlFrame }
        self.mask = bytes[1] & 0x80 == 0 ? nil : Mask(bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3])
    }
}

// SPDX-License-Identifier: Apache-2.0

/// The header of a WebSocket frame (RFC 6455, section 5.2); `init` checks the rules that hold for each frame alone.
///
/// The first byte holds the final bit (0x80), the three reserved bits (0x70) and the opcode. The second byte holds the
/// mask bit (0x80) and the length field: the length itself up to 125, 126 if the length is in the next two bytes, 127
/// if it is in the next eight. The four bytes of the mask come last.
struct FrameHeader: Equatable, Sendable {
    var opcode: Opcode
    var isFinal: Bool
    var mask: Mask?
    var payloadCount: Int

    /// The maximum size of a control frame's payload, in bytes.
    static let maxControlPayloadCount = 125

    /// The size of a header in bytes, which its second byte determines.
    static func byteCount(secondByte: UInt8) -> Int {
        let withoutMask =
            switch secondByte & 0x7F {
            case 126: 4
            case 127: 10
            default: 2
            }
        return withoutMask + (secondByte & 0x80 == 0 ? 0 : 4)
    }

    /// Reads a whole header of `byteCount(secondByte:)` bytes.
    init(_ bytes: Span<UInt8>) throws(ProtocolViolation) {
        if bytes[0] & 0x70 != 0 { throw .reservedBits }
        guard let opcode = Opcode(rawValue: bytes[0] & 0x0F) else { throw .reservedOpcode }
        self.opcode = opcode
        self.isFinal = bytes[0] & 0x80 != 0
        let lengthField = bytes[1] & 0x7F
        var maskStart = 2
        switch lengthField {
        case 126:
            self.payloadCount = Int(bytes[2]) << 8 | Int(bytes[3])
            if self.payloadCount < 126 { throw .lengthEncoding }
            maskStart = 4
        case 127:
            var length: UInt64 = 0
            for index in 2..<10 { length = length << 8 | UInt64(bytes[index]) }
            guard length > 0xFFFF, let count = Int(exactly: length) else { throw .lengthEncoding }
            self.payloadCount = count
            maskStart = 10
        default: self.payloadCount = Int(lengthField)
        }
        let isTooLongForControl = self.payloadCount > Self.maxControlPayloadCount
        if opcode.isControl && (!self.isFinal || isTooLongForControl) { throw .controlFrame }
        self.mask =
            bytes[1] & 0x80 == 0
            ? nil
            : Mask(bytes[maskStart], bytes[maskStart + 1], bytes[maskStart + 2], bytes[maskStart + 3])
    }
}

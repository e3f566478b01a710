// SPDX-License-Identifier: Apache-2.0

/// How a peer's bytes broke RFC 6455, or a limit.
package enum ProtocolViolation: Error, Hashable, Sendable {
    /// A reserved bit was set, and no extension was agreed on.
    case reservedBits
    /// The frame's kind is not defined.
    case reservedOpcode
    /// A client's frame was not masked.
    case maskMissing
    /// A server's frame was masked.
    case maskForbidden
    /// The length was not written in its shortest form, or beyond 63 bits.
    case lengthEncoding
    /// A control frame was longer than 125 bytes, or in pieces.
    case controlFrame
    /// A piece came without a beginning.
    case continuationWithoutStart
    /// A message began inside another.
    case messageInterrupted
    /// A close frame's payload was one byte, or its code not one for the wire.
    case closePayload
    /// A text, or a close frame's reason, was not UTF-8.
    case invalidUTF8
    /// A message was announced that is larger than is taken here.
    case messageTooBig

    /// The code to close the connection with.
    package var closeCode: CloseCode {
        switch self {
        case .reservedBits, .reservedOpcode, .maskMissing, .maskForbidden, .lengthEncoding, .controlFrame,
            .continuationWithoutStart, .messageInterrupted, .closePayload:
            .protocolError
        case .invalidUTF8: .invalidData
        case .messageTooBig: .messageTooBig
        }
    }
}

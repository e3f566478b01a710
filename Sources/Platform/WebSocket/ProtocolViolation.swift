// SPDX-License-Identifier: Apache-2.0

/// The way in which a peer's bytes violate RFC 6455 or a limit.
package enum ProtocolViolation: Error, Hashable, Sendable {
    /// A reserved bit was set, although no extension was negotiated.
    case reservedBits
    /// The frame's kind is not defined.
    case reservedOpcode
    /// A client's frame was not masked.
    case maskMissing
    /// A server's frame was masked.
    case maskForbidden
    /// The payload's length was not encoded in its shortest form, or did not fit into 63 bits.
    case lengthEncoding
    /// A control frame was longer than 125 bytes, or fragmented.
    case controlFrame
    /// A continuation frame was received without a first fragment.
    case continuationWithoutStart
    /// A message began before the previous one was complete.
    case messageInterrupted
    /// A close frame had a payload of one byte, or a code that must not be sent.
    case closePayload
    /// A text message or a close frame's reason was not UTF-8.
    case invalidUTF8
    /// The announced size of a message is over the limit.
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

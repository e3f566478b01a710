// SPDX-License-Identifier: Apache-2.0
package import EventLoop

/// Encodes WebSocket frames.
///
/// A server's frame is encoded once, and then sent to any number of connections without a copy.
package enum FrameEncoder {
    /// The size of a frame's header in bytes; `FrameHeader` describes its format.
    package static func headerCount(payloadCount: Int, isMasked: Bool) -> Int {
        (payloadCount < 126 ? 2 : payloadCount <= 0xFFFF ? 4 : 10) + (isMasked ? 4 : 0)
    }

    /// Encodes a server's frame whose payload `fill` writes.
    ///
    /// `fill` may append several encoded items, so that they are joined into one frame with a single copy.
    ///
    /// - Parameters:
    ///   - opcode: The kind of the frame.
    ///   - isFinal: Whether the frame is the last of its message.
    ///   - payloadCount: The number of bytes that `fill` writes.
    ///   - isShared: Whether many connections of the calling loop, and only of this loop, send the frame.
    ///   - fill: Writes the payload.
    /// - Returns: The header and the payload.
    /// - Throws: The error of `fill`.
    /// - Precondition: `fill` writes exactly `payloadCount` bytes.
    package static func frame<E: Error>(
        _ opcode: Opcode, isFinal: Bool = true, payloadCount: Int, isShared: Bool = false,
        _ fill: (inout OutputSpan<UInt8>) throws(E) -> Void
    ) throws(E) -> SharedBytes {
        let headerCount = Self.headerCount(payloadCount: payloadCount, isMasked: false)
        return try SharedBytes(capacity: headerCount + payloadCount, isShared: isShared) {
            (output: inout OutputSpan<UInt8>) throws(E) in
            Self.appendHeader(opcode, isFinal: isFinal, payloadCount: payloadCount, maskBit: 0, to: &output)
            try fill(&output)
            precondition(
                output.count == headerCount + payloadCount,
                "`fill` wrote \(output.count - headerCount) bytes, not \(payloadCount)")
        }
    }

    /// Encodes a server's frame with these bytes as payload.
    package static func frame(
        _ opcode: Opcode, isFinal: Bool = true, isShared: Bool = false, _ payload: Span<UInt8>
    ) -> SharedBytes {
        Self.frame(opcode, isFinal: isFinal, payloadCount: payload.count, isShared: isShared) { output in
            output.append(contentsOf: payload)
        }
    }

    /// Encodes a server's text frame.
    ///
    /// The bytes must be UTF-8.
    package static func text(_ payload: Span<UInt8>, isShared: Bool = false) -> SharedBytes {
        Self.frame(.text, isShared: isShared, payload)
    }

    /// Encodes a client's frame.
    ///
    /// - Parameters:
    ///   - opcode: The kind of the frame.
    ///   - isFinal: Whether the frame is the last of its message.
    ///   - payload: The bytes before masking.
    ///   - mask: Unpredictable random bytes, new for each frame (RFC 6455, section 10.3).
    /// - Returns: The header and the masked payload.
    package static func maskedFrame(
        _ opcode: Opcode, isFinal: Bool = true, _ payload: Span<UInt8>, mask: Mask
    ) -> SharedBytes {
        let headerCount = Self.headerCount(payloadCount: payload.count, isMasked: true)
        return SharedBytes(capacity: headerCount + payload.count) { output in
            Self.appendHeader(opcode, isFinal: isFinal, payloadCount: payload.count, maskBit: 0x80, to: &output)
            let bytes = mask.bytes
            output.append(bytes.0)
            output.append(bytes.1)
            output.append(bytes.2)
            output.append(bytes.3)
            output.append(contentsOf: payload)
            var mask = mask
            var written = output.mutableSpan
            mask.apply(to: &written, headerCount..<headerCount + payload.count)
        }
    }

    /// The payload of a close frame; empty when there is no code, or the code is not allowed on the wire.
    ///
    /// The payload has at most 125 bytes: a longer reason is cut between two Unicode scalars.
    package static func closePayload(_ code: CloseCode?, reason: String) -> [UInt8] {
        guard let code, code.isAllowedOnWire else { return [] }
        var payload = [UInt8(code.rawValue >> 8), UInt8(code.rawValue & 0xFF)]
        for scalar in reason.unicodeScalars {
            let bytes = UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter
            if payload.count + bytes.count > FrameHeader.maxControlPayloadCount { break }
            payload.append(contentsOf: bytes)
        }
        return payload
    }

    /// Appends a header without the mask's bytes, in the format that `FrameHeader` describes; `maskBit` is 0x80 or 0.
    private static func appendHeader(
        _ opcode: Opcode, isFinal: Bool, payloadCount: Int, maskBit: UInt8, to output: inout OutputSpan<UInt8>
    ) {
        output.append((isFinal ? 0x80 : 0) | opcode.rawValue)
        switch payloadCount {
        case ..<126: output.append(maskBit | UInt8(payloadCount))
        case ...0xFFFF:
            output.append(maskBit | 126)
            output.append(UInt8(payloadCount >> 8))
            output.append(UInt8(payloadCount & 0xFF))
        default:
            output.append(maskBit | 127)
            for shift in stride(from: 56, through: 0, by: -8) {
                output.append(UInt8(truncatingIfNeeded: payloadCount >> shift))
            }
        }
    }
}

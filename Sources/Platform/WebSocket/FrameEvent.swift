// SPDX-License-Identifier: Apache-2.0

/// What `FrameDecoder` has found: a message, a control frame, or a failure.
package enum FrameEvent: Equatable, Sendable {
    /// A whole text message; its bytes are valid UTF-8.
    case text(Payload)
    /// A whole binary message.
    case binary(Payload)
    /// A ping; the pong must return its payload.
    case ping(Payload)
    /// A pong: the response to a ping.
    case pong(Payload)
    /// The peer's close frame, which is the last event. The code is nil when the frame contained no code.
    case close(CloseCode?, reason: String)
    /// The peer broke the protocol; later bytes are ignored.
    case failure(ProtocolViolation)

    /// Where the payload's bytes are.
    package enum Payload: Equatable, Sendable {
        /// In the chunk that was passed to the decoder, unmasked in place.
        case inChunk(Range<Int>)
        /// In an array, copied from several frames or chunks.
        case buffered([UInt8])

        /// Copies the bytes, so that they outlive the chunk; `chunk` is the one that was passed to the decoder.
        package func copy(from chunk: Span<UInt8>) -> [UInt8] {
            switch self {
            case .inChunk(let range):
                var bytes: [UInt8] = []
                bytes.reserveCapacity(range.count)
                for index in range { bytes.append(chunk[index]) }
                return bytes
            case .buffered(let bytes): return bytes
            }
        }
    }
}

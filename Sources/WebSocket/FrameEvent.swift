// SPDX-License-Identifier: Apache-2.0

/// What a decoder found in the bytes of a peer.
package enum FrameEvent: Equatable, Sendable {
    /// A whole text, which is UTF-8.
    case text(Payload)
    /// Whole bytes.
    case binary(Payload)
    /// A question for a sign of life; its payload goes back in a pong.
    case ping(Payload)
    /// The answer to a ping.
    case pong(Payload)
    /// The peer's close frame; nothing follows it. No code: the frame had none.
    case close(CloseCode?, reason: String)
    /// The peer broke the protocol; nothing it sends later is read.
    case failure(ProtocolViolation)

    /// Where the bytes of a message are.
    package enum Payload: Equatable, Sendable {
        /// In the chunk that was passed in, unmasked in place.
        case inChunk(Range<Int>)
        /// Gathered from several frames or chunks.
        case gathered([UInt8])
    }
}

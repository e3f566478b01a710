// SPDX-License-Identifier: Apache-2.0
import EventLoop
import MachineKit
import WebSocket

extension SeededRandom {
    /// Returns `count` random bytes.
    mutating func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8(truncatingIfNeeded: self.next()) } }
}

/// A decoded event, with a copy of its bytes.
enum DecodedEvent: Equatable {
    case text([UInt8])
    case binary([UInt8])
    case ping([UInt8])
    case pong([UInt8])
    case close(CloseCode?, String)
    case failure(ProtocolViolation)
}

/// Passes chunks of bytes to a decoder, one after the other, and returns all its events.
func decode(_ decoder: inout FrameDecoder, _ chunks: [[UInt8]]) -> [DecodedEvent] {
    var events: [DecodedEvent] = []
    for chunk in chunks {
        var bytes = chunk
        var span = bytes.mutableSpan
        var offset = 0
        while let event = decoder.next(&span, &offset) {
            switch event {
            case .text(let payload): events.append(.text(payload.copy(from: span.span)))
            case .binary(let payload): events.append(.binary(payload.copy(from: span.span)))
            case .ping(let payload): events.append(.ping(payload.copy(from: span.span)))
            case .pong(let payload): events.append(.pong(payload.copy(from: span.span)))
            case .close(let code, let reason): events.append(.close(code, reason))
            case .failure(let violation): events.append(.failure(violation))
            }
        }
    }
    return events
}

/// Passes bytes to a new decoder in one chunk, and returns all its events.
func decode(_ bytes: [UInt8], role: Role = .client, maxMessageBytes: Int = 65_536) -> [DecodedEvent] {
    var decoder = FrameDecoder(role: role, maxMessageBytes: maxMessageBytes)
    return decode(&decoder, [bytes])
}

/// A client's frame, whose payload has a mask.
func masked(_ opcode: Opcode, _ payload: [UInt8], isFinal: Bool = true, mask: UInt32 = 0x1234_5678) -> [UInt8] {
    FrameEncoder.maskedFrame(opcode, isFinal: isFinal, payload.span, mask: Mask(random: mask)).array
}

/// A server's frame, which has no mask.
func unmasked(_ opcode: Opcode, _ payload: [UInt8], isFinal: Bool = true) -> [UInt8] {
    FrameEncoder.frame(opcode, isFinal: isFinal, payload.span).array
}

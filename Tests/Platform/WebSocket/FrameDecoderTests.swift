// SPDX-License-Identifier: Apache-2.0
import MachineKit
import Testing
import WebSocket

/// Tests of `FrameDecoder`, the decoder of WebSocket frames: its events, errors, limits and memory.
///
/// A client's frames have a mask, and a server's frames have none. The decoder's role is the side that receives: with
/// the role `client` it decodes a server's frames.
@Suite struct FrameDecoderTests {
    static let hello = Array("Hello".utf8)

    @Test func `the examples of RFC 6455 section 5_7 are decoded`() {
        #expect(decode([0x81, 0x05, 0x48, 0x65, 0x6c, 0x6c, 0x6f]) == [.text(Self.hello)])
        #expect(
            decode([0x81, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58], role: .server)
                == [.text(Self.hello)])
        #expect(decode([0x01, 0x03, 0x48, 0x65, 0x6c, 0x80, 0x02, 0x6c, 0x6f]) == [.text(Self.hello)])
        #expect(decode([0x89, 0x05, 0x48, 0x65, 0x6c, 0x6c, 0x6f]) == [.ping(Self.hello)])
        #expect(
            decode([0x8a, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58], role: .server)
                == [.pong(Self.hello)])
        // A length of 256 bytes takes 16 bits, one of 65,536 bytes takes 64 bits.
        let payload256 = [UInt8](repeating: 7, count: 256)
        #expect(decode([0x82, 0x7E, 0x01, 0x00] + payload256) == [.binary(payload256)])
        let payload65536 = [UInt8](repeating: 8, count: 65_536)
        #expect(decode([0x82, 0x7F, 0, 0, 0, 0, 0, 1, 0, 0] + payload65536) == [.binary(payload65536)])
    }

    @Test func `each protocol violation is reported with its own error and close code`() {
        // Byte 0 has the FIN bit, three reserved bits and the opcode; byte 1 has the mask bit and the length.
        let cases: [([UInt8], Role, ProtocolViolation, CloseCode)] = [
            ([0xC1, 0x00], .client, .reservedBits, .protocolError),
            ([0xA1, 0x00], .client, .reservedBits, .protocolError),
            ([0x91, 0x00], .client, .reservedBits, .protocolError),
            ([0x83, 0x00], .client, .reservedOpcode, .protocolError),
            ([0x8B, 0x00], .client, .reservedOpcode, .protocolError),
            ([0x81, 0x00], .server, .maskMissing, .protocolError),
            ([0x81, 0x80, 1, 2, 3, 4], .client, .maskForbidden, .protocolError),
            // Two lengths that are not in the shortest form, 125 in 16 bits and 65,535 in 64 bits, and a length whose
            // top bit is set.
            ([0x81, 0x7E, 0x00, 0x7D], .client, .lengthEncoding, .protocolError),
            ([0x81, 0x7F, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF], .client, .lengthEncoding, .protocolError),
            ([0x81, 0x7F, 0x80, 0, 0, 0, 0, 0, 0, 0], .client, .lengthEncoding, .protocolError),
            // A ping of 126 bytes, and one without the FIN bit.
            ([0x89, 0x7E, 0x00, 0x7E], .client, .controlFrame, .protocolError),
            ([0x09, 0x00], .client, .controlFrame, .protocolError),
            ([0x80, 0x00], .client, .continuationWithoutStart, .protocolError),
            // A text frame begins a message before the previous message is complete.
            ([0x01, 0x01, 0x61, 0x81, 0x00], .client, .messageInterrupted, .protocolError),
            // Close payloads: half a code, the code 0x03ED = 1005, which must not be sent, and the code 0.
            ([0x88, 0x01, 0x03], .client, .closePayload, .protocolError),
            ([0x88, 0x02, 0x03, 0xED], .client, .closePayload, .protocolError),
            ([0x88, 0x02, 0x00, 0x00], .client, .closePayload, .protocolError),
            // An invalid byte in a close reason and in a text, and a text that ends within a character.
            ([0x88, 0x03, 0x03, 0xE8, 0xFF], .client, .invalidUTF8, .invalidData),
            ([0x81, 0x02, 0xC3, 0x28], .client, .invalidUTF8, .invalidData),
            ([0x81, 0x01, 0xC3], .client, .invalidUTF8, .invalidData),
            // A length of 2 to the power of 63, minus 1.
            ([0x82, 0x7F, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], .client, .messageTooBig, .messageTooBig),
        ]
        for (bytes, role, violation, code) in cases {
            // The decoder does not read the valid frame after the violation.
            let validFrame: [UInt8] = [0x81, 0x01, 0x61]
            #expect(decode(bytes + validFrame, role: role) == [.failure(violation)], "\(bytes)")
            #expect(violation.closeCode == code)
            // The violation is also reported when the bytes arrive one by one.
            var decoder = FrameDecoder(role: role, maxMessageBytes: 65_536)
            #expect(decode(&decoder, bytes.map { [$0] }).last == .failure(violation), "\(bytes)")
        }
    }

    @Test func `I16 a message over the limit is rejected before its payload arrives`() {
        var decoder = FrameDecoder(role: .client, maxMessageBytes: 1_000)
        // The header announces 0x3E9 = 1001 bytes.
        #expect(decode(&decoder, [[0x82, 0x7E, 0x03, 0xE9]]) == [.failure(.messageTooBig)])

        // The limit of 1,000 bytes holds for all frames of a message together: 600 bytes in the first frame, and 401
        // (0x191) announced by the second one.
        var fragmentDecoder = FrameDecoder(role: .client, maxMessageBytes: 1_000)
        let firstFragment = unmasked(.text, [UInt8](repeating: 97, count: 600), isFinal: false)
        #expect(decode(&fragmentDecoder, [firstFragment]) == [])
        // The array of the 600 bytes may have some more capacity.
        #expect(fragmentDecoder.bufferedCapacityBytes <= 1_100)
        #expect(decode(&fragmentDecoder, [[0x80, 0x7E, 0x01, 0x91]]) == [.failure(.messageTooBig)])
        #expect(fragmentDecoder.bufferedCapacityBytes == 0)

        // A message of exactly the limit is accepted.
        #expect(decode(unmasked(.binary, [1, 2, 3]), maxMessageBytes: 3) == [.binary([1, 2, 3])])
    }

    @Test func `an announced payload takes no memory before it arrives`() {
        var decoder = FrameDecoder(role: .client, maxMessageBytes: 1 << 30)
        // The header announces one byte less than 1 GiB; three bytes follow.
        #expect(decode(&decoder, [[0x82, 0x7F, 0, 0, 0, 0, 0x3F, 0xFF, 0xFF, 0xFF, 1, 2, 3]]) == [])
        #expect(decoder.bufferedCapacityBytes < 100)
    }

    @Test func `a decoder holds no memory between messages, however their bytes arrive`() {
        var decoder = FrameDecoder(role: .server, maxMessageBytes: 65_536)
        let frame = masked(.text, [UInt8](repeating: 97, count: 300))
        #expect(decode(&decoder, [frame + frame + masked(.ping, [1])]).count == 3)
        #expect(decoder.bufferedCapacityBytes == 0)
        #expect(decode(&decoder, frame.map { [$0] }).count == 1)
        #expect(decoder.bufferedCapacityBytes == 0)
    }

    @Test func `control frames between the fragments of a message are delivered, wherever the input is split`() {
        let bytes =
            masked(.text, Array("añ".utf8), isFinal: false) + masked(.ping, [1, 2, 3])
            + masked(.continuation, [], isFinal: false) + masked(.pong, [])
            + masked(.continuation, Array("端€".utf8)) + masked(.binary, [0xFF])
        // The text is complete only after the ping and the pong between its fragments.
        let expected: [DecodedEvent] = [
            .ping([1, 2, 3]), .pong([]), .text(Array("añ端€".utf8)), .binary([0xFF]),
        ]
        #expect(decode(bytes, role: .server) == expected)
        for split in 0...bytes.count {
            var decoder = FrameDecoder(role: .server, maxMessageBytes: 100)
            let chunks = [Array(bytes[..<split]), Array(bytes[split...])]
            #expect(decode(&decoder, chunks) == expected, "split at \(split)")
        }
    }

    @Test func `a character may be split between fragments, but an invalid byte is rejected at once`() {
        let text = Array("a😀é端\u{10FFFF}z".utf8)
        for firstSplit in 0...text.count {
            for secondSplit in firstSplit...text.count {
                let bytes =
                    unmasked(.text, Array(text[..<firstSplit]), isFinal: false)
                    + unmasked(.continuation, Array(text[firstSplit..<secondSplit]), isFinal: false)
                    + unmasked(.continuation, Array(text[secondSplit...]))
                #expect(decode(bytes) == [.text(text)])
            }
        }
        // 0xED 0xA0 begins a surrogate, which UTF-8 forbids; the decoder rejects it before the frame ends.
        var decoder = FrameDecoder(role: .client, maxMessageBytes: 100)
        #expect(decode(&decoder, [[0x81, 0x05, 0x61, 0xED], [0xA0]]) == [.failure(.invalidUTF8)])
    }

    @Test func `no frame is decoded after a close frame, which may have a code and reason`() {
        #expect(decode(unmasked(.close, []) + unmasked(.text, [97])) == [.close(nil, "")])
        let payload = FrameEncoder.closePayload(CloseCode(rawValue: 3008), reason: "too slow")
        #expect(decode(unmasked(.close, payload)) == [.close(CloseCode(rawValue: 3008), "too slow")])
        #expect(decode(masked(.close, payload), role: .server) == [.close(CloseCode(rawValue: 3008), "too slow")])
    }

    @Test func `encoding and decoding round-trip in both directions for every form of the length`() {
        var random = SeededRandom(seed: 1)
        // A mask is applied to words of 8 bytes, and the form of the length changes after 125 and after 65,535 bytes.
        // So most counts are near multiples of 8, or near 125 and 65,535.
        for count in [0, 1, 2, 7, 8, 9, 15, 16, 17, 124, 125, 126, 127, 300, 65_535, 65_536, 70_000] {
            let payload = random.bytes(count)
            let mask = UInt32(truncatingIfNeeded: random.next())
            #expect(
                decode(masked(.binary, payload, mask: mask), role: .server, maxMessageBytes: 70_000) == [
                    .binary(payload)
                ])
            #expect(decode(unmasked(.binary, payload), maxMessageBytes: 70_000) == [.binary(payload)])
        }
    }

    @Test func `of a truncated stream all whole messages are delivered`() {
        let frames = [
            masked(.text, Array("one".utf8)), masked(.binary, [UInt8](repeating: 3, count: 200)), masked(.ping, [9]),
            masked(.close, FrameEncoder.closePayload(.normal, reason: "bye")),
        ]
        let bytes = frames.flatMap { $0 }
        // Each frame is a whole message, and so one event.
        let allEvents = decode(bytes, role: .server)
        #expect(allEvents.count == 4)
        for length in 0..<bytes.count {
            var frameEnd = 0
            let wholeFrames = frames.prefix { frame in
                frameEnd += frame.count
                return frameEnd <= length
            }
            #expect(decode(Array(bytes[..<length]), role: .server) == Array(allEvents.prefix(wholeFrames.count)))
        }
    }

    @Test
    func
        `100,000 mutated streams never trap, never exceed the memory limit, and decode the same in chunks of any size`()
    {
        var random = SeededRandom(seed: 20_260)
        let limit = 512
        // In each round, up to three bytes of valid and invalid frames are replaced, removed or inserted.
        for round in 0..<100_000 {
            var bytes = Self.randomFrames(&random)
            for _ in 0..<Int.random(in: 0...3, using: &random) where !bytes.isEmpty {
                let position = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes[position] = UInt8.random(in: 0...255, using: &random)
                case 1: bytes.remove(at: position)
                default: bytes.insert(UInt8.random(in: 0...255, using: &random), at: position)
                }
            }
            var wholeDecoder = FrameDecoder(role: .server, maxMessageBytes: limit)
            let expected = decode(&wholeDecoder, [bytes])
            var pieceDecoder = FrameDecoder(role: .server, maxMessageBytes: limit)
            var events: [DecodedEvent] = []
            var position = 0
            while position < bytes.count {
                let end = min(bytes.count, position + Int.random(in: 1...40, using: &random))
                events += decode(&pieceDecoder, [Array(bytes[position..<end])])
                // Arrays round their capacity up to the size classes of the allocator.
                if pieceDecoder.bufferedCapacityBytes > limit + 256 {
                    Issue.record("\(pieceDecoder.bufferedCapacityBytes) bytes are buffered in round \(round)")
                }
                position = end
            }
            if events != expected { Issue.record("\(events) instead of \(expected), round \(round)") }
        }
    }

    @Test func `random bytes never trap, and cause at most one failure`() {
        var random = SeededRandom(seed: 7)
        for _ in 0..<20_000 {
            let bytes = random.bytes(Int.random(in: 0...60, using: &random))
            for role in [Role.client, .server] {
                let events = decode(bytes, role: role, maxMessageBytes: 40)
                let failures = events.filter { if case .failure = $0 { true } else { false } }
                #expect(failures.count <= 1)
            }
        }
    }

    /// One to four frames of a client, most of them valid, with payloads of very different sizes.
    private static func randomFrames(_ random: inout SeededRandom) -> [UInt8] {
        var bytes: [UInt8] = []
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            let kinds: [Opcode] = [.text, .text, .binary, .continuation, .ping, .pong, .close]
            let opcode = kinds[Int.random(in: 0..<kinds.count, using: &random)]
            let isFinal = Int.random(in: 0..<3, using: &random) > 0
            let largestCounts = [0, 5, 60, 130, 400]
            let largestCount = largestCounts[Int.random(in: largestCounts.indices, using: &random)]
            let count = Int.random(in: 0...largestCount, using: &random)
            let payload: [UInt8] =
                switch opcode {
                case .close: FrameEncoder.closePayload(.normal, reason: String(repeating: "é", count: count / 8))
                case .text, .continuation: Array(String(repeating: "a端", count: count / 4).utf8)
                case .binary: random.bytes(count)
                // A payload over 125 bytes makes some of these frames invalid.
                case .ping, .pong: random.bytes(min(count, 130))
                }
            bytes += masked(opcode, payload, isFinal: isFinal, mask: UInt32(truncatingIfNeeded: random.next()))
        }
        return bytes
    }
}

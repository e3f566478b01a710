// SPDX-License-Identifier: Apache-2.0
import EventLoop
import MachineKit
import Testing
import WebSocket

/// Tests of the encoder of WebSocket frames, of the masks of payloads, and of the UTF-8 check of texts.
@Suite struct CodecPartsTests {
    @Test func `encoded frames match the examples of RFC 6455, and have the shortest form of the length`() {
        #expect(FrameEncoder.text("Hello").array == [0x81, 0x05, 0x48, 0x65, 0x6c, 0x6c, 0x6f])
        let mask = Mask(0x37, 0xfa, 0x21, 0x3d)
        let hello = Array("Hello".utf8)
        #expect(
            FrameEncoder.maskedFrame(.text, hello.span, mask: mask).array
                == [0x81, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58])

        // The second byte is a length up to 125; 126 announces a length of 16 bits there, and 127 one of 64 bits.
        #expect(unmasked(.binary, [UInt8](repeating: 1, count: 125)).prefix(2) == [0x82, 125])
        #expect(unmasked(.binary, [UInt8](repeating: 1, count: 126)).prefix(4) == [0x82, 126, 0, 126])
        #expect(unmasked(.binary, [UInt8](repeating: 1, count: 65_535)).prefix(4) == [0x82, 126, 0xFF, 0xFF])
        #expect(
            unmasked(.binary, [UInt8](repeating: 1, count: 65_536)).prefix(10) == [0x82, 127, 0, 0, 0, 0, 0, 1, 0, 0])

        #expect(unmasked(.text, [97], isFinal: false) == [0x01, 0x01, 97], "a first fragment has no FIN bit")
        for count in [0, 125, 126, 65_535, 65_536] {
            let payload = [UInt8](repeating: 1, count: count)
            #expect(
                unmasked(.binary, payload).count == count
                    + FrameEncoder.headerCount(payloadCount: count, isMasked: false))
            #expect(
                masked(.binary, payload).count == count + FrameEncoder.headerCount(payloadCount: count, isMasked: true))
        }
    }

    @Test func `a long close reason is cut between characters, and a code that must not be sent is omitted`() {
        let payload = FrameEncoder.closePayload(.normal, reason: String(repeating: "端", count: 100))
        // A payload has at most 125 bytes: two for the code, and 41 characters of three bytes.
        #expect(payload.count == 2 + 41 * 3)

        #expect(FrameEncoder.closePayload(.abnormal, reason: "x").isEmpty, "the code 1006 must not be sent")
        #expect(FrameEncoder.closePayload(nil, reason: "x").isEmpty)
        for code in UInt16.min...UInt16.max {
            let isAllowed = CloseCode(rawValue: code).isAllowedOnWire
            let expected = (1000...1003).contains(code) || (1007...1014).contains(code) || (3000...4999).contains(code)
            if isAllowed != expected { Issue.record("the code \(code) is allowed: \(isAllowed)") }
        }
    }

    @Test func `a payload masked in two parts, by words, equals the payload masked byte by byte`() {
        var random = SeededRandom(seed: 3)
        for _ in 0..<2_000 {
            let payload = random.bytes(Int.random(in: 0...70, using: &random))
            let key = random.bytes(4)
            let expected = payload.enumerated().map { $0.element ^ key[$0.offset & 3] }
            // The payload stands between other bytes, which must stay as they are.
            let offset = Int.random(in: 0...9, using: &random)
            var bytes = [UInt8](repeating: 0xAA, count: offset) + payload + [0xBB]
            var mask = Mask(key[0], key[1], key[2], key[3])
            // Either part may be empty.
            let split = offset + Int.random(in: 0...payload.count, using: &random)
            var span = bytes.mutableSpan
            mask.apply(to: &span, offset..<split)
            mask.apply(to: &span, split..<offset + payload.count)
            #expect(bytes == [UInt8](repeating: 0xAA, count: offset) + expected + [0xBB])
        }
    }

    @Test func `the UTF-8 check agrees with the standard library, wherever the text is split`() {
        var random = SeededRandom(seed: 4)
        // The byte sequences are the last valid and first invalid sequences of their lengths, overlong forms,
        // surrogates, and incomplete characters.
        let texts: [[UInt8]] = [
            Array("plain ascii text, longer than a word".utf8), Array("é端😀\u{7FF}\u{800}\u{FFFF}\u{10000}".utf8),
            [0xED, 0x9F, 0xBF], [0xED, 0xA0, 0x80], [0xE0, 0x9F, 0xBF], [0xF0, 0x8F, 0xBF, 0xBF],
            [0xF4, 0x8F, 0xBF, 0xBF], [0xF4, 0x90, 0x80, 0x80], [0xC0, 0x80], [0xC1, 0xBF], [0xF5, 0x80, 0x80, 0x80],
            [0x80], [0xFF], [0xE2, 0x82], [],
        ]
        // The first 1,000 rounds use the texts unchanged; later rounds replace a random byte.
        for round in 0..<30_000 {
            var bytes = texts[round % texts.count] + texts[Int.random(in: 0..<texts.count, using: &random)]
            if round >= 1_000, !bytes.isEmpty {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            let split = Int.random(in: 0...bytes.count, using: &random)
            var validator = UTF8Validator()
            let isValid =
                validator.consume(bytes.span.extracting(..<split)) && validator.consume(bytes.span.extracting(split...))
                && validator.isComplete
            if isValid != (String(validating: bytes, as: UTF8.self) != nil) {
                Issue.record("\(bytes) split at \(split)")
            }
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel
import PlazaWire
import Testing

@testable import LoadKit

/// Tests of the mark at the beginning of a load message, `#LP<sequence>:<due>#`, and of its search in frames.
///
/// The search needs at least one byte behind a mark, which a frame always has.
@Suite struct LoadMessageTests {
    /// The sequence number and the due time of each mark.
    private func find(_ bytes: [UInt8]) -> [[Int64]] {
        var messages: [[Int64]] = []
        LoadMessage.find(in: bytes.span) { sequence, due in messages.append([Int64(sequence), due]) }
        return messages
    }

    @Test(arguments: [0, 1, 40, 200, 12_000]) func `a message has the requested size if that is enough for its mark`(
        size: Int
    ) {
        let text = LoadMessage.text(sequence: 17, due: 123_456_789, size: size)
        #expect(text.utf8.count == max(size, "#LP17:123456789#".utf8.count))
        #expect(self.find(Array("\"\(text)\"..........".utf8)) == [[17, 123_456_789]])
    }

    @Test func `every message of a feed frame is found, in order`() {
        let items = (1...20 as ClosedRange<Int64>).map { number in
            FeedEntry(
                n: number, at: .init(milliseconds: 1),
                content: number % 3 == 0
                    ? .audienceJoined(user: UserInfo(userID: "bob"))
                    : .text(
                        sender: UserInfo(userID: "bob"),
                        text: LoadMessage.text(sequence: Int(number), due: number * 1000, size: 60),
                        extensionInfo: nil))
        }
        let bytes = Wire.encode(ServerFrame.feed(live: "concert", epoch: 1, items: items, token: "1.20"))
        #expect(self.find(bytes) == (1...20).filter { $0 % 3 != 0 }.map { [$0, $0 * 1000] })
    }

    @Test(arguments: ["", "#", "#LP", "#LP1", "#LP1:", "#LP1:2", "#LP:2#", "#LP1:#", "#LPx:2#", "#LP1;2#", "#LP1:2x"])
    func `text that only resembles a mark is not one`(text: String) {
        #expect(self.find(Array(text.utf8)).isEmpty)
        #expect(self.find(Array((text + "............").utf8)).isEmpty)
    }

    @Test func `I16 random bytes never cause a trap`() {
        var random = SeededRandom(seed: 5)
        let alphabet = Array("#LP0123456789:#".utf8)
        for _ in 0..<5000 {
            let noise = (0..<Int.random(in: 0...60, using: &random)).map { _ in
                alphabet[Int.random(in: 0..<alphabet.count, using: &random)]
            }
            for message in self.find(noise) {
                // A number in a mark has at most 18 digits.
                #expect(message.allSatisfy { $0 >= 0 && $0 < 1_000_000_000_000_000_000 })
            }
        }
    }
}

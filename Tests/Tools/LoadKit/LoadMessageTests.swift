// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel
import PlazaWire
import Testing

@testable import LoadKit

/// Tests of the mark at the beginning of a load message, `#LP<sequence>:<due>#`, and of the search for marks in frames.
///
/// `sequence` is the number of the message in its live, and `due` the time at which it is due. The search may rely on
/// the JSON that follows each mark in a frame.
@Suite struct LoadMessageTests {
    /// The sequence number and the due time of each mark in the bytes.
    private func find(_ bytes: [UInt8]) -> [[Int64]] {
        var messages: [[Int64]] = []
        LoadMessage.find(in: bytes.span) { sequence, due in messages.append([Int64(sequence), due]) }
        return messages
    }

    @Test(arguments: [0, 1, 40, 200, 12_000])
    func `a message has the requested size, or that of its mark if the mark is longer`(size: Int) {
        let text = LoadMessage.text(sequence: 17, due: 123_456_789, size: size)
        #expect(text.utf8.count == max(size, "#LP17:123456789#".utf8.count))
        // Other bytes of a frame surround the message.
        #expect(self.find(Array("\"\(text)\"..........".utf8)) == [[17, 123_456_789]])
    }

    @Test func `every message of a feed frame is found, in order`() {
        let bob = UserInfo(userID: "bob")
        // Every third item says that Bob has joined; all others are load messages.
        let items = (1...20 as ClosedRange<Int64>).map { number in
            let text = LoadMessage.text(sequence: Int(number), due: number * 1000, size: 60)
            let message = FeedContent.text(sender: bob, text: text, extensionInfo: nil)
            let content = number % 3 == 0 ? FeedContent.audienceJoined(user: bob) : message
            return FeedEntry(n: number, at: .init(milliseconds: 1), content: content)
        }
        let bytes = Wire.encode(ServerFrame.feed(live: "concert", epoch: 1, items: items, token: "1.20"))
        #expect(self.find(bytes) == (1...20).filter { $0 % 3 != 0 }.map { [$0, $0 * 1000] })
    }

    @Test(arguments: ["", "#", "#LP", "#LP1", "#LP1:", "#LP1:2", "#LP:2#", "#LP1:#", "#LPx:2#", "#LP1;2#", "#LP1:2x"])
    func `text that only resembles a mark is not found as a mark`(text: String) {
        #expect(self.find(Array(text.utf8)).isEmpty)
        #expect(self.find(Array((text + "............").utf8)).isEmpty)
    }

    @Test func `I16 the search for marks in random bytes never traps`() {
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

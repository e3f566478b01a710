// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel
import PlazaWire
import ProtocolClient
import Testing

/// How the scanner finds the epoch, item numbers and token of a feed frame without decoding the items.
@Suite struct FeedScannerTests {
    /// Texts that look like parts of a feed frame.
    private static let confusingTexts = [
        #""n":5}"#, #"{"n":5},{"n":6}"#, #"\"n\":5}"#, "\\", "\"", #""token":"9.9""#, #"{"feed":{"#, "\u{0}\u{1F}",
        "n", ":", "🎉", #"","n":7}"#, #"\","n":8}"#, "", #""items":[],"#, #""n":"#,
    ]

    /// Up to four of the confusing texts, joined.
    private static func confusingText(_ random: inout SeededRandom) -> String {
        (0..<Int.random(in: 0...4, using: &random)).map { _ in
            self.confusingTexts[Int.random(in: 0..<self.confusingTexts.count, using: &random)]
        }.joined()
    }

    /// The content of an item of a random kind, with confusing texts and keys.
    private static func randomContent(_ random: inout SeededRandom) -> FeedContent {
        let (name, address) = (self.confusingText(&random), self.confusingText(&random))
        let user = UserInfo(userID: "bob", userName: name, avatarURL: address)
        switch Int.random(in: 0..<6, using: &random) {
        case 0:
            let extensionInfo = ["n": self.confusingText(&random), "\"n": "5}"]
            return .text(sender: user, text: self.confusingText(&random), extensionInfo: extensionInfo)
        case 1: return .custom(sender: user, businessID: self.confusingText(&random), data: self.confusingText(&random))
        case 2:
            return .metadataChanged(
                set: ["n": "5", "k" + self.confusingText(&random): "}"], removed: [self.confusingText(&random), "n"])
        case 3: return .audienceJoined(user: user)
        case 4:
            let event = StageEvent.seatTaken(index: 5, user: user)
            return .stage(
                record: StageRecord(app: "a", live: "n", epoch: 5, revision: 5, seats: [Seat(index: 5)]),
                events: [event, .seatLocked(index: 5)])
        default: return .infoChanged(info: LiveInfo(liveID: "n", liveOwner: user) { $0.metaData = ["n": "5"] })
        }
    }

    @Test(arguments: 1...40 as ClosedRange<UInt64>)
    func `I7 the scanner agrees with the JSON decoder on every frame`(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        for _ in 0..<25 {
            // Most numbers up to 2^40 do not fit into 32 bits, so a scanner with 32-bit numbers would fail.
            let firstNumber = Int64.random(in: 1...1 << 40, using: &random)
            let epoch = Int64.random(in: 0...1 << 40, using: &random)
            let count = Int64.random(in: 0...6, using: &random)
            let items = (0..<count).map {
                FeedEntry(n: firstNumber + $0, at: .init(milliseconds: 5), content: Self.randomContent(&random))
            }
            let lastNumber = firstNumber + count - 1
            let live = LiveID([#""n":5}"#, "l", #"\"#][Int.random(in: 0..<3, using: &random)])
            let bytes = Wire.encode(
                ServerFrame.feed(live: live, epoch: epoch, items: items, token: "\(epoch).\(lastNumber)"))
            guard case .feed(_, epoch, let decodedItems, _) = try Wire.decode(ServerFrame.self, from: bytes) else {
                Issue.record("expected that the decoder reads a feed frame")
                return
            }
            #expect(FeedSamples.isFeed(bytes))
            let scan = try #require(FeedSamples.scan(bytes), "\(String(decoding: bytes, as: UTF8.self))")
            #expect(scan.epoch == epoch && scan.count == decodedItems.count && scan.lastNumber == lastNumber)
            // The first number of a frame without items is the number of the feed's next item.
            #expect(scan.firstNumber == decodedItems.first?.n ?? lastNumber + 1)
        }
    }

    @Test func `the scanner reads the offset in a token, and distinguishes history from new items`() throws {
        let withOffset = try #require(FeedSamples.scan(FeedSamples.frame(5...7, offset: 9_000_000_000)))
        #expect(withOffset.offset == 9_000_000_000 && withOffset.lastNumber == 7 && !withOffset.isHistory)
        #expect(withOffset.token.text == "77.7.9000000000")
        let history = try #require(FeedSamples.scan(FeedSamples.history([3, 8], at: "77.12.5")))
        // History has no new items. The first new item is the one after the position 12 in the token.
        #expect(history.isHistory && history.count == 2 && history.firstNumber == 13 && history.lastNumber == 12)
        // Invalid: items out of order, a number twice, a number after the position, and no items.
        for invalidNumbers in [[8, 3], [8, 8], [8, 13], []] as [[Int64]] {
            #expect(FeedSamples.scan(FeedSamples.history(invalidNumbers, at: "77.12.5")) == nil, "\(invalidNumbers)")
        }
    }

    @Test func `a truncated frame is not scanned`() {
        var random = SeededRandom(seed: 3)
        let items = (5...7 as ClosedRange<Int64>).map {
            FeedEntry(n: $0, at: .init(milliseconds: 5), content: Self.randomContent(&random))
        }
        let bytes = Wire.encode(ServerFrame.feed(live: "concert", epoch: 77, items: items, token: "77.7"))
        // The frame ends with the token's digit and the three bytes `"}}`, which the scanner does not need. So at least
        // these four bytes are cut off.
        for count in 0..<bytes.count - 4 {
            #expect(FeedSamples.scan(Array(bytes[..<count])) == nil, "the first \(count) bytes")
        }
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func `I16 changed or random bytes cause no trap, and a frame that is scanned has no gap`(
        seed: UInt64
    ) {
        var random = SeededRandom(seed: seed)
        let validFrame = Wire.encode(FeedSamples.frame(8...12))
        let alphabet = Array(#"{"feed:epochitmsn}],0123456789.\"#.utf8)
        for _ in 0..<500 {
            var bytes = validFrame
            // Up to six bytes are changed, removed or inserted.
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                let index = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes[index] = UInt8.random(in: .min ... .max, using: &random)
                case 1: bytes.remove(at: index)
                default: bytes.insert(alphabet[Int.random(in: 0..<alphabet.count, using: &random)], at: index)
                }
            }
            // The changed frame may still be a valid one.
            if let scan = FeedScan(bytes.span) {
                #expect(scan.count == 0 || scan.lastNumber - scan.firstNumber + 1 == Int64(scan.count))
                #expect(scan.count >= 0)
            }
            let noise = (0..<Int.random(in: 0...200, using: &random)).map { _ in
                alphabet[Int.random(in: 0..<alphabet.count, using: &random)]
            }
            // These scans must not trap.
            _ = FeedScan(noise.span)
            _ = FeedScan((Array(#"{"feed":{"#.utf8) + noise + Array(#""token":"1.1"}}"#.utf8)).span)
        }
    }

    @Test(
        arguments: [
            // The items have a gap, or are not in order.
            #"{"feed":{"epoch":1,"items":[{"n":1},{"n":3}],"live":"concert","token":"1.3"}}"#,
            #"{"feed":{"epoch":1,"items":[{"n":2},{"n":1}],"live":"concert","token":"1.1"}}"#,
            // The token does not name the last item, is malformed, or is missing.
            #"{"feed":{"epoch":1,"items":[{"n":1}],"live":"concert","token":"1.2"}}"#,
            #"{"feed":{"epoch":1,"items":[{"n":1}],"live":"concert","token":"1"}}"#,
            #"{"feed":{"epoch":1,"items":[{"n":1}],"live":"concert","token":"1.1.1.1"}}"#,
            #"{"feed":{"epoch":1,"items":[{"n":1}],"live":"concert","token":"1.1.x"}}"#,
            #"{"feed":{"epoch":1,"items":[{"n":1}],"live":"concert","token":"1.x"}}"#,
            #"{"feed":{"epoch":1,"items":[{"n":1}],"live":"concert"}}"#,
            // An item has no number, the frame has no epoch, or a number exceeds 64 bits.
            #"{"feed":{"epoch":1,"items":[{"x":1}],"live":"concert","token":"1.1"}}"#,
            #"{"feed":{"items":[],"live":"concert","token":"1.1"}}"#,
            #"{"feed":{"epoch":1,"items":[{"n":99999999999999999999}],"live":"a","token":"1.99999999999999999999"}}"#,
            // These texts are not feed frames.
            #"{"reply":{"id":1}}"#, "", "{", #"{"feed":{"#,
        ]) func `a text that is not a valid feed frame is not scanned`(text: String)
    {
        #expect(FeedSamples.scan(Array(text.utf8)) == nil)
    }

    @Test func `frames of other kinds are not feed frames`() {
        let frames: [ServerFrame] = [
            .reply(id: 1, .success(result: .done)), .drain(reconnectWithin: 1),
            .counts(LiveCount(live: "concert", count: 1, totalViewers: 1, stale: false, at: .init(milliseconds: 1))),
        ]
        for frame in frames { #expect(!FeedSamples.isFeed(Wire.encode(frame))) }
    }
}

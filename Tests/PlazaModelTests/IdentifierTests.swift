// SPDX-License-Identifier: Apache-2.0
import CoreKit
import FoundationEssentials
import PlazaModel
import Testing

@Suite struct IdentifierTests {
    @Test func `a live's id is case sensitive`() {
        #expect(LiveID(checking: "concert") != LiveID(checking: "Concert"))
        #expect(Set([LiveKey("demo", "concert"), LiveKey("demo", "Concert")]).count == 2)
    }

    @Test func `names from outside hold what they may hold, and no more bytes`() {
        #expect(UserID(checking: "Al-ice_9") == "Al-ice_9")
        #expect(UserID(checking: String(repeating: "u", count: 32)) != nil)
        #expect(LiveID(checking: "a:b#c~!") == "a:b#c~!")
        #expect(LiveID(checking: String(repeating: "l", count: 48)) != nil)
        #expect(AppID(checking: "demo") != nil)
        #expect(SessionID(checking: String(repeating: "s", count: 40)) != nil)
        for bad in ["", "a b", "ä", "a/b", "a\n", String(repeating: "x", count: 49)] {
            #expect(LiveID(checking: bad) == nil)
            #expect(UserID(checking: bad) == nil)
            #expect(AppID(checking: bad) == nil)
            #expect(SessionID(checking: bad) == nil)
        }
        #expect(UserID(checking: "a:b") == nil)
        #expect(UserID(checking: String(repeating: "u", count: 33)) == nil)
        #expect(SessionID(checking: String(repeating: "s", count: 41)) == nil)
    }

    @Test func `I17 a key names its app, and reads back from its text`() {
        let key = LiveKey("demo", "a:b")
        #expect(key.text == "demo/a:b")
        #expect(LiveKey(text: key.text) == key)
        #expect(LiveKey(text: "demo") == nil)
        #expect(UserKey(text: "demo/alice") == UserKey("demo", "alice"))
        #expect(LiveKey("demo", "x") != LiveKey("other", "x"))
        #expect(LiveKey("a", "z") < LiveKey("b", "a"))
        #expect(LiveKey("a", "a") < LiveKey("a", "b"))
        #expect(UserKey("a", "z") < UserKey("b", "a"))
    }

    @Test func `names and tickets are plain values in JSON`() throws {
        struct Sample: Codable, Equatable {
            var live: LiveID
            var ticket: Ticket
            var at: Timestamp
            var code: ReplyCode
        }
        let sample = Sample(live: "x", ticket: Ticket(7), at: Timestamp(milliseconds: 9), code: .noSuchRoom)
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let data = try encoder.encode(sample)
        #expect(String(decoding: data, as: UTF8.self) == #"{"at":9,"code":100004,"live":"x","ticket":7}"#)
        #expect(try JSONDecoder().decode(Sample.self, from: data) == sample)
    }

    @Test func `I7 a later incarnation's positions come after all of an earlier one`() {
        #expect(FeedPosition(epoch: 1, number: 99) < FeedPosition(epoch: 2, number: 1))
        #expect(FeedPosition(epoch: 2, number: 1) < FeedPosition(epoch: 2, number: 2))
    }

    @Test func `an app's policy names what it changes; the rest are defaults`() throws {
        let policy = try JSONDecoder().decode(AppPolicy.self, from: Data(#"{"feedBudget":60}"#.utf8))
        #expect(policy == AppPolicy(feedBudget: 60))
        #expect(policy.historyCount == 0)
        let policies = Policies(["demo": policy])
        #expect(policies["demo"].feedBudget == 60)
        #expect(policies["other"].feedBudget == 40)
    }

    @Test(arguments: [(-1, false), (0, true), (50, true), (51, false)])
    func `an app gives newcomers 0 to 50 messages of before`(count: Int, isGood: Bool) {
        let policy = try? JSONDecoder().decode(AppPolicy.self, from: Data("{\"historyCount\":\(count)}".utf8))
        #expect(policy == (isGood ? AppPolicy(historyCount: count) : nil))
    }
}

// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import MachineKit
import PlazaModel
import Testing

/// The forms of ids and keys, and the defaults and limits of policies.
@Suite struct IdentifierTests {
    /// Rules: R1.6.
    @Test func `a live's id is case sensitive`() {
        #expect(LiveID(checking: "concert") != LiveID(checking: "Concert"))
        #expect(Set([LiveKey("demo", "concert"), LiveKey("demo", "Concert")]).count == 2)
    }

    @Test func `an id with a slash in a record is not decoded, because slashes separate the parts of keys`() throws {
        func decodes<ID: TextID>(_ type: ID.Type, _ text: String) -> Bool {
            (try? JSONDecoder().decode([ID].self, from: Data("[\"\(text)\"]".utf8))) != nil
        }
        // Ids of records are not checked otherwise, so an empty id is decoded, too.
        #expect(decodes(LiveID.self, "concert") && decodes(LiveID.self, ""))
        #expect(!decodes(LiveID.self, "con/cert") && !decodes(UserID.self, "a/b") && !decodes(AppID.self, "/"))
        #expect(!decodes(SessionID.self, "s/") && !decodes(BattleID.self, "b/1") && !decodes(ConnectionID.self, "c/1"))
        // An operator chooses the name of an instance; no row's key contains it.
        #expect(decodes(GatewayID.self, "eu/gateway-1"))
    }

    @Test func `a feed token with a number above the largest valid number or below 0 is rejected`() {
        // 4611686018427387904 is 2^62, the largest valid number.
        #expect(FeedToken(text: "1.4611686018427387904.4611686018427387904") != nil)
        for text in ["1.4611686018427387905", "4611686018427387905.1", "1.1.9223372036854775807", "1.-1"] {
            #expect(FeedToken(text: text) == nil, "\(text)")
        }
    }

    /// Rules: R2.24.
    @Test func `ids from untrusted input with invalid characters or length are rejected`() {
        #expect(UserID(checking: "Al-ice_9") == "Al-ice_9")
        #expect(UserID(checking: String(repeating: "u", count: 32)) != nil)
        #expect(LiveID(checking: "a:b#c~!") == "a:b#c~!")
        #expect(LiveID(checking: String(repeating: "l", count: 48)) != nil)
        #expect(AppID(checking: "demo") != nil)
        #expect(SessionID(checking: String(repeating: "s", count: 40)) != nil)
        for invalidID in ["", "a b", "ä", "a/b", "a\n", String(repeating: "x", count: 49)] {
            #expect(LiveID(checking: invalidID) == nil)
            #expect(UserID(checking: invalidID) == nil)
            #expect(AppID(checking: invalidID) == nil)
            #expect(SessionID(checking: invalidID) == nil)
        }
        #expect(UserID(checking: "a:b") == nil)
        #expect(UserID(checking: String(repeating: "u", count: 33)) == nil)
        #expect(SessionID(checking: String(repeating: "s", count: 41)) == nil)
    }

    @Test func `I17 a key contains its app and is parsed back from its text`() {
        let key = LiveKey("demo", "a:b")
        #expect(key.text == "demo/a:b")
        #expect(LiveKey(text: key.text) == key)
        #expect(LiveKey(text: "demo") == nil)
        #expect(UserKey("demo", "alice").text == "demo/alice")
        #expect(LiveKey("demo", "x") != LiveKey("other", "x"))
        #expect(LiveKey("a", "z") < LiveKey("b", "a"))
        #expect(LiveKey("a", "a") < LiveKey("a", "b"))
        #expect(UserKey("a", "z") < UserKey("b", "a"))
    }

    @Test func `a slash separates the parts of a key even before a combining mark`() {
        // Swift's strings see "/" and the combining mark U+0352 as one Character. Records of other writers can have ids
        // that begin with such a mark.
        let key = LiveKey("\u{352}demo", "\u{352}concert")
        #expect(LiveKey(text: key.text) == key)
        #expect(RecordKey.parts(of: "live/\(key.text)") == ["live", "\u{352}demo", "\u{352}concert"])
        #expect(RecordKey.parts(of: "a//") == ["a", "", ""])
    }

    @Test func `ids, tickets, times and codes are encoded as plain JSON strings and numbers`() throws {
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

    @Test func `I7 positions of a later epoch come after all positions of an earlier one`() {
        #expect(FeedPosition(epoch: 1, number: 99) < FeedPosition(epoch: 2, number: 1))
        #expect(FeedPosition(epoch: 2, number: 1) < FeedPosition(epoch: 2, number: 2))
    }

    @Test func `a policy has defaults for the fields that it omits`() throws {
        let policy = try JSONDecoder().decode(AppPolicy.self, from: Data(#"{"feedBudget":60}"#.utf8))
        #expect(policy == AppPolicy(feedBudget: 60))
        #expect(policy.historyCount == 0)
        let policies = Policies(["demo": policy])
        #expect(policies["demo"].feedBudget == 60)
        // An app without a policy has the defaults.
        #expect(policies["other"].feedBudget == 40)
    }

    /// Rules: R5.15.
    @Test(arguments: [(-1, false), (0, true), (50, true), (51, false)])
    func `a policy's number of earlier messages for new viewers is 0 to 50`(count: Int, isValid: Bool) {
        let policy = try? JSONDecoder().decode(AppPolicy.self, from: Data("{\"historyCount\":\(count)}".utf8))
        #expect(policy == (isValid ? AppPolicy(historyCount: count) : nil))
    }
}

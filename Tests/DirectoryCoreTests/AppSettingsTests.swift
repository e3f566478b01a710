// SPDX-License-Identifier: Apache-2.0
import CoreKit
import PlazaModel
import Testing

@testable import DirectoryCore

@Suite struct AppSettingsTests {
    private static let rose = Gift(giftID: "rose", name: "Rose", coins: 1)
    private static let rocket = Gift(giftID: "rocket", name: "Rocket", coins: 500)
    private static let classics = GiftCategory(categoryID: "classics", name: "Classics")

    /// An app that has made `changes`, each with success.
    private func prepared(after changes: [AppSettingsChange]) -> DirectoryHarness {
        var directory = DirectoryHarness()
        for (index, change) in changes.enumerated() {
            let effects = directory.settle(.appSettings(change: change, caller: server(Int64(index + 1))))
            #expect(results(effects) == [.done], "\(change): \(effects)")
        }
        return directory
    }

    private func settings(_ directory: DirectoryHarness) -> AppSettings {
        if case .app(let row)? = directory.rows[.app("demo")] { row.settings } else { AppSettings() }
    }

    /// What a change is refused with; it must leave the settings as they are.
    private func refusal(_ change: AppSettingsChange, after changes: [AppSettingsChange] = []) -> ReplyCode? {
        var directory = self.prepared(after: changes)
        let before = self.settings(directory)
        let effects = directory.settle(.appSettings(change: change, caller: server(100)))
        #expect(effects.count == 1, "\(effects)")
        #expect(self.settings(directory) == before)
        directory.expectSound()
        return codes(effects).first
    }

    @Test func `a change of an app's settings is told whole, and its reply waits for it`() throws {
        var directory = self.prepared(after: [.setWords(words: ["worse", "bad", "bad"])])
        #expect(self.settings(directory).words == ["bad", "worse"])
        let effects = directory.settle(.appSettings(change: .putCategory(category: Self.classics), caller: server(2)))
        let expected = AppSettings(words: ["bad", "worse"], gifts: [Self.classics])
        guard case .app(let record)? = effects.first, case .reply(let reply)? = effects.last else {
            Issue.record("\(effects)")
            return
        }
        #expect(record == AppRecord(app: app, revision: directory.offset + 1, settings: expected))
        #expect(reply.seen == Seen(.apps, LiveID(""), revision: record.revision))
        directory.expectSound()
    }

    @Test func `a change that changes nothing tells nothing`() {
        var directory = self.prepared(after: [.setWords(words: ["bad"])])
        let effects = directory.settle(.appSettings(change: .addWords(words: ["bad"]), caller: server(2)))
        #expect(results(effects) == [.done] && effects.count == 1)
    }

    @Test func `only the app's server changes its settings, and a user's try leaves no row`() {
        var directory = DirectoryHarness()
        let effects = directory.settle(.appSettings(change: .setWords(words: ["bad"]), caller: user("alice", 1)))
        #expect(codes(effects) == [.noPermission])
        #expect(directory.rows.count == 0)
    }

    @Test func `I15 a change that is sent again is answered again and made once`() {
        var directory = self.prepared(after: [.setWords(words: ["bad"])])
        _ = directory.settle(.appSettings(change: .setWords(words: []), caller: server(2)))
        let again = directory.settle(.appSettings(change: .setWords(words: ["bad"]), caller: server(1)))
        #expect(results(again) == [.done] && again.count == 1)
        #expect(self.settings(directory).words.isEmpty)
        _ = directory.pass(.seconds(80))
        #expect(directory.rows.count == 1, "the outcomes go, the settings stay")
    }

    @Test func `words are added and taken away`() {
        let directory = self.prepared(after: [
            .setWords(words: ["b"]), .addWords(words: ["a", "c"]), .removeWords(words: ["b", "none"]),
        ])
        #expect(self.settings(directory).words == ["a", "c"])
    }

    @Test func `words that filter the same are one word, however they are written`() {
        let directory = self.prepared(after: [
            .setWords(words: ["Bad", "bad", "ÉTÉ"]), .addWords(words: ["BAD", "été", "new"]),
        ])
        #expect(self.settings(directory).words == ["Bad", "new", "ÉTÉ"], "the first spelling stays")
        let gone = self.prepared(after: [.setWords(words: ["Bad", "ÉTÉ"]), .removeWords(words: ["bAD", "été"])])
        #expect(self.settings(gone).words.isEmpty)
    }

    @Test func `gifts and categories come, change, move and go`() {
        let other = GiftCategory(categoryID: "other", name: "Other")
        var dearer = Self.rose
        dearer.coins = 2
        let changes: [AppSettingsChange] = [
            .putCategory(category: Self.classics), .putCategory(category: other),
            .putGift(gift: Self.rose, category: "classics"), .putGift(gift: Self.rocket, category: "classics"),
            .putGift(gift: dearer, category: "classics"), .putGift(gift: Self.rocket, category: "other"),
        ]
        let directory = self.prepared(after: changes)
        #expect(self.settings(directory).gifts.map { $0.gifts.map(\.giftID) } == [["rose"], ["rocket"]])
        #expect(self.settings(directory).gift("rose") == dearer)
        let renamed = GiftCategory(categoryID: "other", name: "Others", desc: "More")
        let later = self.prepared(after: changes + [.putCategory(category: renamed), .removeGift(gift: "rose")])
        #expect(self.settings(later).gifts.map(\.name) == ["Classics", "Others"])
        #expect(self.settings(later).gift("rose") == nil && self.settings(later).gift("rocket") != nil)
        let last = self.prepared(after: changes + [.removeCategory(category: "other")])
        #expect(self.settings(last).gift("rocket") == nil)
        let replaced = self.prepared(after: changes + [.setGifts(categories: [])])
        #expect(self.settings(replaced).gifts.isEmpty)
    }

    @Test func `I16 words beyond a limit are refused`() {
        let many = (0...AppLimits.words).map { "w\($0)" }
        #expect(self.refusal(.setWords(words: many)) == .overLimit)
        #expect(self.refusal(.addWords(words: ["one more"]), after: [.setWords(words: many.dropLast())]) == .overLimit)
        let long = (0..<700).map { String(repeating: "x", count: 96) + "\($0)" }
        #expect(self.refusal(.setWords(words: long)) == .overLimit, "bytes count as well")
        for word in ["", String(repeating: "x", count: 101), "a\u{7}"] {
            #expect(self.refusal(.addWords(words: [word])) == .badParameter)
        }
        var directory = DirectoryHarness()
        let change = AppSettingsChange.addWords(words: ["good", String(repeating: "x", count: 101)])
        guard case .reply(let reply)? = directory.settle(.appSettings(change: change, caller: server(1))).last,
            case .failure(let error) = reply.outcome
        else {
            Issue.record("it was taken")
            return
        }
        #expect(error.message.hasPrefix("words.1 has 101 bytes; a word has 1 to 100"))
    }

    @Test func `I16 gifts beyond a limit are refused`() {
        let many = (0...AppLimits.gifts).map { Gift(giftID: GiftID("g\($0)"), name: "G") }
        let full = GiftCategory(categoryID: "full", name: "Full", gifts: many)
        #expect(self.refusal(.setGifts(categories: [full])) == .overLimit)
        var all = full
        all.gifts.removeLast()
        #expect(
            self.refusal(.putGift(gift: Self.rose, category: "full"), after: [.setGifts(categories: [all])])
                == .overLimit)
        let categories = (0...AppLimits.categories).map {
            GiftCategory(categoryID: GiftCategoryID("c\($0)"), name: "C")
        }
        #expect(self.refusal(.setGifts(categories: categories)) == .overLimit)
        let text = String(repeating: "x", count: AppLimits.extensionInfoBytes)
        let heavy = (0..<130).map { Gift(giftID: GiftID("g\($0)"), name: "G", extensionInfo: text) }
        let tooHeavy = GiftCategory(categoryID: "heavy", name: "Heavy", gifts: heavy)
        #expect(self.refusal(.setGifts(categories: [tooHeavy])) == .overLimit, "bytes count as well")
    }

    @Test func `a gift's fields keep their limits`() {
        func gift(_ change: (inout Gift) -> Void) -> Gift {
            var gift = Self.rose
            change(&gift)
            return gift
        }
        let languages = Dictionary(uniqueKeysWithValues: (0...10).map { ("l\($0)", GiftText(name: "x")) })
        let bad: [Gift] = [
            gift { $0.giftID = "no id" }, gift { $0.giftID = "" }, gift { $0.name = "" },
            gift { $0.name = String(repeating: "n", count: 101) },
            gift { $0.desc = String(repeating: "d", count: 201) },
            gift { $0.iconURL = String(repeating: "u", count: 201) },
            gift { $0.resourceURL = String(repeating: "u", count: 201) },
            gift { $0.extensionInfo = String(repeating: "e", count: 2049) }, gift { $0.coins = -1 },
            gift { $0.coins = 1_000_000_001 }, gift { $0.level = -1 }, gift { $0.level = 1001 },
            gift { $0.translations = ["zh CN": GiftText(name: "x")] },
            gift { $0.translations = ["en": GiftText(name: String(repeating: "n", count: 101))] },
        ]
        for gift in bad {
            let code = self.refusal(
                .putGift(gift: gift, category: "classics"), after: [.putCategory(category: Self.classics)])
            #expect(code == .badParameter, "\(gift)")
        }
        let many = self.refusal(
            .putGift(gift: gift { $0.translations = languages }, category: "classics"),
            after: [.putCategory(category: Self.classics)])
        #expect(many == .overLimit)
    }

    @Test func `what is not there cannot be changed, and nothing is there twice`() {
        #expect(self.refusal(.removeGift(gift: "rose")) == .noSuchGift)
        #expect(self.refusal(.removeCategory(category: "classics")) == .noSuchGift)
        #expect(self.refusal(.putGift(gift: Self.rose, category: "classics")) == .noSuchGift)
        #expect(self.refusal(.setGifts(categories: [Self.classics, Self.classics])) == .badParameter)
        let twice = GiftCategory(categoryID: "a", name: "A", gifts: [Self.rose, Self.rose])
        #expect(self.refusal(.setGifts(categories: [twice])) == .badParameter)
        #expect(self.refusal(.putCategory(category: twice)) == .badParameter, "a category is put without gifts")
    }
}

// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel
import Testing

@testable import DirectoryCore

@Suite struct AppSettingsTests {
    private static let rose = Gift(giftID: "rose", name: "Rose", coins: 1)
    private static let rocket = Gift(giftID: "rocket", name: "Rocket", coins: 500)
    private static let classics = GiftCategory(categoryID: "classics", name: "Classics")

    /// A directory in which the app's server has made `changes`, each successfully.
    private func prepared(after changes: [AppSettingsChange]) -> DirectoryHarness {
        var directory = DirectoryHarness()
        for (index, change) in changes.enumerated() {
            let effects = directory.sendWithFollowUps(.appSettings(change: change, caller: server(Int64(index + 1))))
            #expect(results(effects) == [.done], "\(change): \(effects)")
        }
        return directory
    }

    private func settings(_ directory: DirectoryHarness) -> AppSettings {
        if case .app(let row)? = directory.rows[.app("demo")] { row.settings } else { AppSettings() }
    }

    /// The code with which a change is rejected; checks that the settings do not change.
    private func rejection(_ change: AppSettingsChange, after changes: [AppSettingsChange] = []) -> ReplyCode? {
        var directory = self.prepared(after: changes)
        let before = self.settings(directory)
        let effects = directory.sendWithFollowUps(.appSettings(change: change, caller: server(100)))
        #expect(effects.count == 1, "\(effects)")
        #expect(self.settings(directory) == before)
        directory.expectInvariants()
        return codes(effects).first
    }

    @Test func `a change publishes all settings, and its reply requires their revision`() throws {
        var directory = self.prepared(after: [.setWords(words: ["worse", "bad", "bad"])])
        #expect(self.settings(directory).words == ["bad", "worse"])
        let effects = directory.sendWithFollowUps(
            .appSettings(change: .putCategory(category: Self.classics), caller: server(2)))
        let expected = AppSettings(words: ["bad", "worse"], gifts: [Self.classics])
        guard case .app(let record)? = effects.first, case .reply(let reply)? = effects.last else {
            Issue.record("\(effects)")
            return
        }
        #expect(record == AppRecord(app: app, revision: directory.offset + 1, settings: expected))
        #expect(reply.requiredRevision == RequiredRevision(.apps, LiveID(""), revision: record.revision))
        directory.expectInvariants()
    }

    @Test func `a change without effect publishes nothing`() {
        var directory = self.prepared(after: [.setWords(words: ["bad"])])
        let effects = directory.sendWithFollowUps(.appSettings(change: .addWords(words: ["bad"]), caller: server(2)))
        #expect(results(effects) == [.done] && effects.count == 1)
    }

    @Test func `only the app's server can change its settings, and a user's attempt stores nothing`() {
        var directory = DirectoryHarness()
        let effects = directory.sendWithFollowUps(
            .appSettings(change: .setWords(words: ["bad"]), caller: user("alice", 1)))
        #expect(codes(effects) == [.noPermission])
        #expect(directory.rows.count == 0)
    }

    @Test func `I15 a repeated change gets the same reply and is applied once`() {
        var directory = self.prepared(after: [.setWords(words: ["bad"])])
        _ = directory.sendWithFollowUps(.appSettings(change: .setWords(words: []), caller: server(2)))
        let repeated = directory.sendWithFollowUps(.appSettings(change: .setWords(words: ["bad"]), caller: server(1)))
        #expect(results(repeated) == [.done] && repeated.count == 1)
        #expect(self.settings(directory).words.isEmpty)
        _ = directory.advance(.seconds(380))
        #expect(directory.rows.count == 1, "the outcomes go, the settings stay")
    }

    @Test func `words are added and removed`() {
        let directory = self.prepared(after: [
            .setWords(words: ["b"]), .addWords(words: ["a", "c"]), .removeWords(words: ["b", "none"]),
        ])
        #expect(self.settings(directory).words == ["a", "c"])
    }

    /// Rules: R5.14.
    @Test func `words that the filter treats as equal are stored once`() {
        let directory = self.prepared(after: [
            .setWords(words: ["Bad", "bad", "ÉTÉ"]), .addWords(words: ["BAD", "été", "new"]),
        ])
        #expect(self.settings(directory).words == ["Bad", "new", "ÉTÉ"], "the first spelling stays")
        let afterRemoval = self.prepared(after: [
            .setWords(words: ["Bad", "ÉTÉ"]), .removeWords(words: ["bAD", "été"]),
        ])
        #expect(self.settings(afterRemoval).words.isEmpty)
    }

    /// Rules: R13.17.
    @Test func `gifts and categories are added, changed, moved and removed`() {
        let otherCategory = GiftCategory(categoryID: "other", name: "Other")
        var dearer = Self.rose
        dearer.coins = 2
        let changes: [AppSettingsChange] = [
            .putCategory(category: Self.classics), .putCategory(category: otherCategory),
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

    @Test func `I16 words beyond a limit are rejected`() {
        let many = (0...AppLimits.words).map { "w\($0)" }
        #expect(self.rejection(.setWords(words: many)) == .overLimit)
        #expect(
            self.rejection(.addWords(words: ["one more"]), after: [.setWords(words: many.dropLast())]) == .overLimit)
        let long = (0..<700).map { String(repeating: "x", count: 96) + "\($0)" }
        #expect(self.rejection(.setWords(words: long)) == .overLimit, "bytes count as well")
        for word in ["", String(repeating: "x", count: 101), "a\u{7}"] {
            #expect(self.rejection(.addWords(words: [word])) == .badParameter)
        }
        var directory = DirectoryHarness()
        let change = AppSettingsChange.addWords(words: ["good", String(repeating: "x", count: 101)])
        guard
            case .reply(let reply)? = directory.sendWithFollowUps(.appSettings(change: change, caller: server(1))).last,
            case .failure(let error) = reply.outcome
        else {
            Issue.record("it was taken")
            return
        }
        #expect(error.message.hasPrefix("words.1 has 101 bytes; a word has 1 to 100"))
    }

    @Test func `I16 gifts beyond a limit are rejected`() {
        let many = (0...AppLimits.gifts).map { Gift(giftID: GiftID("g\($0)"), name: "G") }
        let full = GiftCategory(categoryID: "full", name: "Full", gifts: many)
        #expect(self.rejection(.setGifts(categories: [full])) == .overLimit)
        var all = full
        all.gifts.removeLast()
        #expect(
            self.rejection(.putGift(gift: Self.rose, category: "full"), after: [.setGifts(categories: [all])])
                == .overLimit)
        let categories = (0...AppLimits.categories).map {
            GiftCategory(categoryID: GiftCategoryID("c\($0)"), name: "C")
        }
        #expect(self.rejection(.setGifts(categories: categories)) == .overLimit)
        let text = String(repeating: "x", count: AppLimits.extensionInfoBytes)
        let heavy = (0..<130).map { Gift(giftID: GiftID("g\($0)"), name: "G", extensionInfo: text) }
        let tooHeavy = GiftCategory(categoryID: "heavy", name: "Heavy", gifts: heavy)
        #expect(self.rejection(.setGifts(categories: [tooHeavy])) == .overLimit, "bytes count as well")
    }

    @Test func `a gift with a field beyond its limit is rejected`() {
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
            let code = self.rejection(
                .putGift(gift: gift, category: "classics"), after: [.putCategory(category: Self.classics)])
            #expect(code == .badParameter, "\(gift)")
        }
        let many = self.rejection(
            .putGift(gift: gift { $0.translations = languages }, category: "classics"),
            after: [.putCategory(category: Self.classics)])
        #expect(many == .overLimit)
    }

    /// Rules: R13.18.
    @Test func `a change of an unknown gift is rejected, and gift ids are unique`() {
        #expect(self.rejection(.removeGift(gift: "rose")) == .noSuchGift)
        #expect(self.rejection(.removeCategory(category: "classics")) == .noSuchGift)
        #expect(self.rejection(.putGift(gift: Self.rose, category: "classics")) == .noSuchGift)
        #expect(self.rejection(.setGifts(categories: [Self.classics, Self.classics])) == .badParameter)
        let twice = GiftCategory(categoryID: "a", name: "A", gifts: [Self.rose, Self.rose])
        #expect(self.rejection(.setGifts(categories: [twice])) == .badParameter)
        #expect(self.rejection(.putCategory(category: twice)) == .badParameter, "a category is put without gifts")
    }
}

// SPDX-License-Identifier: Apache-2.0
import MachineKit
import MachineTestSupport
import PlazaModel
import Testing

@testable import DirectoryCore

/// Changes of an app's word list and gift catalogue.
@Suite struct AppSettingsTests {
    private static let rose = Gift(giftID: "rose", name: "Rose", coins: 1)
    private static let rocket = Gift(giftID: "rocket", name: "Rocket", coins: 500)
    private static let classics = GiftCategory(categoryID: "classics", name: "Classics")

    /// A directory in which the app's server has made `changes` with its calls 1, 2 and so on, each successfully.
    private func directory(after changes: [AppSettingsChange]) -> DirectoryHarness {
        var directory = DirectoryHarness()
        for (index, change) in changes.enumerated() {
            let effects = directory.sendWithFollowUps(
                .appSettings(change: change, caller: server(call: Int64(index + 1))))
            #expect(results(effects) == [.done], "\(change): \(effects)")
        }
        return directory
    }

    /// The app's stored settings; empty settings if none are stored.
    private func settings(_ directory: DirectoryHarness) -> AppSettings {
        if case .app(let row)? = directory.rows[.app(app)] { row.settings } else { AppSettings() }
    }

    /// Makes `changes` successfully, then `change`, and checks that `change` has no effect but its reply.
    ///
    /// - Returns: the code with which `change` is rejected.
    private func rejectionCode(_ change: AppSettingsChange, after changes: [AppSettingsChange] = []) -> ReplyCode? {
        var directory = self.directory(after: changes)
        let before = self.settings(directory)
        let effects = directory.sendWithFollowUps(.appSettings(change: change, caller: server(call: 100)))
        #expect(effects.count == 1, "expected the reply alone: \(effects)")
        #expect(self.settings(directory) == before)
        directory.expectInvariants()
        return codes(effects).first
    }

    @Test func `a change publishes all settings, and its reply requires their revision`() throws {
        var directory = self.directory(after: [.setWords(words: ["worse", "bad", "bad"])])
        #expect(self.settings(directory).words == ["bad", "worse"])
        let effects = directory.sendWithFollowUps(
            .appSettings(change: .putCategory(category: Self.classics), caller: server(call: 2)))
        let expected = AppSettings(words: ["bad", "worse"], gifts: [Self.classics])
        guard case .app(let record)? = effects.first, case .reply(let reply)? = effects.last else {
            Issue.record("expected the settings first and the reply last: \(effects)")
            return
        }
        // A revision of settings is the offset of the change plus 1; revision 0 stands for an app without settings.
        #expect(record == AppRecord(app: app, revision: directory.offset + 1, settings: expected))
        #expect(reply.requiredRevision == RequiredRevision(.apps, LiveID(""), revision: record.revision))
        directory.expectInvariants()
    }

    @Test func `a change without effect publishes nothing`() {
        var directory = self.directory(after: [.setWords(words: ["bad"])])
        let effects = directory.sendWithFollowUps(
            .appSettings(change: .addWords(words: ["bad"]), caller: server(call: 2)))
        #expect(results(effects) == [.done] && effects.count == 1, "expected the reply alone")
    }

    @Test func `only the app's server can change its settings, and a user's attempt stores nothing`() {
        var directory = DirectoryHarness()
        let effects = directory.sendWithFollowUps(
            .appSettings(change: .setWords(words: ["bad"]), caller: user("alice", call: 1)))
        #expect(codes(effects) == [.noPermission])
        #expect(directory.rows.count == 0)
    }

    @Test func `I15 a repeated change gets the same reply and is applied once`() {
        // Call 1 stores a word, call 2 removes it; then call 1 is repeated.
        var directory = self.directory(after: [.setWords(words: ["bad"])])
        _ = directory.sendWithFollowUps(.appSettings(change: .setWords(words: []), caller: server(call: 2)))
        let repeated = directory.sendWithFollowUps(
            .appSettings(change: .setWords(words: ["bad"]), caller: server(call: 1)))
        #expect(results(repeated) == [.done] && repeated.count == 1, "expected the reply alone")
        #expect(self.settings(directory).words.isEmpty)
        // A call's outcome is kept for 60 s, then the call's number for 300 s; each time is rounded up by at most 10 s.
        // After 70 + 310 = 380 s the idempotency window is empty and removed.
        _ = directory.advance(.seconds(380))
        #expect(directory.rows.count == 1, "expected that only the settings are left")
    }

    @Test func `words are added and removed`() {
        let directory = self.directory(after: [
            .setWords(words: ["b"]), .addWords(words: ["a", "c"]), .removeWords(words: ["b", "none"]),
        ])
        #expect(self.settings(directory).words == ["a", "c"])
    }

    /// Rules: R5.14.
    @Test func `words that the filter treats as equal are stored once`() {
        let directory = self.directory(after: [
            .setWords(words: ["Bad", "bad", "ÉTÉ"]), .addWords(words: ["BAD", "été", "new"]),
        ])
        #expect(self.settings(directory).words == ["Bad", "new", "ÉTÉ"], "expected the first spellings")
        let afterRemoval = self.directory(after: [
            .setWords(words: ["Bad", "ÉTÉ"]), .removeWords(words: ["bAD", "été"]),
        ])
        #expect(self.settings(afterRemoval).words.isEmpty)
    }

    /// Rules: R13.17.
    @Test func `gifts and categories are added, changed, moved and removed`() {
        let otherCategory = GiftCategory(categoryID: "other", name: "Other")
        var dearerRose = Self.rose
        dearerRose.coins = 2
        // `putGift` adds a gift, changes the gift with the same id, or moves it to another category.
        let changes: [AppSettingsChange] = [
            .putCategory(category: Self.classics), .putCategory(category: otherCategory),
            .putGift(gift: Self.rose, category: "classics"), .putGift(gift: Self.rocket, category: "classics"),
            .putGift(gift: dearerRose, category: "classics"), .putGift(gift: Self.rocket, category: "other"),
        ]
        let directory = self.directory(after: changes)
        #expect(self.settings(directory).gifts.map { $0.gifts.map(\.giftID) } == [["rose"], ["rocket"]])
        #expect(self.settings(directory).gift("rose") == dearerRose)

        let renamed = GiftCategory(categoryID: "other", name: "Others", desc: "More")
        let withoutRose = self.directory(after: changes + [.putCategory(category: renamed), .removeGift(gift: "rose")])
        #expect(self.settings(withoutRose).gifts.map(\.name) == ["Classics", "Others"])
        #expect(self.settings(withoutRose).gift("rose") == nil)
        #expect(self.settings(withoutRose).gift("rocket") != nil)

        let withoutOther = self.directory(after: changes + [.removeCategory(category: "other")])
        #expect(self.settings(withoutOther).gift("rocket") == nil)
        let replaced = self.directory(after: changes + [.setGifts(categories: [])])
        #expect(self.settings(replaced).gifts.isEmpty)
    }

    @Test func `I16 words beyond a limit are rejected`() {
        // One word more than the limit.
        let tooManyWords = (0...AppLimits.words).map { "w\($0)" }
        #expect(self.rejectionCode(.setWords(words: tooManyWords)) == .overLimit)
        #expect(
            self.rejectionCode(.addWords(words: ["one more"]), after: [.setWords(words: tooManyWords.dropLast())])
                == .overLimit)
        // All words together have at most 64 KB (65,536 bytes): 700 words of at least 97 bytes have 67,900 bytes, but
        // are fewer than the limit of words.
        let longWords = (0..<700).map { String(repeating: "x", count: 96) + "\($0)" }
        #expect(self.rejectionCode(.setWords(words: longWords)) == .overLimit)
        // A word has 1 to 100 bytes and no control characters.
        for word in ["", String(repeating: "x", count: 101), "a\u{7}"] {
            #expect(self.rejectionCode(.addWords(words: [word])) == .badParameter)
        }
        // The message of the error names the rejected word by its index, here 1.
        var directory = DirectoryHarness()
        let change = AppSettingsChange.addWords(words: ["good", String(repeating: "x", count: 101)])
        guard
            case .reply(let reply)? = directory.sendWithFollowUps(.appSettings(change: change, caller: server(call: 1)))
                .last,
            case .failure(let error) = reply.outcome
        else {
            Issue.record("the change was accepted")
            return
        }
        #expect(error.message.hasPrefix("words.1 has 101 bytes; a word has 1 to 100"))
    }

    @Test func `I16 gifts beyond a limit are rejected`() {
        // One gift more than the limit.
        let tooManyGifts = (0...AppLimits.gifts).map { Gift(giftID: GiftID("g\($0)"), name: "G") }
        let overfullCategory = GiftCategory(categoryID: "full", name: "Full", gifts: tooManyGifts)
        #expect(self.rejectionCode(.setGifts(categories: [overfullCategory])) == .overLimit)
        var fullCategory = overfullCategory
        fullCategory.gifts.removeLast()
        #expect(
            self.rejectionCode(
                .putGift(gift: Self.rose, category: "full"), after: [.setGifts(categories: [fullCategory])])
                == .overLimit)
        let tooManyCategories = (0...AppLimits.categories).map {
            GiftCategory(categoryID: GiftCategoryID("c\($0)"), name: "C")
        }
        #expect(self.rejectionCode(.setGifts(categories: tooManyCategories)) == .overLimit)
        let longText = String(repeating: "x", count: AppLimits.extensionInfoBytes)
        // All gifts together have at most 256 KB (262,144 bytes): 130 gifts with 2048 bytes each have 266,240 bytes,
        // but are fewer than the limit of gifts.
        let longGifts = (0..<130).map { Gift(giftID: GiftID("g\($0)"), name: "G", extensionInfo: longText) }
        let longCategory = GiftCategory(categoryID: "long", name: "Long", gifts: longGifts)
        #expect(self.rejectionCode(.setGifts(categories: [longCategory])) == .overLimit)
    }

    @Test func `a gift with a field beyond its limit is rejected`() {
        /// A rose with one changed field.
        func gift(_ change: (inout Gift) -> Void) -> Gift {
            var gift = Self.rose
            change(&gift)
            return gift
        }
        // An id has no blank and is not empty, and a language has no blank. A name has 1 to 100 bytes, `desc` and a URL
        // at most 200, `extensionInfo` at most 2048. The price is 0 to 1,000,000,000, the level 0 to 1000.
        let invalid: [Gift] = [
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
        for gift in invalid {
            let code = self.rejectionCode(
                .putGift(gift: gift, category: "classics"), after: [.putCategory(category: Self.classics)])
            #expect(code == .badParameter, "\(gift)")
        }
        let elevenTranslations = Dictionary(uniqueKeysWithValues: (0...10).map { ("l\($0)", GiftText(name: "x")) })
        let code = self.rejectionCode(
            .putGift(gift: gift { $0.translations = elevenTranslations }, category: "classics"),
            after: [.putCategory(category: Self.classics)])
        #expect(code == .overLimit, "expected a rejection, because a gift has at most ten translations")
    }

    /// Rules: R13.18.
    @Test func `a change of an unknown gift or category, or with two gifts or categories of one id, is rejected`() {
        #expect(self.rejectionCode(.removeGift(gift: "rose")) == .noSuchGift)
        #expect(self.rejectionCode(.removeCategory(category: "classics")) == .noSuchGift)
        #expect(self.rejectionCode(.putGift(gift: Self.rose, category: "classics")) == .noSuchGift)
        #expect(self.rejectionCode(.setGifts(categories: [Self.classics, Self.classics])) == .badParameter)
        let categoryWithRoseTwice = GiftCategory(categoryID: "a", name: "A", gifts: [Self.rose, Self.rose])
        #expect(self.rejectionCode(.setGifts(categories: [categoryWithRoseTwice])) == .badParameter)
        #expect(
            self.rejectionCode(.putCategory(category: categoryWithRoseTwice)) == .badParameter,
            "expected a rejection, because `putCategory` accepts no gifts")
    }
}

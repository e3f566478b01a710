// SPDX-License-Identifier: Apache-2.0
import CoreKit
import PlazaModel

/// What an app's settings may hold; the limits are counted on the result, so a refused change changes nothing.
enum AppSettingsRules {
    /// Makes the change.
    ///
    /// - Throws: `badParameter` for a text that is too long, empty or not allowed, `overLimit` for too many of
    ///   something, `noSuchGift` for a gift or category that is not there; then `settings` is not to be used.
    static func apply(_ change: AppSettingsChange, to settings: inout AppSettings) throws(ReplyError) {
        switch change {
        case .setWords(let words): settings.words = try self.checked(words)
        case .addWords(let words): settings.words = try self.checked(words, after: settings.words)
        case .removeWords(let words):
            let gone = Set(words.map { WordFilter.folded($0) })
            settings.words.removeAll { gone.contains(WordFilter.folded($0)) }
        case .setGifts(let categories):
            settings.gifts = categories
            try self.check(settings.gifts)
        case .putCategory(let category): try self.put(category, into: &settings.gifts)
        case .removeCategory(let category):
            settings.gifts.remove(at: try self.index(of: category, in: settings.gifts))
        case .putGift(let gift, let category): try self.put(gift, category, into: &settings.gifts)
        case .removeGift(let gift):
            guard settings.gift(gift) != nil else { throw ReplyError(.noSuchGift, "there is no gift \(gift)") }
            for index in settings.gifts.indices { settings.gifts[index].gifts.removeAll { $0.giftID == gift } }
        }
    }

    private static func put(_ category: GiftCategory, into gifts: inout [GiftCategory]) throws(ReplyError) {
        guard category.gifts.isEmpty else {
            throw ReplyError(.badParameter, "a category is put without gifts: put those one by one")
        }
        if let index = gifts.firstIndex(where: { $0.categoryID == category.categoryID }) {
            let kept = gifts[index].gifts
            gifts[index] = category
            gifts[index].gifts = kept
        } else {
            gifts.append(category)
        }
        try self.check(gifts)
    }

    private static func put(
        _ gift: Gift, _ category: GiftCategoryID, into gifts: inout [GiftCategory]
    ) throws(ReplyError) {
        let target = try self.index(of: category, in: gifts)
        if let place = gifts[target].gifts.firstIndex(where: { $0.giftID == gift.giftID }) {
            gifts[target].gifts[place] = gift
        } else {
            for index in gifts.indices { gifts[index].gifts.removeAll { $0.giftID == gift.giftID } }
            gifts[target].gifts.append(gift)
        }
        try self.check(gifts)
    }

    private static func index(of category: GiftCategoryID, in gifts: [GiftCategory]) throws(ReplyError) -> Int {
        guard let index = gifts.firstIndex(where: { $0.categoryID == category }) else {
            throw ReplyError(.noSuchGift, "there is no gift category \(category)")
        }
        return index
    }

    /// The words with those that there are, sorted; of words that filter the same, the first alone.
    private static func checked(_ words: [String], after known: [String] = []) throws(ReplyError) -> [String] {
        for (index, word) in words.enumerated() {
            guard !word.isEmpty, word.utf8.count <= AppLimits.wordBytes, self.isPlain(word) else {
                throw ReplyError(
                    .badParameter,
                    "words.\(index) has \(word.utf8.count) bytes; a word has 1 to \(AppLimits.wordBytes), and no control "
                        + "characters")
            }
        }
        var spellings: Set<[UInt8]> = []
        let sorted = (known + words).filter { spellings.insert(WordFilter.folded($0)).inserted }.sorted()
        guard sorted.count <= AppLimits.words, sorted.reduce(0, { $0 + $1.utf8.count }) <= AppLimits.wordsTotalBytes
        else {
            throw ReplyError(
                .overLimit,
                "an app has at most \(AppLimits.words) words with \(AppLimits.wordsTotalBytes) bytes in all")
        }
        return sorted
    }

    /// The whole catalogue.
    private static func check(_ categories: [GiftCategory]) throws(ReplyError) {
        let gifts = categories.flatMap(\.gifts)
        guard categories.count <= AppLimits.categories, gifts.count <= AppLimits.gifts else {
            throw ReplyError(
                .overLimit, "an app has at most \(AppLimits.gifts) gifts in \(AppLimits.categories) categories")
        }
        guard Set(categories.map(\.categoryID)).count == categories.count,
            Set(gifts.map(\.giftID)).count == gifts.count
        else { throw ReplyError(.badParameter, "a gift or category is named twice") }
        var bytes = 0
        for category in categories {
            guard GiftCategoryID(checking: category.categoryID.text) != nil else { throw self.badID("categoryID") }
            let place = "category \(category.categoryID)"
            bytes += try self.check(
                place, category.name, category.desc, category.extensionInfo, category.translations)
        }
        for gift in gifts {
            guard GiftID(checking: gift.giftID.text) != nil else { throw self.badID("giftID") }
            let place = "gift \(gift.giftID)"
            bytes += try self.check(place, gift.name, gift.desc, gift.extensionInfo, gift.translations)
            bytes += try self.check(gift.iconURL, "\(place): iconURL", AppLimits.urlBytes)
            bytes += try self.check(gift.resourceURL, "\(place): resourceURL", AppLimits.urlBytes)
            try self.check(gift.coins, "\(place): coins", AppLimits.coins)
            try self.check(gift.level, "\(place): level", AppLimits.level)
        }
        guard bytes <= AppLimits.giftsTotalBytes else {
            throw ReplyError(
                .overLimit, "all texts of the catalogue have at most \(AppLimits.giftsTotalBytes) bytes")
        }
    }

    private static func badID(_ what: String) -> ReplyError {
        ReplyError(.badParameter, "a \(what) is 1 to 32 letters, digits, hyphens or underscores")
    }

    /// What a gift and a category have in common; `place` names it.
    ///
    /// - Returns: how many bytes it has.
    private static func check(
        _ place: String, _ name: String, _ desc: String, _ extensionInfo: String, _ translations: [String: GiftText]
    ) throws(ReplyError) -> Int {
        guard !name.isEmpty else { throw ReplyError(.badParameter, "\(place): name is empty") }
        guard translations.count <= AppLimits.languages else {
            throw ReplyError(.overLimit, "\(place): translations are of at most \(AppLimits.languages) languages")
        }
        var bytes = try self.check(name, "\(place): name", AppLimits.nameBytes)
        bytes += try self.check(desc, "\(place): desc", AppLimits.descBytes)
        bytes += try self.check(extensionInfo, "\(place): extensionInfo", AppLimits.extensionInfoBytes)
        // Sorted, so that of several mistakes always the same one is told.
        for (language, text) in translations.sorted(by: { $0.key < $1.key }) {
            guard TextRule.isWord(language, maxBytes: AppLimits.languageBytes) else {
                throw ReplyError(
                    .badParameter,
                    "\(place): a language is 1 to \(AppLimits.languageBytes) letters, digits, hyphens or underscores")
            }
            bytes += language.utf8.count
            bytes += try self.check(text.name, "\(place): translations.\(language).name", AppLimits.nameBytes)
            bytes += try self.check(text.desc, "\(place): translations.\(language).desc", AppLimits.descBytes)
        }
        return bytes
    }

    private static func check(_ text: String, _ field: String, _ limit: Int) throws(ReplyError) -> Int {
        guard text.utf8.count <= limit, self.isPlain(text) else {
            throw ReplyError(
                .badParameter,
                "\(field) has \(text.utf8.count) bytes; at most \(limit) are possible, and no control characters")
        }
        return text.utf8.count
    }

    private static func check<Number: BinaryInteger>(
        _ number: Number, _ field: String, _ range: ClosedRange<Number>
    ) throws(ReplyError) {
        guard range.contains(number) else {
            throw ReplyError(
                .badParameter, "\(field) is \(number); \(range.lowerBound) to \(range.upperBound) are possible")
        }
    }

    /// JSON writes a control character in six bytes; without them the total of bytes bounds a record.
    private static func isPlain(_ text: String) -> Bool { text.utf8.allSatisfy { $0 >= 0x20 } }
}

// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel

/// Applies changes to an app's settings (the words of its filter, and its gifts), and checks their limits.
///
/// `AppSettings.gifts` is the catalogue: a list of categories, each with its gifts. The caller stores the changed
/// settings only if no error was thrown, so a rejected change has no effect.
enum AppSettingsRules {
    /// Applies the change, and checks the changed settings.
    ///
    /// - Throws: `badParameter` for a text that is too long, empty or not allowed, and for a number out of range;
    ///   `overLimit` for too many words, gifts, categories or languages; `noSuchGift` for an unknown gift or category.
    ///   After an error the caller must discard `settings`.
    static func apply(_ change: AppSettingsChange, to settings: inout AppSettings) throws(ReplyError) {
        switch change {
        case .setWords(let words): settings.words = try self.merge(words)
        case .addWords(let words): settings.words = try self.merge(words, into: settings.words)
        case .removeWords(let words):
            let removedWords = Set(words.map { WordFilter.folded($0) })
            settings.words.removeAll { removedWords.contains(WordFilter.folded($0)) }
        case .setGifts(let categories):
            settings.gifts = categories
            try self.checkCatalogue(settings.gifts)
        case .putCategory(let category): try self.putCategory(category, into: &settings.gifts)
        case .removeCategory(let category):
            settings.gifts.remove(at: try self.index(of: category, in: settings.gifts))
        case .putGift(let gift, let category): try self.putGift(gift, category, into: &settings.gifts)
        case .removeGift(let gift):
            guard settings.gift(gift) != nil else { throw ReplyError(.noSuchGift, "there is no such gift") }
            for index in settings.gifts.indices { settings.gifts[index].gifts.removeAll { $0.giftID == gift } }
        }
    }

    /// Adds a category, or replaces its texts; the category keeps its gifts.
    private static func putCategory(
        _ category: GiftCategory, into catalogue: inout [GiftCategory]
    ) throws(ReplyError) {
        guard category.gifts.isEmpty else {
            throw ReplyError(.badParameter, "put a category without gifts, then put its gifts one by one")
        }
        if let index = catalogue.firstIndex(where: { $0.categoryID == category.categoryID }) {
            let existingGifts = catalogue[index].gifts
            catalogue[index] = category
            catalogue[index].gifts = existingGifts
        } else {
            catalogue.append(category)
        }
        try self.checkCatalogue(catalogue)
    }

    /// Adds a gift to a category, replaces the gift in the category, or moves it from another category.
    private static func putGift(
        _ gift: Gift, _ category: GiftCategoryID, into catalogue: inout [GiftCategory]
    ) throws(ReplyError) {
        let targetIndex = try self.index(of: category, in: catalogue)
        if let giftIndex = catalogue[targetIndex].gifts.firstIndex(where: { $0.giftID == gift.giftID }) {
            catalogue[targetIndex].gifts[giftIndex] = gift
        } else {
            for index in catalogue.indices { catalogue[index].gifts.removeAll { $0.giftID == gift.giftID } }
            catalogue[targetIndex].gifts.append(gift)
        }
        try self.checkCatalogue(catalogue)
    }

    /// The index of a category.
    ///
    /// - Throws: `noSuchGift` when there is no such category.
    private static func index(of category: GiftCategoryID, in catalogue: [GiftCategory]) throws(ReplyError) -> Int {
        guard let index = catalogue.firstIndex(where: { $0.categoryID == category }) else {
            throw ReplyError(.noSuchGift, "there is no such gift category")
        }
        return index
    }

    /// Checks `words` and merges them into `existing`; the result is sorted and has no two words that the filter treats
    /// as equal.
    ///
    /// `existing` has been checked before; it is empty if `words` replace all words.
    private static func merge(_ words: [String], into existing: [String] = []) throws(ReplyError) -> [String] {
        for (index, word) in words.enumerated() {
            guard !word.isEmpty, word.utf8.count <= AppLimits.wordBytes, !TextRule.hasControlCharacter(word)
            else {
                throw ReplyError(
                    .badParameter,
                    "words.\(index) has \(word.utf8.count) bytes; a word has 1 to \(AppLimits.wordBytes), and no "
                        + "control characters")
            }
        }
        var foldedWords: Set<[UInt8]> = []
        let mergedWords = (existing + words).filter { foldedWords.insert(WordFilter.folded($0)).inserted }.sorted()
        guard mergedWords.count <= AppLimits.words,
            mergedWords.reduce(0, { $0 + TextRule.encodedBytes(of: $1) }) <= AppLimits.wordsTotalBytes
        else {
            throw ReplyError(
                .overLimit,
                "an app has at most \(AppLimits.words) words with \(AppLimits.wordsTotalBytes) bytes in all, as JSON")
        }
        return mergedWords
    }

    /// Checks the whole catalogue: how many gifts and categories it has, their ids and texts, the prices and levels of
    /// the gifts, and the total size.
    private static func checkCatalogue(_ categories: [GiftCategory]) throws(ReplyError) {
        let gifts = categories.flatMap(\.gifts)
        guard categories.count <= AppLimits.categories, gifts.count <= AppLimits.gifts else {
            throw ReplyError(
                .overLimit, "an app has at most \(AppLimits.gifts) gifts in \(AppLimits.categories) categories")
        }
        guard Set(categories.map(\.categoryID)).count == categories.count,
            Set(gifts.map(\.giftID)).count == gifts.count
        else { throw ReplyError(.badParameter, "a gift or category is named twice") }
        var textBytes = 0
        for category in categories {
            guard GiftCategoryID(checking: category.categoryID.text) != nil else {
                throw self.invalidIDError("categoryID")
            }
            let item = "category \(category.categoryID)"
            textBytes += try self.checkTexts(
                of: item, category.name, category.desc, category.extensionInfo, category.translations)
        }
        for gift in gifts {
            guard GiftID(checking: gift.giftID.text) != nil else { throw self.invalidIDError("giftID") }
            let item = "gift \(gift.giftID)"
            textBytes += try self.checkTexts(of: item, gift.name, gift.desc, gift.extensionInfo, gift.translations)
            textBytes += try self.checkText(gift.iconURL, "\(item): iconURL", AppLimits.urlBytes)
            textBytes += try self.checkText(gift.resourceURL, "\(item): resourceURL", AppLimits.urlBytes)
            try self.checkRange(gift.coins, "\(item): coins", AppLimits.coins)
            try self.checkRange(gift.level, "\(item): level", AppLimits.level)
        }
        guard textBytes <= AppLimits.giftsTotalBytes else {
            throw ReplyError(
                .overLimit, "all texts of the catalogue have at most \(AppLimits.giftsTotalBytes) bytes")
        }
        guard categories.reduce(0, { $0 + $1.maxEncodedBytes }) <= AppLimits.giftsEncodedBytes else {
            throw ReplyError(
                .overLimit, "the catalogue has at most about \(AppLimits.giftsEncodedBytes) bytes as JSON")
        }
    }

    private static func invalidIDError(_ field: String) -> ReplyError {
        ReplyError(.badParameter, "a \(field) is 1 to 32 letters, digits, hyphens or underscores")
    }

    /// Checks the fields that gifts and categories have in common; `item` is the item's name in error messages.
    ///
    /// - Returns: the number of bytes of the item's texts.
    private static func checkTexts(
        of item: String, _ name: String, _ desc: String, _ extensionInfo: String, _ translations: [String: GiftText]
    ) throws(ReplyError) -> Int {
        guard !name.isEmpty else { throw ReplyError(.badParameter, "\(item): name is empty") }
        guard translations.count <= AppLimits.languages else {
            throw ReplyError(
                .overLimit,
                "\(item): translations has \(translations.count) languages; at most \(AppLimits.languages) are possible"
            )
        }
        var bytes = try self.checkText(name, "\(item): name", AppLimits.nameBytes)
        bytes += try self.checkText(desc, "\(item): desc", AppLimits.descBytes)
        bytes += try self.checkText(extensionInfo, "\(item): extensionInfo", AppLimits.extensionInfoBytes)
        // The languages are sorted, so that the first of several errors does not depend on the order of a dictionary.
        for (language, text) in translations.sorted(by: { $0.key < $1.key }) {
            guard TextRule.isIdentifier(language, maxBytes: AppLimits.languageBytes) else {
                throw ReplyError(
                    .badParameter,
                    "\(item): a language is 1 to \(AppLimits.languageBytes) letters, digits, hyphens or underscores")
            }
            bytes += language.utf8.count
            bytes += try self.checkText(text.name, "\(item): translations.\(language).name", AppLimits.nameBytes)
            bytes += try self.checkText(text.desc, "\(item): translations.\(language).desc", AppLimits.descBytes)
        }
        return bytes
    }

    /// Checks the length and the characters of a text.
    ///
    /// - Returns: the number of bytes of the text.
    private static func checkText(_ text: String, _ field: String, _ maxBytes: Int) throws(ReplyError) -> Int {
        guard text.utf8.count <= maxBytes, !TextRule.hasControlCharacter(text) else {
            throw ReplyError(
                .badParameter,
                "\(field) has \(text.utf8.count) bytes; at most \(maxBytes) are possible, and no control characters")
        }
        return text.utf8.count
    }

    private static func checkRange<Number: BinaryInteger>(
        _ number: Number, _ field: String, _ range: ClosedRange<Number>
    ) throws(ReplyError) {
        guard range.contains(number) else {
            throw ReplyError(
                .badParameter, "\(field) is \(number); \(range.lowerBound) to \(range.upperBound) are possible")
        }
    }
}

// `maxEncodedBytes` is an upper bound for the size of the JSON: the encoded texts, and a constant number of bytes for
// the field names, the punctuation and the numbers (160 for a category, 200 for a gift, 32 for a translation).

extension GiftCategory {
    fileprivate var maxEncodedBytes: Int {
        160 + TextRule.encodedBytes(of: self.name + self.desc + self.extensionInfo) + self.translations.maxEncodedBytes
            + self.gifts.reduce(0) { $0 + $1.maxEncodedBytes }
    }
}

extension Gift {
    fileprivate var maxEncodedBytes: Int {
        200 + TextRule.encodedBytes(of: self.name + self.desc + self.iconURL + self.resourceURL + self.extensionInfo)
            + self.translations.maxEncodedBytes
    }
}

extension [String: GiftText] {
    fileprivate var maxEncodedBytes: Int {
        self.reduce(0) { $0 + 32 + $1.key.utf8.count + TextRule.encodedBytes(of: $1.value.name + $1.value.desc) }
    }
}

// SPDX-License-Identifier: Apache-2.0

/// The id of a category of an app's gifts.
package struct GiftCategoryID: CheckedTextID {
    package let text: String
    package init(_ text: String) { self.text = text }
    /// 1 to 32 letters, digits, hyphens or underscores.
    package static func isValid(_ text: String) -> Bool { TextRule.isIdentifier(text, maxBytes: 32) }
}

/// The name and the description of a gift or a category in one language.
package struct GiftText: Hashable, Sendable, Codable {
    /// At most 100 bytes.
    package var name: String
    /// At most 200 bytes.
    package var desc: String

    package init(name: String, desc: String = "") {
        self.name = name
        self.desc = desc
    }

    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.name = try values.decode(String.self, forKey: .name)
        self.desc = try values.decodeIfPresent(String.self, forKey: .desc) ?? ""
    }
}

/// A gift (R11.2).
package struct Gift: Hashable, Sendable, Codable {
    package var giftID: GiftID
    /// At most 100 bytes.
    package var name: String
    /// At most 200 bytes.
    package var desc: String
    /// At most 200 bytes.
    package var iconURL: String
    /// The URL of the animation; at most 200 bytes.
    package var resourceURL: String
    /// A number from 0 to 1,000, whose meaning the app chooses.
    package var level: Int
    /// The price of one such gift, 0 to 1,000,000,000.
    package var coins: Int64
    /// A text for the app's own use; at most 2,048 bytes.
    package var extensionInfo: String
    /// The name and the description by language, for clients that set a language (R11.1).
    package var translations: [String: GiftText]

    package init(
        giftID: GiftID, name: String, desc: String = "", iconURL: String = "", resourceURL: String = "",
        level: Int = 0, coins: Int64 = 0, extensionInfo: String = "", translations: [String: GiftText] = [:]
    ) {
        self.giftID = giftID
        self.name = name
        self.desc = desc
        self.iconURL = iconURL
        self.resourceURL = resourceURL
        self.level = level
        self.coins = coins
        self.extensionInfo = extensionInfo
        self.translations = translations
    }

    /// The gift with its name and description in `language`; without such a translation, the two texts stay the same.
    ///
    /// The result has no translations, because a client gets one language only.
    package func localized(to language: String?) -> Gift {
        var gift = self
        gift.translations = [:]
        if let text = language.flatMap({ self.translations[$0] }) {
            gift.name = text.name
            gift.desc = text.desc
        }
        return gift
    }

    private enum CodingKeys: String, CodingKey {
        case giftID, name, desc, iconURL, resourceURL, level, coins, extensionInfo, translations
    }

    /// Decodes a gift; only `giftID` and `name` are required.
    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.giftID = try values.decode(GiftID.self, forKey: .giftID)
        self.name = try values.decode(String.self, forKey: .name)
        self.desc = try values.decodeIfPresent(String.self, forKey: .desc) ?? ""
        self.iconURL = try values.decodeIfPresent(String.self, forKey: .iconURL) ?? ""
        self.resourceURL = try values.decodeIfPresent(String.self, forKey: .resourceURL) ?? ""
        self.level = try values.decodeIfPresent(Int.self, forKey: .level) ?? 0
        self.coins = try values.decodeIfPresent(Int64.self, forKey: .coins) ?? 0
        self.extensionInfo = try values.decodeIfPresent(String.self, forKey: .extensionInfo) ?? ""
        self.translations = try values.decodeIfPresent([String: GiftText].self, forKey: .translations) ?? [:]
    }

    package func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(self.giftID, forKey: .giftID)
        try values.encode(self.name, forKey: .name)
        try values.encode(self.desc, forKey: .desc)
        try values.encode(self.iconURL, forKey: .iconURL)
        try values.encode(self.resourceURL, forKey: .resourceURL)
        try values.encode(self.level, forKey: .level)
        try values.encode(self.coins, forKey: .coins)
        try values.encode(self.extensionInfo, forKey: .extensionInfo)
        if !self.translations.isEmpty { try values.encode(self.translations, forKey: .translations) }
    }
}

/// A category of an app's gifts (R11.2).
package struct GiftCategory: Hashable, Sendable, Codable {
    package var categoryID: GiftCategoryID
    /// At most 100 bytes.
    package var name: String
    /// At most 200 bytes.
    package var desc: String
    /// A text for the app's own use; at most 2,048 bytes.
    package var extensionInfo: String
    /// The gifts in display order.
    package var gifts: [Gift]
    /// The name and the description by language, for clients that set a language (R11.1).
    package var translations: [String: GiftText]

    package init(
        categoryID: GiftCategoryID, name: String, desc: String = "", extensionInfo: String = "", gifts: [Gift] = [],
        translations: [String: GiftText] = [:]
    ) {
        self.categoryID = categoryID
        self.name = name
        self.desc = desc
        self.extensionInfo = extensionInfo
        self.gifts = gifts
        self.translations = translations
    }

    /// The category and its gifts, each with its name and description in `language` if there is such a translation.
    ///
    /// The result has no translations, because a client gets one language only.
    package func localized(to language: String?) -> GiftCategory {
        var category = self
        category.translations = [:]
        category.gifts = self.gifts.map { $0.localized(to: language) }
        if let text = language.flatMap({ self.translations[$0] }) {
            category.name = text.name
            category.desc = text.desc
        }
        return category
    }

    private enum CodingKeys: String, CodingKey {
        case categoryID, name, desc, extensionInfo, gifts, translations
    }

    /// Decodes a category; only `categoryID` and `name` are required.
    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.categoryID = try values.decode(GiftCategoryID.self, forKey: .categoryID)
        self.name = try values.decode(String.self, forKey: .name)
        self.desc = try values.decodeIfPresent(String.self, forKey: .desc) ?? ""
        self.extensionInfo = try values.decodeIfPresent(String.self, forKey: .extensionInfo) ?? ""
        self.gifts = try values.decodeIfPresent([Gift].self, forKey: .gifts) ?? []
        self.translations = try values.decodeIfPresent([String: GiftText].self, forKey: .translations) ?? [:]
    }

    package func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(self.categoryID, forKey: .categoryID)
        try values.encode(self.name, forKey: .name)
        try values.encode(self.desc, forKey: .desc)
        try values.encode(self.extensionInfo, forKey: .extensionInfo)
        try values.encode(self.gifts, forKey: .gifts)
        if !self.translations.isEmpty { try values.encode(self.translations, forKey: .translations) }
    }
}

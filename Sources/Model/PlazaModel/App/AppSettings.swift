// SPDX-License-Identifier: Apache-2.0

/// The settings that an app's backend changes at run time: the word filter and the gift catalogue.
///
/// The limits are in `AppLimits`.
package struct AppSettings: Hashable, Sendable, Codable {
    /// The word filter: texts that contain one of these words, in upper or lower case, are rejected.
    ///
    /// The words are sorted and unique.
    package var words: [String]
    /// The gift catalogue in display order; a gift's id is unique among all categories.
    package var gifts: [GiftCategory]

    package init(words: [String] = [], gifts: [GiftCategory] = []) {
        self.words = words
        self.gifts = gifts
    }

    /// The gift with this id; nil if the catalogue does not contain it.
    package func gift(_ id: GiftID) -> Gift? {
        for category in self.gifts {
            if let gift = category.gifts.first(where: { $0.giftID == id }) { return gift }
        }
        return nil
    }
}

/// One change of an app's settings.
package enum AppSettingsChange: Hashable, Sendable, Codable {
    /// Replaces all words.
    case setWords(words: [String])
    case addWords(words: [String])
    /// Removes words; unknown words are ignored.
    case removeWords(words: [String])
    /// Replaces the whole catalogue.
    case setGifts(categories: [GiftCategory])
    /// Adds a category at the end, or replaces the texts of the category with the same id, which keeps its gifts.
    case putCategory(category: GiftCategory)
    /// Removes a category and its gifts.
    case removeCategory(category: GiftCategoryID)
    /// Adds a gift at the end of a category, or replaces the gift with the same id there. A gift with this id in
    /// another category moves to this category.
    case putGift(gift: Gift, category: GiftCategoryID)
    case removeGift(gift: GiftID)
}

/// Limits of an app's settings.
///
/// A number is a maximum count, or, if its name contains `Bytes`, a maximum size in bytes. A range contains the valid
/// values.
package enum AppLimits {
    package static let words = 5000
    package static let wordBytes = 100
    /// The maximum size of all words together as JSON, in bytes.
    package static let wordsTotalBytes = 64 * 1024
    package static let categories = 50
    /// The maximum number of gifts in all categories together.
    package static let gifts = 500
    package static let nameBytes = 100
    package static let descBytes = 200
    package static let urlBytes = 200
    package static let extensionInfoBytes = 2048
    /// The maximum number of translations of one gift or category.
    package static let languages = 10
    package static let languageBytes = 16
    /// The maximum size of all texts of the catalogue together, in bytes.
    package static let giftsTotalBytes = 256 * 1024
    /// The maximum size of the catalogue as JSON, in bytes.
    package static let giftsEncodedBytes = 416 * 1024
    /// The price of one gift.
    package static let coins: ClosedRange<Int64> = 0...1_000_000_000
    package static let level: ClosedRange<Int> = 0...1000
}

/// The record of an app in the topic `apps`.
package struct AppRecord: Hashable, Sendable, Codable {
    /// The version of the record's format.
    package var v = 1
    package var app: AppID
    /// Grows with every change; readers ignore a record with a lower revision than the last one.
    package var revision: Int64
    package var settings: AppSettings

    package init(app: AppID, revision: Int64, settings: AppSettings) {
        self.app = app
        self.revision = revision
        self.settings = settings
    }
}

/// The settings of all apps, built from the topic `apps`; an app without a record has empty settings.
package struct AppTable: Hashable, Sendable {
    private var records: [AppID: AppRecord] = [:]

    /// A table of these records.
    package init(_ records: [AppRecord] = []) { for record in records { self.apply(record) } }

    /// The apps that have a record, in no particular order.
    package var apps: some Collection<AppID> { self.records.keys }

    /// The settings of `app`.
    package subscript(app: AppID) -> AppSettings { self.records[app]?.settings ?? AppSettings() }

    /// The latest known revision of `app`; 0 if there is no record.
    package func revision(of app: AppID) -> Int64 { self.records[app]?.revision ?? 0 }

    /// Applies a record.
    ///
    /// - Returns: false when the table already has this revision or a newer one.
    @discardableResult package mutating func apply(_ record: AppRecord) -> Bool {
        if let current = self.records[record.app], current.revision >= record.revision { return false }
        self.records[record.app] = record
        return true
    }
}

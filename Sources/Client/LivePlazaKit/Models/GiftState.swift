// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel
internal import PlazaWire

/// The state of `GiftStore`.
public struct GiftState: Sendable, Hashable {
    /// The app's gifts; empty until they are read.
    public var usableGifts: [GiftCategory] = []
    /// Whether gifts can be sent in this live.
    public var isGiftEnabled = true

    /// Creates the initial state.
    public init() {}
}

/// An event of the gifts of a live.
public enum GiftEvent: Sendable, Hashable {
    /// A user, perhaps this one, sent `count` pieces of a gift.
    case onReceiveGift(liveID: String, gift: Gift, count: UInt8, sender: LiveUserInfo)
}

/// A gift.
public struct Gift: Sendable, Hashable {
    /// The id.
    public let giftID: String
    /// The name.
    public let name: String
    /// The description.
    public let desc: String
    /// The address of a picture.
    public let iconURL: String
    /// The address of an animation.
    public let resourceURL: String
    /// A number that the app defines.
    public let level: UInt
    /// The price of one gift.
    public let coins: UInt
    /// The app's own values, from the text in the catalogue.
    ///
    /// If the text is a JSON object of texts, these are its members. Otherwise the only value is the text itself, under
    /// the key `extensionInfo`.
    public let extensionInfo: [String: String]

    /// Makes a gift.
    public init(
        giftID: String, name: String, desc: String, iconURL: String, resourceURL: String, level: UInt, coins: UInt,
        extensionInfo: [String: String]
    ) {
        self.giftID = giftID
        self.name = name
        self.desc = desc
        self.iconURL = iconURL
        self.resourceURL = resourceURL
        self.level = level
        self.coins = coins
        self.extensionInfo = extensionInfo
    }

    init(_ gift: PlazaModel.Gift) {
        self.init(
            giftID: gift.giftID.text, name: gift.name, desc: gift.desc, iconURL: gift.iconURL,
            resourceURL: gift.resourceURL, level: UInt(clamping: gift.level), coins: UInt(clamping: gift.coins),
            extensionInfo: Gift.extensionValues(gift.extensionInfo))
    }

    /// Reads the app's own values from a text of the catalogue.
    static func extensionValues(_ text: String) -> [String: String] {
        if text.isEmpty { return [:] }
        let values = try? Wire.decode([String: String].self, from: Array(text.utf8))
        return values ?? ["extensionInfo": text]
    }
}

/// A category of gifts, which are shown together.
public struct GiftCategory: Sendable, Hashable {
    /// The id.
    public let categoryID: String
    /// The name.
    public let name: String
    /// The description.
    public let desc: String
    /// The app's own values, in the same form as `extensionInfo` of `Gift`.
    public let extensionInfo: [String: String]
    /// The gifts, in order.
    public let giftList: [Gift]

    /// Makes a category.
    public init(
        categoryID: String, name: String, desc: String, extensionInfo: [String: String], giftList: [Gift]
    ) {
        self.categoryID = categoryID
        self.name = name
        self.desc = desc
        self.extensionInfo = extensionInfo
        self.giftList = giftList
    }

    init(_ category: PlazaModel.GiftCategory) {
        self.init(
            categoryID: category.categoryID.text, name: category.name, desc: category.desc,
            extensionInfo: Gift.extensionValues(category.extensionInfo), giftList: category.gifts.map { Gift($0) })
    }
}

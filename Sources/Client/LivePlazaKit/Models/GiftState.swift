// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel
internal import PlazaWire

/// What `GiftStore` shows.
public struct GiftState: Sendable, Hashable {
    /// The app's gifts, once they were read.
    public var usableGifts: [GiftCategory] = []
    /// Gifts can be sent in this live.
    public var isGiftEnabled = true

    /// The state at the beginning.
    public init() {}
}

/// A gift was sent.
public enum GiftEvent: Sendable, Hashable {
    /// A gift was sent, perhaps by this user.
    case onReceiveGift(liveID: String, gift: Gift, count: UInt8, sender: LiveUserInfo)
}

/// A gift.
public struct Gift: Sendable, Hashable {
    /// The id.
    public let giftID: String
    /// The name.
    public let name: String
    /// What it is.
    public let desc: String
    /// A picture.
    public let iconURL: String
    /// An animation.
    public let resourceURL: String
    /// A number whose meaning is the app's.
    public let level: UInt
    /// The price of one.
    public let coins: UInt
    /// The app's own values: the members of the catalogue's text, if it is a JSON object of texts; otherwise the text
    /// itself, under `extensionInfo`.
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
            extensionInfo: Gift.values(gift.extensionInfo))
    }

    static func values(_ text: String) -> [String: String] {
        if text.isEmpty { return [:] }
        let values = try? Wire.decode([String: String].self, from: Array(text.utf8))
        return values ?? ["extensionInfo": text]
    }
}

/// Gifts that are shown together.
public struct GiftCategory: Sendable, Hashable {
    /// The id.
    public let categoryID: String
    /// The name.
    public let name: String
    /// What they are.
    public let desc: String
    /// The app's own values, as of a gift.
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
            extensionInfo: Gift.values(category.extensionInfo), giftList: category.gifts.map { Gift($0) })
    }
}

/// What `LikeStore` shows.
public struct LikeState: Sendable, Hashable {
    /// All likes, as the server counts them.
    public var totalLikeCount: UInt = 0

    /// The state at the beginning.
    public init() {}
}

/// A user liked.
public enum LikeEvent: Sendable, Hashable {
    /// A user liked, perhaps this one.
    case onReceiveLikesMessage(liveID: String, totalLikesReceived: UInt, sender: LiveUserInfo)
}

/// What `LiveSummaryStore` shows.
public struct LiveSummaryState: Sendable, Hashable {
    /// The figures.
    public var summaryData = LiveSummaryData()

    /// The state at the beginning.
    public init() {}
}

/// The figures of a live so far.
public struct LiveSummaryData: Sendable, Hashable {
    /// In milliseconds.
    public var totalDuration: UInt = 0
    /// All joins, repeated ones too; 0 until the live's end.
    public var totalViewers: UInt = 0
    /// All gifts.
    public var totalGiftsSent: UInt = 0
    /// Users who sent gifts.
    public var totalGiftUniqueSenders: UInt = 0
    /// The price of all gifts.
    public var totalGiftCoins: UInt = 0
    /// All likes.
    public var totalLikesReceived: UInt = 0
    /// All messages.
    public var totalMessageSent: UInt = 0

    /// Nothing so far.
    public init() {}

    init(_ figures: LiveStatistics) {
        self.totalDuration = UInt(clamping: figures.liveDuration)
        self.totalViewers = UInt(clamping: figures.totalViewers)
        self.totalGiftsSent = UInt(clamping: figures.totalGiftsSent)
        self.totalGiftUniqueSenders = UInt(clamping: figures.totalUniqueGiftSenders)
        self.totalGiftCoins = UInt(clamping: figures.totalGiftCoins)
        self.totalLikesReceived = UInt(clamping: figures.totalLikesReceived)
        self.totalMessageSent = UInt(clamping: figures.totalMessageCount)
    }
}

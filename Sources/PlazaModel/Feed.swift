// SPDX-License-Identifier: Apache-2.0
package import CoreKit

/// What gives way to what in a feed, highest first (I9).
@usableFromInline package enum FeedClass: Int, Hashable, Comparable, Sendable, Codable, CaseIterable {
    case control = 0
    case gift = 1
    case barrage = 2
    case tip = 3
    case counter = 4

    @inlinable package static func < (a: FeedClass, b: FeedClass) -> Bool { a.rawValue < b.rawValue }
    /// The class as metrics and docs name it.
    package var name: String {
        switch self {
        case .control: "control"
        case .gift: "gift"
        case .barrage: "barrage"
        case .tip: "tip"
        case .counter: "counter"
        }
    }
}

/// What one item of a feed says; what is large stands apart, so that messages are quick to pass on.
package enum FeedContent: Hashable, Sendable, Codable {
    case text(sender: UserInfo, text: String, extensionInfo: [String: String]?)
    case custom(sender: UserInfo, businessID: String, data: String)
    case audienceJoined(user: UserInfo)
    case audienceLeft(user: UserInfo)
    /// The live's info as it is now.
    indirect case infoChanged(info: LiveInfo)
    /// Keys that were set and keys that were removed.
    case metadataChanged(set: [String: String], removed: [String])
    case adminSet(user: UserID)
    case adminRevoked(user: UserID)
    /// The whole stage as it is now, and what led to it.
    indirect case stage(record: StageRecord, events: [StageEvent])
    /// `gift` as the app's catalogue had it, without its other languages.
    indirect case gift(sender: UserInfo, gift: Gift, count: Int, receivers: [UserID])
    /// A user may not write any more, or may again; `until` nil with `isDisable`: for good (reference 4).
    case messageDisabled(user: UserInfo, isDisable: Bool, until: Timestamp?)
    /// A user's name or avatar as it is now (reference 2, setSelfInfo).
    case userChanged(user: UserInfo)
    /// Likes of one sender, and the live's total with them: the total is what counts (reference 11.2).
    case likes(total: Int64, sender: UserInfo, count: Int64)
    /// Who speaks, loudest first; who is not named is silent (reference 7, speakingUsers).
    case speaking(users: [Speaker])
    /// The live's figures so far (reference 11.3).
    indirect case summary(statistics: LiveStatistics)
    /// From here on tips are incomplete, or complete again: the feed is, or is no longer, too full for them.
    case tips(isDegraded: Bool)
    /// The feed's last item.
    indirect case liveEnded(reason: LiveEndReason, statistics: LiveStatistics)

    /// Whether the item is its feed's last.
    package var isEnd: Bool {
        if case .liveEnded = self { return true }
        return false
    }

    /// Which class the item belongs to.
    package var feedClass: FeedClass {
        switch self {
        case .gift: .gift
        case .text, .custom: .barrage
        case .audienceJoined, .audienceLeft, .userChanged: .tip
        case .likes, .speaking, .summary: .counter
        case .infoChanged, .metadataChanged, .adminSet, .adminRevoked, .stage, .messageDisabled, .tips, .liveEnded:
            .control
        }
    }
}

/// How loud a user on a seat speaks.
package struct Speaker: Hashable, Sendable, Codable {
    package var user: UserID
    /// 1 to 100.
    package var level: Int

    package init(user: UserID, level: Int) {
        self.user = user
        self.level = level
    }
}

/// One item of a live's feed.
package struct FeedItem: Hashable, Sendable {
    package var key: LiveKey
    package var position: FeedPosition
    package var at: Timestamp
    package var content: FeedContent

    package init(key: LiveKey, position: FeedPosition, at: Timestamp, content: FeedContent) {
        self.key = key
        self.position = position
        self.at = at
        self.content = content
    }
}

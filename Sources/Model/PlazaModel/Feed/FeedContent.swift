// SPDX-License-Identifier: Apache-2.0
package import MachineKit

/// The priority classes of a feed, highest first (I9).
@usableFromInline package enum FeedClass: Int, Hashable, Comparable, Sendable, Codable, CaseIterable {
    case control = 0
    case gift = 1
    case barrage = 2
    case tip = 3
    case counter = 4

    @inlinable package static func < (a: FeedClass, b: FeedClass) -> Bool { a.rawValue < b.rawValue }
    /// The class's name in metrics and documents.
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

/// The content of one feed item.
///
/// Large payloads are indirect, so that messages are cheap to copy.
package enum FeedContent: Hashable, Sendable, Codable {
    case text(sender: UserInfo, text: String, extensionInfo: [String: String]?)
    /// A message in a format of the app, which `businessID` names.
    case custom(sender: UserInfo, businessID: String, data: String)
    /// If `continuesVisit`, the user was in the live less than a minute ago, and the visit is not counted again
    /// (R3.31).
    case audienceJoined(user: UserInfo, continuesVisit: Bool? = nil)
    case audienceLeft(user: UserInfo)
    /// The live's current info.
    ///
    /// Here and in the next three cases, `revision` is nil in items of earlier versions (R3.65).
    indirect case infoChanged(info: LiveInfo, revision: Int64? = nil)
    /// The keys that were set, with their values, and the keys that were removed.
    case metadataChanged(set: [String: String], removed: [String], revision: Int64? = nil)
    case adminSet(user: UserID, revision: Int64? = nil)
    case adminRevoked(user: UserID, revision: Int64? = nil)
    /// The complete current stage, and the events since the previous stage item.
    indirect case stage(record: StageRecord, events: [StageEvent])
    /// A gift, with its name and description as the app's catalogue has them, but without their translations.
    indirect case gift(sender: UserInfo, gift: Gift, count: Int, receivers: [UserID])
    /// If `isDisable`, the user was muted until the given time (nil: permanently); otherwise the user was unmuted
    /// (R4.17).
    case messageDisabled(user: UserInfo, isDisable: Bool, until: Timestamp?)
    /// A user's current name and avatar, after a change (R2.8).
    case userChanged(user: UserInfo)
    /// Likes of one sender, and the live's new total, which replaces any sum that a client keeps (R11.8).
    case likes(total: Int64, sender: UserInfo, count: Int64)
    /// All users who are speaking, loudest first (R7.15).
    case speaking(users: [Speaker])
    /// The live's current statistics (R11.9).
    indirect case summary(statistics: LiveStatistics)
    /// If `isDegraded`, some tips are dropped from here on, because the feed budget is used up; otherwise all tips
    /// enter the feed again.
    case tips(isDegraded: Bool)
    /// The feed's last item.
    indirect case liveEnded(reason: LiveEndReason, statistics: LiveStatistics)

    /// Whether this is the last item of its feed.
    package var isEnd: Bool {
        if case .liveEnded = self { return true }
        return false
    }

    /// The item's priority class.
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

/// The speaking level of a user on a seat.
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

// SPDX-License-Identifier: Apache-2.0
package import CoreKit

/// Whether a guest sits down by itself or asks first (reference 1, TakeSeatMode).
package enum TakeSeatMode: String, Hashable, Sendable, Codable, CaseIterable {
    case free
    case apply

    package init(from decoder: any Decoder) throws {
        let name = try String(from: decoder)
        guard let mode = Self(rawValue: name) else {
            let names = Self.allCases.map(\.rawValue).joined(separator: ", ")
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "is not one of \(names)"))
        }
        self = mode
    }
}

/// What a live is doing (reference 3.2, status).
package enum LiveStatus: Int, Hashable, Sendable, Codable {
    /// An app's server made it, and its owner has not come yet.
    case scheduled = 1
    /// Its owner is here, or has just made it.
    case running = 2
    /// Its owner has left or lost the connection; the live stays.
    case suspended = 3
}

/// What a live is: the fields of the reference, section 3.2, with its defaults.
package struct LiveInfo: Hashable, Sendable, Codable {
    package var liveID: LiveID
    /// At most 100 bytes; the live's id when empty.
    package var liveName: String
    /// At most 100 bytes.
    package var notice: String
    /// Mutes all but owner and admins.
    package var isMessageDisable: Bool
    /// False: in no list, still joinable by id.
    package var isPublicVisible: Bool
    package var keepOwnerOnSeat: Bool
    /// How many seats the live has; fixed by the template, but for karaoke and salon.
    package var maxSeatCount: Int
    package var seatMode: TakeSeatMode
    /// Voice 1 to 199, video 200 to 999.
    package var seatTemplate: Int
    /// At most 200 bytes.
    package var coverURL: String
    /// At most 200 bytes.
    package var backgroundURL: String
    /// At most 3.
    package var categoryList: [Int]
    package var activityStatus: Int
    package var isGiftEnabled: Bool
    package var metaData: [String: String]
    package var liveOwner: UserInfo
    package var createTime: Timestamp
    package var admins: [UserID]
    package var status: LiveStatus
    /// Viewers that the live takes, the owner not counted; 0: as many as the app allows.
    package var maxMemberCount: Int

    package init(
        liveID: LiveID, liveName: String = "", notice: String = "", isMessageDisable: Bool = false,
        isPublicVisible: Bool = true, keepOwnerOnSeat: Bool = true, maxSeatCount: Int = 9,
        seatMode: TakeSeatMode = .apply, seatTemplate: Int = 600, coverURL: String = "", backgroundURL: String = "",
        categoryList: [Int] = [], activityStatus: Int = 0, isGiftEnabled: Bool = true,
        metaData: [String: String] = [:], liveOwner: UserInfo, createTime: Timestamp = Timestamp(milliseconds: 0),
        admins: [UserID] = [], status: LiveStatus = .running, maxMemberCount: Int = 0
    ) {
        self.liveID = liveID
        self.liveName = liveName
        self.notice = notice
        self.isMessageDisable = isMessageDisable
        self.isPublicVisible = isPublicVisible
        self.keepOwnerOnSeat = keepOwnerOnSeat
        self.maxSeatCount = maxSeatCount
        self.seatMode = seatMode
        self.seatTemplate = seatTemplate
        self.coverURL = coverURL
        self.backgroundURL = backgroundURL
        self.categoryList = categoryList
        self.activityStatus = activityStatus
        self.isGiftEnabled = isGiftEnabled
        self.metaData = metaData
        self.liveOwner = liveOwner
        self.createTime = createTime
        self.admins = admins
        self.status = status
        self.maxMemberCount = maxMemberCount
    }

    /// Voice lives and video lives do not mix (reference 3.4).
    package var isVoice: Bool { (1...199).contains(self.seatTemplate) }
}

/// The fields that a create or an update names; nil leaves a field as it is (at create: its default).
package struct LiveChanges: Hashable, Sendable, Codable {
    package var liveName: String?
    package var notice: String?
    package var isMessageDisable: Bool?
    package var isPublicVisible: Bool?
    package var keepOwnerOnSeat: Bool?
    package var maxSeatCount: Int?
    package var seatMode: TakeSeatMode?
    package var seatTemplate: Int?
    package var coverURL: String?
    package var backgroundURL: String?
    package var categoryList: [Int]?
    package var activityStatus: Int?
    package var isGiftEnabled: Bool?
    package var maxMemberCount: Int?

    package init(
        liveName: String? = nil, notice: String? = nil, isMessageDisable: Bool? = nil, isPublicVisible: Bool? = nil,
        keepOwnerOnSeat: Bool? = nil, maxSeatCount: Int? = nil, seatMode: TakeSeatMode? = nil,
        seatTemplate: Int? = nil, coverURL: String? = nil, backgroundURL: String? = nil, categoryList: [Int]? = nil,
        activityStatus: Int? = nil, isGiftEnabled: Bool? = nil, maxMemberCount: Int? = nil
    ) {
        self.liveName = liveName
        self.notice = notice
        self.isMessageDisable = isMessageDisable
        self.isPublicVisible = isPublicVisible
        self.keepOwnerOnSeat = keepOwnerOnSeat
        self.maxSeatCount = maxSeatCount
        self.seatMode = seatMode
        self.seatTemplate = seatTemplate
        self.coverURL = coverURL
        self.backgroundURL = backgroundURL
        self.categoryList = categoryList
        self.activityStatus = activityStatus
        self.isGiftEnabled = isGiftEnabled
        self.maxMemberCount = maxMemberCount
    }
}

/// A role in a live (reference 1).
package enum LiveRole: Int, Hashable, Sendable, Codable {
    case owner = 0
    case admin = 1
    case generalUser = 2
}

/// The record of a live in the topic `rooms`; a tombstone follows some minutes after the end.
package struct RoomRecord: Hashable, Sendable, Codable {
    package var v = 1
    package var app: AppID
    package var info: LiveInfo
    /// The live's feed epoch: the offset of its creation.
    package var epoch: Int64
    /// Grows with every change of this live; a reader ignores older ones.
    package var revision: Int64
    /// Set when the live has ended.
    package var ended: LiveEndReason?

    package init(app: AppID, info: LiveInfo, epoch: Int64, revision: Int64, ended: LiveEndReason? = nil) {
        self.app = app
        self.info = info
        self.epoch = epoch
        self.revision = revision
        self.ended = ended
    }

    package var key: LiveKey { LiveKey(self.app, self.info.liveID) }
}

/// The record of a live in the topic `audience.counts`.
package struct CountRecord: Hashable, Sendable, Codable {
    package var v = 1
    package var app: AppID
    package var live: LiveID
    package var epoch: Int64
    /// Users in the live, the owner not counted.
    package var count: Int
    /// All entries so far, repeat visits counted; lists are ordered by it.
    package var totalViewers: Int
    /// Presence cannot vouch for the count just now.
    package var stale: Bool
    /// The broker's time of the count.
    package var at: Timestamp

    package init(
        app: AppID, live: LiveID, epoch: Int64, count: Int, totalViewers: Int, stale: Bool = false, at: Timestamp
    ) {
        self.app = app
        self.live = live
        self.epoch = epoch
        self.count = count
        self.totalViewers = totalViewers
        self.stale = stale
        self.at = at
    }

    package var key: LiveKey { LiveKey(self.app, self.live) }
}

/// The other record in `audience.counts`, one per partition under the key `#epoch/<partition>`: presence began anew,
/// so gateways assert their members of that partition's lives (I5).
package struct PresenceEpochRecord: Hashable, Sendable, Codable {
    package var v = 1
    package var partition: Int
    package var epoch: String

    package init(partition: Int, epoch: String) {
        self.partition = partition
        self.epoch = epoch
    }

    /// The record's key.
    package var keyText: String { Self.keyPrefix + "\(self.partition)" }
    /// What tells these records' keys from those of lives: no app's name begins so.
    package static let keyPrefix = "#epoch/"
}

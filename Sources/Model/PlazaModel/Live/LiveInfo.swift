// SPDX-License-Identifier: Apache-2.0
package import MachineKit

/// Whether a guest may take a seat directly (`free`) or must apply for it (R1.7).
package enum TakeSeatMode: String, Hashable, Sendable, Codable, CaseIterable {
    case free
    case apply

    /// Decodes a mode; the error for an unknown name lists the valid names.
    ///
    /// The error's text has no subject, because the field's name (the coding path) is put before the text.
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

/// The status of a live (R3.30).
package enum LiveStatus: Int, Hashable, Sendable, Codable {
    /// An app's server created the live, and the owner has not joined yet.
    case scheduled = 1
    /// The owner is in the live, or has just created it.
    case running = 2
    /// The owner has left or lost the connection, but the live continues.
    case suspended = 3
}

/// The public fields of a live and their defaults (R3.11, R3.15, R3.16).
package struct LiveInfo: Hashable, Sendable, Codable {
    package var liveID: LiveID
    /// At most 100 bytes; the live's id when empty.
    package var liveName = ""
    /// The announcement that viewers see; at most 100 bytes.
    package var notice = ""
    /// Whether all viewers except the owner and the admins are muted.
    ///
    /// The name is the one that apps of this family use.
    package var isMessageDisable = false
    /// Whether lists contain the live; users who know its id can join in any case.
    package var isPublicVisible = true
    /// Whether the owner has seat 0.
    package var keepOwnerOnSeat = true
    /// The number of seats; fixed by the template, except for the templates 50 (karaoke) and 70 (audio salon).
    package var maxSeatCount = 9
    package var seatMode = TakeSeatMode.apply
    /// The number of a `SeatTemplate`: voice 1 to 199, video 200 to 999; 600 is the dynamic grid.
    package var seatTemplate = 600
    /// At most 200 bytes.
    package var coverURL = ""
    /// At most 200 bytes.
    package var backgroundURL = ""
    /// At most 3 category numbers, which the app defines.
    package var categoryList: [Int] = []
    /// A number that the app defines.
    package var activityStatus = 0
    package var isGiftEnabled = true
    package var metaData: [String: String] = [:]
    package var liveOwner: UserInfo
    package var createTime: Timestamp
    package var admins: [UserID] = []
    package var status = LiveStatus.running
    /// The maximum number of viewers, without the owner; 0 means the app's limit.
    package var maxMemberCount = 0

    /// A live with the defaults, except for what `configure` sets.
    package init(
        liveID: LiveID, liveOwner: UserInfo, createTime: Timestamp = Timestamp(milliseconds: 0),
        _ configure: (inout Self) -> Void = { _ in }
    ) {
        self.liveID = liveID
        self.liveOwner = liveOwner
        self.createTime = createTime
        configure(&self)
    }

    /// Whether this is a voice live, not a video live.
    ///
    /// A voice live cannot be connected with a video live (R3.40).
    package var isVoice: Bool { SeatTemplate.voiceIDs.contains(self.seatTemplate) }
}

/// The fields of a live that a call to create or update the live sets.
///
/// A field is nil if the call does not set it: an update keeps the field's value, and a create uses the default.
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

/// A role in a live (R1.5).
package enum LiveRole: Int, Hashable, Sendable, Codable {
    case owner = 0
    case admin = 1
    case generalUser = 2
}

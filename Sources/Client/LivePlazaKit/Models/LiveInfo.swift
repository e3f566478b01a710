// SPDX-License-Identifier: Apache-2.0
public import Foundation
internal import MachineKit
internal import PlazaModel
internal import PlazaWire

/// How a viewer gets a seat.
public enum TakeSeatMode: Sendable, Hashable {
    /// By an application, which a host accepts.
    case apply
    /// The viewer takes a free seat without asking.
    case free
}

/// The info of a live: its name, settings, owner and admins.
public struct LiveInfo: Sendable, Hashable {
    /// The id, case sensitive.
    public var liveID = ""
    /// The name, at most 100 bytes; if it is empty when the live is created, the id becomes the name.
    public var liveName = ""
    /// A text for all viewers, at most 100 bytes.
    public var notice = ""
    /// Whether all viewers except the owner and the admins are muted.
    public var isMessageDisable = false
    /// Whether lists contain the live.
    ///
    /// Users who know its id may always enter.
    public var isPublicVisible = true
    /// Whether guests can take seats.
    public var isSeatEnabled = true
    /// Whether the owner has seat 0.
    public var keepOwnerOnSeat = true
    /// The number of seats; 0 for as many seats as `seatTemplate` has.
    ///
    /// Setting `seatTemplate` replaces this number. The app can choose the number only with `karaoke` and `audioSalon`,
    /// the templates for voices.
    public var maxSeatCount = 0
    /// How a viewer gets a seat.
    public var seatMode = TakeSeatMode.apply
    /// How the users on seats are arranged.
    public var seatTemplate: SeatLayoutTemplate {
        didSet {
            self.seatLayoutTemplateID = UInt(self.seatTemplate.templateID)
            self.maxSeatCount = self.seatTemplate.seatCount ?? 0
        }
    }
    /// The number that identifies the template in the protocol, also for a template that this version does not know.
    public var seatLayoutTemplateID: UInt
    /// The address of the cover, at most 200 bytes.
    public var coverURL = ""
    /// The address of the background, at most 200 bytes.
    public var backgroundURL = ""
    /// At most three numbers of categories, which the app defines.
    public var categoryList: [NSNumber] = []
    /// A number that the app defines.
    public var activityStatus = 0
    /// Whether gifts can be sent.
    public var isGiftEnabled = true
    /// The app's own values by key.
    public var metaData: [String: String] = [:]
    /// The number of visits so far, including repeated ones; a user who comes back within a minute continues the visit.
    public var totalViewerCount = 0
    /// The owner of the live.
    public internal(set) var liveOwner = LiveUserInfo()
    /// The ids of the admins.
    public internal(set) var admins: [String] = []
    /// When the live was created, in seconds since 1970.
    public internal(set) var createTime = 0
    /// Whether this value stands for no live; false in every value that the server has sent.
    public internal(set) var isEmpty = true

    /// Makes a description of a live with default values, to be passed to `createLive`.
    public init(seatTemplate: SeatLayoutTemplate = .videoDynamicGrid9Seats) {
        self.seatTemplate = seatTemplate
        self.seatLayoutTemplateID = UInt(seatTemplate.templateID)
        self.maxSeatCount = seatTemplate.seatCount ?? 0
    }

    /// Converts the info that the server has sent.
    init(_ info: PlazaModel.LiveInfo, totalViewerCount: Int) {
        self.init(seatTemplate: SeatLayoutTemplate(templateID: info.seatTemplate, seatCount: info.maxSeatCount))
        // If this version does not know the template, `seatTemplate` is a substitute, but the real number is kept.
        self.seatLayoutTemplateID = UInt(clamping: info.seatTemplate)
        self.liveID = info.liveID.text
        self.liveName = info.liveName
        self.notice = info.notice
        self.isMessageDisable = info.isMessageDisable
        self.isPublicVisible = info.isPublicVisible
        self.keepOwnerOnSeat = info.keepOwnerOnSeat
        self.maxSeatCount = info.maxSeatCount
        self.isSeatEnabled = info.maxSeatCount > 0
        self.seatMode = info.seatMode == .free ? .free : .apply
        self.coverURL = info.coverURL
        self.backgroundURL = info.backgroundURL
        self.categoryList = info.categoryList.map { NSNumber(value: $0) }
        self.activityStatus = info.activityStatus
        self.isGiftEnabled = info.isGiftEnabled
        self.metaData = info.metaData
        self.totalViewerCount = totalViewerCount
        self.liveOwner = LiveUserInfo(info.liveOwner)
        self.admins = info.admins.map(\.text)
        self.createTime = Int(clamping: info.createTime.seconds)
        self.isEmpty = false
    }
}

extension LiveInfo {
    /// The fields of a live that an update changes; the bits 3 and 4 have no meaning.
    public struct ModifyFlag: OptionSet, Sendable {
        /// The bits.
        public let rawValue: UInt

        /// Makes a set from its bits.
        public init(rawValue: UInt) { self.rawValue = rawValue }

        /// No field.
        public static let none: ModifyFlag = []
        /// Changes `liveName`.
        public static let liveName = ModifyFlag(rawValue: 1 << 0)
        /// Changes `notice`.
        public static let notice = ModifyFlag(rawValue: 1 << 1)
        /// Changes `isMessageDisable`.
        public static let isMessageDisable = ModifyFlag(rawValue: 1 << 2)
        /// Changes `isPublicVisible`.
        public static let isPublicVisible = ModifyFlag(rawValue: 1 << 5)
        /// Changes `seatMode`.
        public static let seatMode = ModifyFlag(rawValue: 1 << 6)
        /// Changes `coverURL`.
        public static let coverURL = ModifyFlag(rawValue: 1 << 7)
        /// Changes `backgroundURL`.
        public static let backgroundURL = ModifyFlag(rawValue: 1 << 8)
        /// Changes `categoryList`.
        public static let categoryList = ModifyFlag(rawValue: 1 << 9)
        /// Changes `activityStatus`.
        public static let activityStatus = ModifyFlag(rawValue: 1 << 10)
        /// Changes `seatLayoutTemplateID`.
        public static let seatLayoutTemplateID = ModifyFlag(rawValue: 1 << 11)
    }

    /// The parameters of an update that changes the fields of `flags` (PROTOCOL.md, section 11.1).
    func updateParams(_ flags: ModifyFlag) -> [String: JSONValue] {
        var params: [String: JSONValue] = [:]
        func add(_ flag: ModifyFlag, _ name: String, _ value: JSONValue) {
            if flags.contains(flag) { params[name] = value }
        }
        add(.liveName, "liveName", .text(self.liveName))
        add(.notice, "notice", .text(self.notice))
        add(.isMessageDisable, "isMessageDisable", .bool(self.isMessageDisable))
        add(.isPublicVisible, "isPublicVisible", .bool(self.isPublicVisible))
        add(.seatMode, "seatMode", .text(self.seatMode == .free ? "free" : "apply"))
        add(.coverURL, "coverURL", .text(self.coverURL))
        add(.backgroundURL, "backgroundURL", .text(self.backgroundURL))
        add(.categoryList, "categoryList", .array(self.categoryList.map { .whole($0.int64Value) }))
        add(.activityStatus, "activityStatus", .whole(self.activityStatus))
        add(.seatLayoutTemplateID, "seatTemplate", .whole(self.seatLayoutTemplateID))
        return params
    }

    /// The parameters of `live.create`: the fields that an app can choose, without empty texts, for which the server
    /// has defaults.
    var creationParams: [String: JSONValue] {
        // A set with all bits contains every flag.
        var params = self.updateParams(ModifyFlag(rawValue: .max))
        params["keepOwnerOnSeat"] = .bool(self.keepOwnerOnSeat)
        params["isGiftEnabled"] = .bool(self.isGiftEnabled)
        // In the protocol, 0 means that the live has no seats. Without the parameter, the live has as many seats as its
        // template.
        if !self.isSeatEnabled {
            params["maxSeatCount"] = .whole(0)
        } else if self.maxSeatCount > 0 {
            params["maxSeatCount"] = .whole(self.maxSeatCount)
        }
        for name in ["liveName", "notice", "coverURL", "backgroundURL"] where params[name] == .text("") {
            params[name] = nil
        }
        return params
    }
}

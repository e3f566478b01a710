// SPDX-License-Identifier: Apache-2.0

/// When a live ends by itself (reference 3.4); 0 is never.
package struct DismissalPolicy: Hashable, Sendable, Codable {
    /// Seconds for which nobody is in the live, the owner neither.
    package var afterNoUsersSeconds: Int64
    /// Seconds since the owner left.
    package var afterOwnerLeaveSeconds: Int64
    /// Seconds since the owner's connection was lost, beyond the lease.
    package var afterOwnerOfflineSeconds: Int64

    /// A policy; what is not named is never.
    package init(
        afterNoUsersSeconds: Int64 = 0, afterOwnerLeaveSeconds: Int64 = 0, afterOwnerOfflineSeconds: Int64 = 0
    ) {
        self.afterNoUsersSeconds = afterNoUsersSeconds
        self.afterOwnerLeaveSeconds = afterOwnerLeaveSeconds
        self.afterOwnerOfflineSeconds = afterOwnerOfflineSeconds
    }

    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.afterNoUsersSeconds = try values.decodeIfPresent(Int64.self, forKey: .afterNoUsersSeconds) ?? 0
        self.afterOwnerLeaveSeconds = try values.decodeIfPresent(Int64.self, forKey: .afterOwnerLeaveSeconds) ?? 0
        self.afterOwnerOfflineSeconds = try values.decodeIfPresent(Int64.self, forKey: .afterOwnerOfflineSeconds) ?? 0
    }
}

/// On how many devices a user may be signed in at once (reference 2, kickedOffline).
package enum DevicePolicy: String, Hashable, Sendable, Codable {
    /// On any number.
    case several
    /// On one: a new sign-in ends the older ones.
    case one
}

/// What an app may set for itself; the defaults are those of the reference, section 17.
package struct AppPolicy: Hashable, Sendable, Codable {
    /// Feed messages in any sliding second (I9).
    package var feedBudget: Int
    /// Administrators of a live.
    package var maxAdmins: Int
    /// Viewers of a live.
    package var maxAudience: Int
    /// A battle's longest duration in seconds, and the one that is taken when none is named.
    package var maxBattleSeconds: Int64
    /// When lives end by themselves.
    package var dismissal: DismissalPolicy
    package var devices: DevicePolicy
    /// Messages that one user may send to a live in a second.
    package var messagesPerUserPerSecond: Int
    /// The last messages of the feed that a newcomer gets, 0 to 50 (reference 5).
    package var historyCount: Int
    /// How guests sit down in lives that the app's server makes and names no mode for (reference 20).
    package var seatModeOfServer: TakeSeatMode
    /// The app's backend wants to hear of what happens; follows from the app's hooks, and is not set by itself.
    package var hasWebhooks = false

    package init(
        feedBudget: Int = 40, maxAdmins: Int = 5, maxAudience: Int = 1_000_000, maxBattleSeconds: Int64 = 300,
        dismissal: DismissalPolicy = DismissalPolicy(), devices: DevicePolicy = .several,
        messagesPerUserPerSecond: Int = 60, historyCount: Int = 0, seatModeOfServer: TakeSeatMode = .free
    ) {
        self.feedBudget = feedBudget
        self.maxAdmins = maxAdmins
        self.maxAudience = maxAudience
        self.maxBattleSeconds = maxBattleSeconds
        self.dismissal = dismissal
        self.devices = devices
        self.messagesPerUserPerSecond = messagesPerUserPerSecond
        self.historyCount = historyCount
        self.seatModeOfServer = seatModeOfServer
    }

    private enum CodingKeys: String, CodingKey {
        case feedBudget
        case maxAdmins
        case maxAudience
        case maxBattleSeconds
        case dismissal
        case devices
        case messagesPerUserPerSecond
        case historyCount
        case seatModeOfServer
    }

    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        func value<Value: Decodable>(_ key: CodingKeys, _ standard: Value) throws -> Value {
            try values.decodeIfPresent(Value.self, forKey: key) ?? standard
        }
        let standard = AppPolicy()
        self.init(
            feedBudget: try value(.feedBudget, standard.feedBudget),
            maxAdmins: try value(.maxAdmins, standard.maxAdmins),
            maxAudience: try value(.maxAudience, standard.maxAudience),
            maxBattleSeconds: try value(.maxBattleSeconds, standard.maxBattleSeconds),
            dismissal: try value(.dismissal, standard.dismissal), devices: try value(.devices, standard.devices),
            messagesPerUserPerSecond: try value(.messagesPerUserPerSecond, standard.messagesPerUserPerSecond),
            historyCount: try value(.historyCount, standard.historyCount),
            seatModeOfServer: try value(.seatModeOfServer, standard.seatModeOfServer))
        guard (0...Limits.history).contains(self.historyCount) else {
            throw DecodingError.dataCorruptedError(
                forKey: .historyCount, in: values, debugDescription: "is not 0 to \(Limits.history)")
        }
    }
}

/// The policies of all apps; an app that is not named has the defaults.
package struct Policies: Hashable, Sendable {
    package var apps: [AppID: AppPolicy]

    package init(_ apps: [AppID: AppPolicy] = [:]) { self.apps = apps }
    /// The policy of `app`.
    package subscript(app: AppID) -> AppPolicy { self.apps[app] ?? AppPolicy() }
}

/// Limits that no app can change.
package enum Limits {
    package static let liveNameBytes = 100
    package static let noticeBytes = 100
    package static let urlBytes = 200
    package static let categories = 3
    package static let metadataKeys = 10
    package static let metadataKeyBytes = 50
    package static let metadataValueBytes = 2048
    package static let metadataTotalBytes = 16 * 1024
    /// One message, text or custom, with all that belongs to it.
    package static let messageBytes = 12 * 1024
    /// Messages that a newcomer may be given (reference 5).
    package static let history = 50
    /// How many of a gift one call sends (reference 11.1: the client's count is one byte).
    package static let giftCount = 1...255
    /// Users whom one call gives to.
    package static let giftReceivers = 50
    /// Likes of one call: clients gather taps for some seconds.
    package static let likesPerCall = 1...1000
    /// How loud a user speaks; 0 is silent.
    package static let speakingLevel = 0...100
    package static let listPage = 50
    package static let audiencePage = 200
    /// Candidates for a connection on one page (reference 17).
    package static let candidatesPage = 20
    package static let coHostLives = 9
    /// Lives asked by one co-host request.
    package static let coHostTargets = 8
    /// Seats of a voice live that take part in a connection: the first six; with more occupied it cannot connect.
    package static let voiceCoHostSeats = 6
    package static let requestTimeoutSeconds: ClosedRange<Int64> = 1...1800
    package static let defaultRequestTimeoutSeconds: Int64 = 10
    package static let seatCount = 50
    /// The numbers that a seat template may have (reference 9).
    package static let templates: ClosedRange<Int> = 1...999
    /// Seat calls of one session in a live.
    package static let seatCallsPerSecond = 10
    /// Floors that a machine keeps for one live; the oldest go first.
    package static let floorsPerLive = 1000
    /// Users banned from one live at a time.
    package static let bansPerLive = 1000
    package static let extraInfoBytes = 2048
    package static let userNameBytes = 100
    /// Open applications and invitations of one live.
    package static let openSeatRequests = 500
    /// A JSON frame from a client.
    package static let clientFrameBytes = 64 * 1024
}

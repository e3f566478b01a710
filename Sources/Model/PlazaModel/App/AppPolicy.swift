// SPDX-License-Identifier: Apache-2.0

/// The delays in seconds after which a live is ended automatically (R3.60, R3.61); 0 means never.
package struct DismissalPolicy: Hashable, Sendable, Codable {
    /// The delay after the last user has left the live; that user may be the owner.
    package var afterNoUsersSeconds: Int64
    /// The delay after the owner has left the live.
    package var afterOwnerLeaveSeconds: Int64
    /// The delay after the owner's lease has expired, because its heartbeats stopped.
    package var afterOwnerOfflineSeconds: Int64

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

/// How many devices a user may be signed in on at the same time (R2.18).
package enum DevicePolicy: String, Hashable, Sendable, Codable {
    /// Any number.
    case several
    /// One: a new sign-in ends the user's older sessions.
    case one
}

/// The settings of an app in the apps file; a value out of range is rejected at start (R17.1).
package struct AppPolicy: Hashable, Sendable, Codable {
    /// The maximum number of feed messages in any sliding second (I9).
    package var feedBudget: Int
    /// The maximum number of admins of a live.
    package var maxAdmins: Int
    /// The maximum number of viewers of a live.
    package var maxAudience: Int
    /// The maximum duration of a battle in seconds; it is also the default duration.
    package var maxBattleSeconds: Int64
    /// When lives are ended automatically.
    package var dismissal: DismissalPolicy
    /// How many devices a user may be signed in on.
    package var devices: DevicePolicy
    /// The maximum number of messages that one user may send to a live in a second.
    package var messagesPerUserPerSecond: Int
    /// How many earlier messages a new viewer receives, 0 to 50 (R5.15).
    package var historyCount: Int
    /// The default seat mode of lives that the app's server creates (R3.15).
    package var seatModeOfServer: TakeSeatMode
    /// Whether the app's backend gets webhook events; derived from the app's hooks, not a setting.
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
        func value<Value: Decodable>(_ key: CodingKeys, _ defaultValue: Value) throws -> Value {
            try values.decodeIfPresent(Value.self, forKey: key) ?? defaultValue
        }
        let defaults = AppPolicy()
        self.init(
            feedBudget: try value(.feedBudget, defaults.feedBudget),
            maxAdmins: try value(.maxAdmins, defaults.maxAdmins),
            maxAudience: try value(.maxAudience, defaults.maxAudience),
            maxBattleSeconds: try value(.maxBattleSeconds, defaults.maxBattleSeconds),
            dismissal: try value(.dismissal, defaults.dismissal), devices: try value(.devices, defaults.devices),
            messagesPerUserPerSecond: try value(.messagesPerUserPerSecond, defaults.messagesPerUserPerSecond),
            historyCount: try value(.historyCount, defaults.historyCount),
            seatModeOfServer: try value(.seatModeOfServer, defaults.seatModeOfServer))
        guard (0...Limits.history).contains(self.historyCount) else {
            throw DecodingError.dataCorruptedError(
                forKey: .historyCount, in: values, debugDescription: "is not 0 to \(Limits.history)")
        }
    }
}

/// The policies of all apps; an app without a policy has the defaults.
package struct Policies: Hashable, Sendable {
    package var apps: [AppID: AppPolicy]

    package init(_ apps: [AppID: AppPolicy] = [:]) { self.apps = apps }
    /// The policy of `app`.
    package subscript(app: AppID) -> AppPolicy { self.apps[app] ?? AppPolicy() }
}

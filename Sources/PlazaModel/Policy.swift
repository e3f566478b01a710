// SPDX-License-Identifier: Apache-2.0

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
    /// Messages of before that a newcomer is given (reference 5 and 17): 0 to `Limits.history`.
    package var historyCount: Int
    /// The app's backend wants to hear of what happens; follows from the app's hooks, and is not set by itself.
    package var hasWebhooks = false

    package init(
        feedBudget: Int = 40, maxAdmins: Int = 5, maxAudience: Int = 1_000_000, maxBattleSeconds: Int64 = 300,
        historyCount: Int = 0
    ) {
        self.feedBudget = feedBudget
        self.maxAdmins = maxAdmins
        self.maxAudience = maxAudience
        self.maxBattleSeconds = maxBattleSeconds
        self.historyCount = historyCount
    }

    package init(from decoder: any Decoder) throws {
        let standard = AppPolicy()
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.feedBudget = try values.decodeIfPresent(Int.self, forKey: .feedBudget) ?? standard.feedBudget
        self.maxAdmins = try values.decodeIfPresent(Int.self, forKey: .maxAdmins) ?? standard.maxAdmins
        self.maxAudience = try values.decodeIfPresent(Int.self, forKey: .maxAudience) ?? standard.maxAudience
        self.maxBattleSeconds =
            try values.decodeIfPresent(Int64.self, forKey: .maxBattleSeconds) ?? standard.maxBattleSeconds
        self.historyCount = try values.decodeIfPresent(Int.self, forKey: .historyCount) ?? standard.historyCount
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
    /// Messages of before that a newcomer is given at most (reference 17).
    package static let history = 50
    package static let listPage = 50
    package static let audiencePage = 200
    package static let coHostLives = 9
    /// Lives asked by one co-host request.
    package static let coHostTargets = 8
    /// Seats of a voice live that take part in a connection: the first six; with more occupied it cannot connect.
    package static let voiceCoHostSeats = 6
    package static let requestTimeoutSeconds: ClosedRange<Int64> = 1...1800
    package static let defaultRequestTimeoutSeconds: Int64 = 10
    package static let seatCount = 50
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

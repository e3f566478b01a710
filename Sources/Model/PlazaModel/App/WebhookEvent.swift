// SPDX-License-Identifier: Apache-2.0
package import MachineKit

/// Why users joined or left (R14.13).
package enum MemberCause: String, Hashable, Sendable, Codable {
    case enter
    /// The user left or was kicked, or the live ended.
    case leave
    /// The user's heartbeats stopped, and its lease expired.
    case heartbeatInterrupt
    /// A heartbeat arrived again after the lease had expired.
    case heartbeatRecover
}

/// How a battle ended, as reported to the app's backend (R14.21, R14.22).
package enum BattleEndKind: Int, Hashable, Sendable, Codable {
    case timeOver = 0
    /// All lives left the battle before its time was over.
    case allMemberExit = 1
    /// The battle was requested, but never began.
    case neverStarted = 2
}

/// The content of an event that an app's backend receives after it happened (R14.6).
package enum WebhookContent: Hashable, Sendable, Codable {
    case roomCreated(info: LiveInfo, by: UserID)
    case roomEnded(info: LiveInfo?, reason: LiveEndReason, statistics: LiveStatistics)
    /// A call changed the live's info.
    case roomUpdated(info: LiveInfo, by: UserID)
    case metadataSet(values: [String: String], by: UserID)
    case metadataDeleted(keys: [String], by: UserID)
    /// A user became an admin or ceased to be one; `admins` are the current admins.
    case adminChanged(user: UserID, isAdmin: Bool, admins: [UserID], by: UserID)
    /// Users joined the live, or left it if `isOnline` is false.
    case memberState(isOnline: Bool, cause: MemberCause, users: [UserInfo])
    /// The complete current seat list.
    case seatsChanged(seats: [Seat])
    /// The live `from` asked the lives `to` for a battle.
    ///
    /// This event and each later event of the battle have the live `from` in their `WebhookEvent.key`.
    /// `durationMilliseconds` is the planned length of the battle. `timeoutMilliseconds` is how long the lives `to` may
    /// take to accept; 0 if `needResponse` is false.
    case battleCreated(
        battle: BattleID, from: BattleSide, to: [BattleSide], durationMilliseconds: Int64, timeoutMilliseconds: Int64,
        needResponse: Bool, extensionInfo: String)
    /// A battle began; `endTime` is the planned end.
    case battleStarted(
        battle: BattleID, from: BattleSide, to: [BattleSide], createdAt: Timestamp, startTime: Timestamp,
        endTime: Timestamp)
    /// A battle ended; the sides contain the final scores, and `startTime` is nil if the battle never started.
    case battleEnded(
        battle: BattleID, from: BattleSide, to: [BattleSide], createdAt: Timestamp, startTime: Timestamp?,
        endTime: Timestamp, kind: BattleEndKind)

    /// The event's name.
    package var name: WebhookName {
        switch self {
        case .roomCreated: .roomCreated
        case .roomEnded: .roomEnded
        case .roomUpdated: .roomUpdated
        case .metadataSet: .metadataSet
        case .metadataDeleted: .metadataDeleted
        case .adminChanged: .adminChanged
        case .memberState: .memberState
        case .seatsChanged: .seatsChanged
        case .battleCreated: .battleCreated
        case .battleStarted: .battleStarted
        case .battleEnded: .battleEnded
        }
    }
}

/// The names of the events; `AppHooks.events` lists the events that an app's backend receives.
package enum WebhookName: String, Hashable, Sendable, Codable, CaseIterable {
    case roomCreated
    case roomEnded
    case roomUpdated
    case metadataSet
    case metadataDeleted
    case adminChanged
    case memberState
    case seatsChanged
    case battleCreated
    case battleStarted
    case battleEnded
}

/// A record of the topic `webhooks`: one event of a live, for its app's backend.
///
/// Machines write these records in their transactions, and only when `policies[app].hasWebhooks`.
package struct WebhookEvent: Hashable, Sendable, Codable {
    /// The version of the record's format.
    package var v = 1
    package var app: AppID
    package var live: LiveID
    /// The broker's time of the event.
    package var at: Timestamp
    package var content: WebhookContent

    package init(_ key: LiveKey, at: Timestamp, _ content: WebhookContent) {
        self.app = key.app
        self.live = key.live
        self.at = at
        self.content = content
    }

    package var key: LiveKey { LiveKey(self.app, self.live) }
}

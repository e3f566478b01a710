// SPDX-License-Identifier: Apache-2.0
package import CoreKit

/// Why users came or went (reference 14, EventCause).
package enum MemberCause: String, Hashable, Sendable, Codable {
    case enter
    /// Left, was kicked, or was out at the live's end.
    case leave
    /// No sign of life until the lease ended.
    case heartbeatInterrupt
    /// Back after that.
    case heartbeatRecover
}

/// How a battle came to its end for an app's backend (reference 14, OpType).
package enum BattleEndKind: Int, Hashable, Sendable, Codable {
    case timeOver = 0
    case allMemberExit = 1
    case neverStarted = 2
}

/// What an app's backend is told after it happened (reference 14, the After commands).
package enum WebhookContent: Hashable, Sendable, Codable {
    case roomCreated(info: LiveInfo, by: UserID)
    case roomEnded(info: LiveInfo?, reason: LiveEndReason, statistics: LiveStatistics)
    /// A call changed the live's info.
    case roomUpdated(info: LiveInfo, by: UserID)
    case metadataSet(values: [String: String], by: UserID)
    case metadataDeleted(keys: [String], by: UserID)
    /// A user became an admin, or is none any more; `admins` are those that there are now.
    case adminChanged(user: UserID, isAdmin: Bool, admins: [UserID], by: UserID)
    case memberState(isOnline: Bool, cause: MemberCause, users: [UserInfo])
    /// The seat list as it is, complete.
    case seatsChanged(seats: [Seat])
    /// Told under the inviting live, which is `from`, as all of a battle's events.
    case battleCreated(
        battle: BattleID, from: BattleSide, to: [BattleSide], durationMilliseconds: Int64, timeoutMilliseconds: Int64,
        needResponse: Bool, extensionInfo: String)
    case battleStarted(
        battle: BattleID, from: BattleSide, to: [BattleSide], createdAt: Timestamp, startTime: Timestamp,
        endTime: Timestamp)
    /// With the scores; `startTime` is nil when it never started.
    case battleEnded(
        battle: BattleID, from: BattleSide, to: [BattleSide], createdAt: Timestamp, startTime: Timestamp?,
        endTime: Timestamp, kind: BattleEndKind)

    /// The event's name, as an app's list of wanted events has it.
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

/// The after-events by name.
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
/// A machine writes it in its transaction, and only when `policies[app].hasWebhooks`.
package struct WebhookEvent: Hashable, Sendable, Codable {
    package var v = 1
    package var app: AppID
    package var live: LiveID
    /// The broker's time of what happened.
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

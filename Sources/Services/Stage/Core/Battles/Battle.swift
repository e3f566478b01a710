// SPDX-License-Identifier: Apache-2.0
package import MachineKit
package import PlazaModel

/// A live that is invited to a battle.
package struct BattleInvitee: Equatable, Sendable, Codable {
    package var live: LiveID
    package var hasAccepted: Bool
}

/// A battle, which is in one of three states.
///
/// 1. Requested: `view` is nil. The battle starts when all remaining invitees have accepted. It is removed when no
///    invitee remains, or when the inviter leaves the connection.
/// 2. Running: the scores can change. The battle ends when its time is over or when all sides have left.
/// 3. Over: `view` has the result. The battle is removed when no live shows it any more.
package struct Battle: Equatable, Sendable, Codable {
    /// The minimum time between two publications of the scores while the battle is running.
    package static let publishInterval = Milliseconds(500)

    package var id: BattleID
    package var inviter: LiveID
    /// The sides at the time of the request: the inviter's side first, then those of the invited lives.
    ///
    /// A side is a live that takes part, with the profile of its owner.
    package var asked: [BattleSide]
    package var createdAt: Timestamp
    package var durationSeconds: Int64
    /// Whether the invitees have to accept; otherwise the battle starts at once.
    package var needResponse: Bool
    package var extensionInfo: String
    /// The invited lives that have accepted or have not answered yet; empty once the battle has started.
    package var invitees: [BattleInvitee]
    /// When the request expires: an invitee that has not answered by then is removed from `invitees`.
    ///
    /// If `needResponse` is false, this is the time of the request.
    package var expiresAt: Timestamp
    /// The battle as viewers see it; nil until it starts.
    package var view: BattleView?
    /// When the scores were last published.
    package var publishedAt: Timestamp?
    /// Whether the scores have changed since they were last published.
    package var isDirty = false
    /// The co-host connection of the battle's lives; all lives of the connection are notified of the battle.
    ///
    /// Nil in rows of older versions.
    package var connection: ConnectionID?

    /// Whether the battle is requested (state 1).
    ///
    /// This is so while `view` is nil. Its end time is tested, because `view == nil` would copy the whole view.
    var isRequested: Bool { self.view?.endTime == nil }
    /// Whether the battle is running (state 2).
    var isRunning: Bool { !self.isRequested && self.view?.ended == nil }

    /// The battle as an app's server sees it.
    var details: BattleDetails {
        BattleDetails(
            id: self.id, inviter: self.inviter, createTime: self.createdAt, durationSeconds: self.durationSeconds,
            needResponse: self.needResponse, extensionInfo: self.extensionInfo,
            expiresAt: self.isRequested ? self.expiresAt : nil,
            invitees: self.invitees.map { .init(live: $0.live, hasAccepted: $0.hasAccepted) }, battle: self.view)
    }

    /// When the request expires, the changed scores must be published, or the battle ends, whichever is next; nil once
    /// the battle is over.
    package var due: Timestamp? {
        guard let endTime = self.view?.endTime else { return self.expiresAt }
        guard self.view?.ended == nil else { return nil }
        guard self.isDirty, let publishedAt = self.publishedAt else { return endTime }
        return min(endTime, publishedAt + Self.publishInterval)
    }

    /// The index of the side of `live` in `view`; nil if the live is not in the battle or has left it.
    func sideIndex(of live: LiveID) -> Int? { self.view?.sides.firstIndex { $0.live == live && !$0.hasLeft } }
}

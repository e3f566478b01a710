// SPDX-License-Identifier: Apache-2.0
package import MachineKit
package import PlazaModel

/// A live that is invited to a battle.
package struct BattleInvitee: Equatable, Sendable, Codable {
    package var live: LiveID
    package var hasAccepted: Bool
}

/// A battle in one of three states.
///
/// 1. Requested (`view` is nil). The battle starts when every invitee has answered and at least one has accepted. If
///    all have rejected, the battle is removed.
/// 2. Running. The battle ends when its time is over or all sides have left.
/// 3. Over. `view` has the result, and the battle is removed when no live shows it any more.
package struct Battle: Equatable, Sendable, Codable {
    /// The minimum time between two updates of the scores for viewers.
    package static let publishInterval = Milliseconds(500)

    package var id: BattleID
    package var inviter: LiveID
    /// The sides that were requested: the inviter first, then the invited lives.
    ///
    /// A side is a live that takes part, with the profile that its owner had at the time of the request.
    package var asked: [BattleSide]
    package var createdAt: Timestamp
    package var durationSeconds: Int64
    /// Whether the invitees have to accept; otherwise the battle starts at once.
    package var needResponse: Bool
    package var extensionInfo: String
    /// The invited lives that have not rejected the request; empty once the battle has started.
    package var invitees: [BattleInvitee]
    /// The deadline of the request: an invitee that has not answered by then counts as having rejected.
    package var expiresAt: Timestamp
    /// The battle as viewers see it; nil until it starts.
    package var view: BattleView?
    /// When the scores were last published.
    package var publishedAt: Timestamp?
    /// Whether the scores have changed since they were last published.
    package var isDirty = false
    /// The co-host connection in which the battle takes place; every live of the connection may show the battle.
    ///
    /// Nil in rows of older versions.
    package var connection: ConnectionID?

    /// Whether the battle is requested (state 1).
    ///
    /// The end time is compared, because `view == nil` would copy the whole view.
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

    /// When the battle needs its next action: the expiry of the request, the publication of scores, or the end.
    package var due: Timestamp? {
        guard let endTime = self.view?.endTime else { return self.expiresAt }
        guard self.view?.ended == nil else { return nil }
        guard self.isDirty, let publishedAt = self.publishedAt else { return endTime }
        return min(endTime, publishedAt + Self.publishInterval)
    }

    /// The index of the side of `live`, if it has not left.
    func sideIndex(of live: LiveID) -> Int? { self.view?.sides.firstIndex { $0.live == live && !$0.hasLeft } }
}

// SPDX-License-Identifier: Apache-2.0
package import CoreKit
package import PlazaModel

/// A live that is asked to a battle.
package struct BattleInvitee: Equatable, Sendable, Codable {
    package var live: LiveID
    package var hasAccepted: Bool
}

/// A battle: being agreed on while `view` is nil, then fought, then over with its result in `view`.
///
/// Agreed on: becomes fought when every invitee is processed and at least one accepted, else it is removed. Fought:
/// becomes over by time or when all have left. Over: removed when no live shows it any more.
package struct Battle: Equatable, Sendable, Codable {
    /// The time between two updates of the scores to viewers.
    package static let publishInterval = Milliseconds(500)

    package var id: BattleID
    package var inviter: LiveID
    /// The inviter's side, then those of the lives that were asked, as they were then.
    package var asked: [BattleSide]
    package var createdAt: Timestamp
    package var durationSeconds: Int64
    package var needResponse: Bool
    package var extensionInfo: String
    /// Those who have not declined; empty from the start on.
    package var invitees: [BattleInvitee]
    /// When those who have not answered count as declining.
    package var expiresAt: Timestamp
    package var view: BattleView?
    /// When the scores were last told.
    package var publishedAt: Timestamp?
    /// Scores have changed since they were last told.
    package var isDirty = false
    /// The connection in which it is fought, all of whose lives may show it; missing in rows of before this was known.
    package var connection: ConnectionID?

    // Parts of the view alone are asked for, here and below: the whole would be copied.
    var isAsking: Bool { self.view?.endTime == nil }
    var isFighting: Bool { !self.isAsking && self.view?.ended == nil }

    /// The battle as an app's server gets it.
    var details: BattleDetails {
        BattleDetails(
            id: self.id, inviter: self.inviter, createTime: self.createdAt, durationSeconds: self.durationSeconds,
            needResponse: self.needResponse, extensionInfo: self.extensionInfo,
            expiresAt: self.isAsking ? self.expiresAt : nil,
            invitees: self.invitees.map { .init(live: $0.live, hasAccepted: $0.hasAccepted) }, battle: self.view)
    }

    /// When the battle wants to be looked at: to end the asking, to tell scores, to end.
    package var due: Timestamp? {
        guard let endTime = self.view?.endTime else { return self.expiresAt }
        guard self.view?.ended == nil else { return nil }
        guard self.isDirty, let publishedAt = self.publishedAt else { return endTime }
        return min(endTime, publishedAt + Self.publishInterval)
    }

    /// The place of `live` among those who fight and have not left.
    func side(of live: LiveID) -> Int? { self.view?.sides.firstIndex { $0.live == live && !$0.hasLeft } }
}

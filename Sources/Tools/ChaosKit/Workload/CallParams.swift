// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel

/// The parameters of the workload's calls; a field that is nil is not encoded.
struct CallParams: Encodable, Sendable {
    var live: LiveID?
    var user: UserID?
    var users: [UserID]?
    var text: String?
    var to: [LiveID]?
    var inviter: LiveID?
    /// In seconds, like `duration`.
    var timeout: Int?
    var duration: Int?
    var battle: BattleID?
    var operation: Int?
    var scores: [ScoreUpdate]?
    var gift: GiftID?
    var count: Int?
    var cursor: String?
    var owner: UserID?
    var metadata: [String: String]?
    var categories: [GiftCategory]?
}

// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel

/// Parameters of the scenario's calls; fields that are nil are left out.
struct Params: Encodable, Sendable {
    var live: LiveID?
    var liveName: String?
    var text: String?
    var user: String?
    var cursor: String?
    var count: Int?
    var to: [LiveID]?
    var inviter: LiveID?
    var timeout: Int?
    var duration: Int?
    var needResponse: Bool?
    var battle: BattleID?
    var operation: Int?
    var scores: [ScoreUpdate]?
    var categoryList: [Int]?
}

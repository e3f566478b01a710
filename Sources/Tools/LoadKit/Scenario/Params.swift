// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel

/// The parameters of the calls of the scenario and of the evening; a field that is nil is not encoded.
struct Params: Encodable, Sendable {
    var live: LiveID?
    var liveName: String?
    var text: String?
    var user: String?
    var cursor: String?
    var count: Int?
    var to: [LiveID]?
    var inviter: LiveID?
    /// In seconds, like `duration`.
    var timeout: Int?
    var duration: Int?
    var needResponse: Bool?
    var battle: BattleID?
    var operation: Int?
    var scores: [ScoreUpdate]?
    var categoryList: [Int]?
    var notice: String?
    var coverURL: String?
    var seatTemplate: Int?
    var seatMode: String?
    var metadata: [String: String]?
    var level: Int?
    var microphone: Bool?
    var camera: Bool?
}

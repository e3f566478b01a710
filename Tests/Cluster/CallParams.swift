// SPDX-License-Identifier: Apache-2.0
import PlazaModel

/// The parameters that these tests give to calls; each method takes some of them, and a nil field is not encoded.
struct CallParams: Encodable, Sendable {
    var live: LiveID?
    var user: UserID?
    var name: String?
    var text: String?
    var seatIndex: Int?
    var seatTemplate: Int?
    var locked: Bool?
    var isMessageDisable: Bool?
    /// In seconds.
    var timeout: Int?
    var device: String?
    var microphone: Bool?
    var metadata: [String: String]?
    var cursor: String?
    var count: Int?
    /// The lives that a co-host or battle request is for.
    var to: [LiveID]?
    /// The live that sent the co-host request.
    var inviter: LiveID?
    var battle: BattleID?
    /// In seconds.
    var duration: Int?
}

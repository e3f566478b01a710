// SPDX-License-Identifier: Apache-2.0
import PlazaModel

/// The parameters of any call that these tests make; each method takes some of them, and a nil field is not encoded.
struct CallParams: Encodable, Sendable {
    var live: LiveID?
    var user: UserID?
    var name: String?
    var text: String?
    var seatIndex: Int?
    var seatTemplate: Int?
    var locked: Bool?
    var isMessageDisable: Bool?
    var timeout: Int?
    var device: String?
    var microphone: Bool?
    var metadata: [String: String]?
    var cursor: String?
    var count: Int?
    var to: [LiveID]?
    var inviter: LiveID?
    var battle: BattleID?
    var duration: Int?
}

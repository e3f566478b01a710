// SPDX-License-Identifier: Apache-2.0
import PlazaModel

/// The parameters of the calls in these tests; each call has some of them, and a nil parameter is not sent.
struct CallParams: Encodable, Sendable {
    var live: LiveID?
    var user: UserID?
    var name: String?
    var text: String?
    var seatIndex: Int?
    var seatTemplate: Int?
    var locked: Bool?
    var isMessageDisable: Bool?
    /// How long a request waits for an answer, in seconds.
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
    /// How long a battle lasts, in seconds.
    var duration: Int?
}

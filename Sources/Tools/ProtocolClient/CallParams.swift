// SPDX-License-Identifier: Apache-2.0
package import PlazaModel

/// The parameters of the calls that the tools send; a parameter that is nil is not sent.
///
/// PROTOCOL.md, section 5, says which parameters each method has.
package struct CallParams: Encodable, Sendable {
    /// The live that the call is about.
    package var live: LiveID?
    /// The user that the call is about.
    package var user: UserID?
    /// The users that the call is about.
    package var users: [UserID]?
    /// The caller's new name.
    package var name: String?
    /// The owner of the new live, if an app's server creates it.
    package var owner: UserID?
    /// The live's name.
    package var liveName: String?
    /// The live's categories.
    package var categoryList: [Int]?
    /// The live's notice.
    package var notice: String?
    /// The address of the live's cover.
    package var coverURL: String?
    /// Whether only the owner and the admins may send messages.
    package var isMessageDisable: Bool?
    /// New values of keys of the live's metadata.
    package var metadata: [String: String]?
    /// The text of a message.
    package var text: String?
    /// The gift that is sent.
    package var gift: GiftID?
    /// Where the requested page of a list begins.
    package var cursor: String?
    /// The number of likes or gifts, or of items on a page.
    package var count: Int?
    /// The number of the seat.
    package var seatIndex: Int?
    /// Whether the seat is locked.
    package var locked: Bool?
    /// The number of the template of the live's seats.
    package var seatTemplate: Int?
    /// How viewers get a seat: `free` or `apply`.
    package var seatMode: String?
    /// The device that is locked: `microphone` or `camera`.
    package var device: String?
    /// Whether the caller's microphone is on.
    package var microphone: Bool?
    /// Whether the caller's camera is on.
    package var camera: Bool?
    /// How loud the caller speaks.
    package var level: Int?
    /// The lives to which a co-host or battle request is sent.
    package var to: [LiveID]?
    /// The live that sent the co-host request.
    package var inviter: LiveID?
    /// The connected live that is muted.
    package var other: LiveID?
    /// Whether the connected live is muted.
    package var muted: Bool?
    /// The battle.
    package var battle: BattleID?
    /// How scores change: 1 adds points, 2 replaces the score.
    package var operation: Int?
    /// The points or scores.
    package var scores: [ScoreUpdate]?
    /// How long a request waits for an answer, in seconds.
    package var timeout: Int?
    /// How long a battle or a sanction lasts, in seconds.
    package var duration: Int?
    /// Whether a battle waits for the answers of the lives that it is requested of.
    package var needResponse: Bool?
    /// The whole catalogue of gifts.
    package var categories: [GiftCategory]?

    /// Makes the parameters of a call; those that are not named are not sent.
    package init(
        live: LiveID? = nil, user: UserID? = nil, users: [UserID]? = nil, name: String? = nil, owner: UserID? = nil,
        liveName: String? = nil, categoryList: [Int]? = nil, notice: String? = nil, coverURL: String? = nil,
        isMessageDisable: Bool? = nil, metadata: [String: String]? = nil, text: String? = nil, gift: GiftID? = nil,
        cursor: String? = nil, count: Int? = nil, seatIndex: Int? = nil, locked: Bool? = nil, seatTemplate: Int? = nil,
        seatMode: String? = nil, device: String? = nil, microphone: Bool? = nil, camera: Bool? = nil,
        level: Int? = nil, to: [LiveID]? = nil, inviter: LiveID? = nil, other: LiveID? = nil, muted: Bool? = nil,
        battle: BattleID? = nil, operation: Int? = nil, scores: [ScoreUpdate]? = nil, timeout: Int? = nil,
        duration: Int? = nil, needResponse: Bool? = nil, categories: [GiftCategory]? = nil
    ) {
        self.live = live
        self.user = user
        self.users = users
        self.name = name
        self.owner = owner
        self.liveName = liveName
        self.categoryList = categoryList
        self.notice = notice
        self.coverURL = coverURL
        self.isMessageDisable = isMessageDisable
        self.metadata = metadata
        self.text = text
        self.gift = gift
        self.cursor = cursor
        self.count = count
        self.seatIndex = seatIndex
        self.locked = locked
        self.seatTemplate = seatTemplate
        self.seatMode = seatMode
        self.device = device
        self.microphone = microphone
        self.camera = camera
        self.level = level
        self.to = to
        self.inviter = inviter
        self.other = other
        self.muted = muted
        self.battle = battle
        self.operation = operation
        self.scores = scores
        self.timeout = timeout
        self.duration = duration
        self.needResponse = needResponse
        self.categories = categories
    }
}

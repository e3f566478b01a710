// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel
internal import ProtocolClient

/// A call of the evening: a method and its parameters.
struct EveningCall: Sendable {
    var method: String
    var params: any Encodable & Sendable

    /// Makes the call that carries out an action; nil for a score while no battle runs.
    ///
    /// - Parameters:
    ///   - action: the action.
    ///   - cast: the evening's lives.
    ///   - battle: the battle that runs; nil if none does.
    init?(_ action: EveningAction, cast: [EveningLive], battle: BattleID?) {
        let live = LiveID(cast[action.live].id)
        switch action.kind {
        case .join: self.init("live.join", CallParams(live: live))
        case .leave: self.init("live.leave", CallParams(live: live))
        case .text(let text): self.init("barrage.sendText", CallParams(live: live, text: text))
        case .likes(let count): self.init("like.send", CallParams(live: live, count: count))
        case .gift(let index, let count):
            let gift = EveningCast.gifts[index].giftID
            self.init("gift.send", CallParams(live: live, gift: gift, count: count))
        case .askForSeat: self.init("seat.apply", CallParams(live: live, timeout: 20))
        case .leaveSeat: self.init("seat.leave", CallParams(live: live))
        case .devices(let microphone, let camera):
            self.init("seat.device", CallParams(live: live, microphone: microphone, camera: camera))
        case .speaking(let level): self.init("seat.speaking", CallParams(live: live, level: level))
        case .connect(let partner):
            self.init("cohost.request", CallParams(live: live, to: [LiveID(cast[partner].id)], timeout: 10))
        case .battle(let opponent, let seconds):
            let opponentLive = LiveID(cast[opponent].id)
            self.init("battle.request", CallParams(live: live, to: [opponentLive], duration: seconds))
        case .score(let points):
            guard let battle else { return nil }
            let score = ScoreUpdate(live: live, score: Int64(points))
            // Operation 1 adds the points to the score.
            self.init("battle.score", CallParams(battle: battle, operation: 1, scores: [score]))
        }
    }

    /// Makes the call with which the host of the live with index `index` answers a notice; nil if the host does not
    /// answer.
    ///
    /// A host accepts each application for a seat. The first two lives accept only each other's co-host requests. The
    /// other lives accept those of all lives but the first two, so that a person who tries the pages finds a partner.
    init?(answering notice: NoticeContent, live index: Int, cast: [EveningLive]) {
        let live = LiveID(cast[index].id)
        switch notice {
        case .applicationReceived(let guest, _, _, _):
            self.init("seat.acceptApplication", CallParams(live: live, user: guest.userID))
        case .coHostRequestReceived(let inviter, _, _):
            let isOfFirstTwo = cast.prefix(2).contains { $0.id == inviter.live.text }
            guard (index < 2) == isOfFirstTwo else { return nil }
            self.init("cohost.accept", CallParams(live: live, inviter: inviter.live))
        default: return nil
        }
    }

    /// Makes the call that creates a live; if the live exists from an earlier evening, the call continues it.
    init(creating live: EveningLive) {
        self.init(
            "live.create",
            CallParams(
                live: LiveID(live.id), liveName: live.title, categoryList: [live.category], notice: live.notice,
                coverURL: live.coverURL, seatTemplate: live.seatTemplate,
                seatMode: live.isFreeSeating ? "free" : "apply"))
    }

    init(_ method: String, _ params: any Encodable & Sendable) {
        self.method = method
        self.params = params
    }
}

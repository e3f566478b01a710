// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel

private struct EveningGiftParams: Encodable, Sendable {
    var live: LiveID
    var gift: GiftID
    var count: Int
}

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
        func set(_ change: (inout Params) -> Void) -> Params {
            var params = Params(live: live)
            change(&params)
            return params
        }
        switch action.kind {
        case .join: self.init("live.join", Params(live: live))
        case .leave: self.init("live.leave", Params(live: live))
        case .text(let text): self.init("barrage.sendText", set { $0.text = text })
        case .likes(let count): self.init("like.send", set { $0.count = count })
        case .gift(let index, let count):
            let gift = EveningCast.gifts[index].giftID
            self.init("gift.send", EveningGiftParams(live: live, gift: gift, count: count))
        case .askForSeat: self.init("seat.apply", set { $0.timeout = 20 })
        case .leaveSeat: self.init("seat.leave", Params(live: live))
        case .devices(let microphone, let camera):
            self.init("seat.device", set { ($0.microphone, $0.camera) = (microphone, camera) })
        case .speaking(let level): self.init("seat.speaking", set { $0.level = level })
        case .connect(let other):
            self.init("cohost.request", set { ($0.to, $0.timeout) = ([LiveID(cast[other].id)], 10) })
        case .battle(let other, let seconds):
            self.init("battle.request", set { ($0.to, $0.duration) = ([LiveID(cast[other].id)], seconds) })
        case .score(let points):
            guard let battle else { return nil }
            let score = ScoreUpdate(live: live, score: Int64(points))
            self.init("battle.score", Params(battle: battle, operation: 1, scores: [score]))
        }
    }

    /// A host's answer to a notice: it accepts whoever applies for a seat.
    ///
    /// The first two lives connect with each other alone; the others with any live that asks, so that whoever tries the
    /// pages finds a partner.
    init?(answering notice: NoticeContent, live index: Int, cast: [EveningLive]) {
        let live = LiveID(cast[index].id)
        switch notice {
        case .applicationReceived(let guest, _, _, _):
            self.init("seat.acceptApplication", Params(live: live, user: guest.userID.text))
        case .coHostRequestReceived(let inviter, _, _):
            let isOfFirstTwo = cast.prefix(2).contains { $0.id == inviter.live.text }
            guard (index < 2) == isOfFirstTwo else { return nil }
            self.init("cohost.accept", Params(live: live, inviter: inviter.live))
        default: return nil
        }
    }

    /// Creates a live, or continues the one that an earlier evening left.
    init(creating live: EveningLive) {
        self.init(
            "live.create",
            Params(
                live: LiveID(live.id), liveName: live.title, categoryList: [live.category], notice: live.notice,
                coverURL: live.coverURL, seatTemplate: live.seatTemplate,
                seatMode: live.isFreeSeating ? "free" : "apply"))
    }

    init(_ method: String, _ params: any Encodable & Sendable) {
        self.method = method
        self.params = params
    }
}

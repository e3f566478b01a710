// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel

/// The parameters of `gift.send`.
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
        // In `Params`, timeouts and durations are in seconds.
        func makeParams(_ setFields: (inout Params) -> Void) -> Params {
            var params = Params(live: live)
            setFields(&params)
            return params
        }
        switch action.kind {
        case .join: self.init("live.join", Params(live: live))
        case .leave: self.init("live.leave", Params(live: live))
        case .text(let text): self.init("barrage.sendText", makeParams { $0.text = text })
        case .likes(let count): self.init("like.send", makeParams { $0.count = count })
        case .gift(let index, let count):
            let gift = EveningCast.gifts[index].giftID
            self.init("gift.send", EveningGiftParams(live: live, gift: gift, count: count))
        case .askForSeat: self.init("seat.apply", makeParams { $0.timeout = 20 })
        case .leaveSeat: self.init("seat.leave", Params(live: live))
        case .devices(let microphone, let camera):
            self.init("seat.device", makeParams { ($0.microphone, $0.camera) = (microphone, camera) })
        case .speaking(let level): self.init("seat.speaking", makeParams { $0.level = level })
        case .connect(let partner):
            self.init("cohost.request", makeParams { ($0.to, $0.timeout) = ([LiveID(cast[partner].id)], 10) })
        case .battle(let opponent, let seconds):
            self.init("battle.request", makeParams { ($0.to, $0.duration) = ([LiveID(cast[opponent].id)], seconds) })
        case .score(let points):
            guard let battle else { return nil }
            let score = ScoreUpdate(live: live, score: Int64(points))
            // Operation 1 adds the points to the score.
            self.init("battle.score", Params(battle: battle, operation: 1, scores: [score]))
        }
    }

    /// Makes the call with which a host answers a notice; nil if the host does not answer it.
    ///
    /// A host accepts all applications for seats. The first two lives connect only with each other. The other lives
    /// accept the co-host request of any live except the first two, so that a person who tries the pages finds a
    /// partner.
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

    /// Makes the call that creates a live; if the live exists from an earlier evening, the call continues it.
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

// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import CoreKit
internal import GatewayCore
internal import Observability
internal import PlazaModel
internal import PlazaWire
internal import Webhooks

/// A call that waits before it goes on to the fan-out: for its app's backend, or behind one that does.
struct AskedCall {
    var id: Int64
    var method: String
    var effect: Effect
    var room: LiveID?
    var began: Int64
    var verdict: HookVerdict?

    init(_ frame: ClientFrame, _ effect: Effect, _ room: LiveID?, _ verdict: HookVerdict?) {
        self.id = frame.id
        self.method = frame.method
        self.effect = effect
        self.room = room
        self.began = MonotonicClock.microseconds
        self.verdict = verdict
    }

    /// What goes on: the call itself, or that it was refused, which the fan-out keeps as its outcome, or answers with what
    /// became of it before (I15).
    func effect(after verdict: HookVerdict) -> Effect {
        guard case .refused(let error) = verdict, case .barrage(let input) = self.effect else { return self.effect }
        switch input.command {
        case .sendText(_, _, let caller), .sendCustom(_, _, let caller):
            return .barrage(BarrageInput(input.key, .forbidden(error: error, isGift: false, caller: caller)))
        case .sendGift(_, _, _, let caller):
            return .barrage(BarrageInput(input.key, .forbidden(error: error, isGift: true, caller: caller)))
        default: return self.effect
        }
    }
}

extension BarrageCommand {
    /// Whether the fan-out keeps what becomes of it, by its number in the session.
    fileprivate var hasKeptOutcome: Bool {
        switch self {
        case .sendText, .sendCustom, .sendGift, .sendLikes, .refused, .forbidden: true
        case .speaking, .summary, .opened, .ended, .repeatEnding, .tell, .rights, .muted, .unmuted, .floor: false
        }
    }
}

/// Whether an app's backend is asked about a call.
enum HookStep {
    /// It goes on without.
    case nobody
    /// It would be refused: this goes on in its place, which cannot enter by chance.
    case refuse(Effect)
    case ask(HookQuestion)
}

/// Messages and gifts that an app's backend is asked about first (PROTOCOL.md, section 17).
///
/// The shard never waits: the asker answers into its mailbox. What one client sent goes on in the order in which it was sent,
/// asked about or not: so no call's number is forgotten while the backend thinks (I15). Since earlier questions end
/// earlier, nobody waits longer for that than a question may take.
extension Shard {
    /// Whether the app's backend must be asked before the call goes on.
    func asking(about effect: Effect, _ frame: ClientFrame, _ client: Client) -> HookStep {
        // An app's server is the app: it is not asked about its own calls.
        guard let asker = self.gateway.asker, client.role == .user, case .barrage(let input) = effect else {
            return .nobody
        }
        switch input.command {
        case .sendText(let text, let extensionInfo, let caller):
            guard asker.asks(client.app, aboutGifts: false) else { return .nobody }
            let message = FeedContent.text(sender: client.user, text: text, extensionInfo: extensionInfo)
            return self.refused(message, in: input.key, from: caller)
                ?? self.ask(
                    .beforeText(sender: client.user, text: text, extensionInfo: extensionInfo), input.key, frame, client
                )
        case .sendCustom(let businessID, let data, let caller):
            guard asker.asks(client.app, aboutGifts: false) else { return .nobody }
            let message = FeedContent.custom(sender: client.user, businessID: businessID, data: data)
            return self.refused(message, in: input.key, from: caller)
                ?? self.ask(
                    .beforeCustom(sender: client.user, businessID: businessID, data: data), input.key, frame, client)
        case .sendGift(let gift, let count, let receivers, let caller):
            guard asker.asks(client.app, aboutGifts: true) else { return .nobody }
            let order = GiftOrder(gift: gift, count: count, receivers: receivers)
            let (refusal, price) = self.gateway.tables.read { model in
                (model.refusal(of: order, in: input.key), model.apps[client.app].gift(gift)?.coins)
            }
            if let refusal { return Self.refuse(refusal, input.key, caller) }
            return self.ask(
                .beforeGift(
                    sender: client.user, giftID: gift, count: count, coins: order.coins(at: price ?? 0),
                    receivers: receivers),
                input.key, frame, client)
        default: return .nobody
        }
    }

    /// What goes on in place of a message that the fan-out would refuse, as far as is known here; the words, which cost
    /// most, are looked at last.
    private func refused(_ message: FeedContent, in key: LiveKey, from caller: Caller) -> HookStep? {
        if let why = self.gateway.tables.read({ $0.refusal(of: message, in: key, from: caller.userID) }) {
            return Self.refuse(why, key, caller)
        }
        return message.contains(self.gateway.tables.filter(of: key.app)) ? Self.refuse(.sensitive, key, caller) : nil
    }

    private static func refuse(_ why: Refusal, _ key: LiveKey, _ caller: Caller) -> HookStep {
        .refuse(.barrage(BarrageInput(key, .refused(why: why, caller: caller))))
    }

    private func ask(_ content: BeforeContent, _ key: LiveKey, _ frame: ClientFrame, _ client: Client) -> HookStep {
        .ask(
            HookQuestion(
                id: "\(client.session.text)/\(frame.id)", key: key,
                at: Timestamp(milliseconds: WallClock.milliseconds()), content: content))
    }

    /// Passes a call on at once, or behind those of the client that wait, when their outcomes are kept in one window.
    func forwardInOrder(
        _ effect: Effect, _ frame: ClientFrame, _ room: LiveID?, _ client: Client
    ) throws(ReplyError) {
        guard !client.asked.isEmpty, case .barrage(let input) = effect, input.command.hasKeptOutcome else {
            return try self.forward(effect, frame, .plain, room, client)
        }
        guard try self.mayGoOn(frame.id, .plain, room, client) else { return }
        client.asked.append(AskedCall(frame, effect, room, .allowed))
    }

    /// Asks, and keeps the call until there is a verdict.
    func ask(
        _ question: HookQuestion, about effect: Effect, _ frame: ClientFrame, _ room: LiveID?, _ client: Client
    ) {
        client.asked.append(AskedCall(frame, effect, room, nil))
        let gateway = self.gateway
        let (session, generation, id, number) = (client.session, client.generation, frame.id, self.number)
        gateway.asker?.ask(question) { verdict in
            gateway.post(number, [.asked(session, generation: generation, call: id, verdict)])
        }
    }

    /// A verdict has come: this call and those behind it that have theirs go on.
    func verdictCame(_ session: SessionID, generation: UInt32, call id: Int64, _ verdict: HookVerdict) {
        guard let client = self.sessions[session], client.generation == generation,
            let index = client.asked.firstIndex(where: { $0.id == id })
        else { return self.gateway.metrics.lateReplies.add() }
        client.asked[index].verdict = verdict
        while let first = client.asked.first, let verdict = first.verdict {
            client.asked.removeFirst()
            do throws(ReplyError) {
                try self.forward(first.effect(after: verdict), first.id, first.method, .plain, first.room, client)
            } catch {
                self.reply(first.id, .failure(error: error), to: client, method: first.method, began: first.began)
            }
        }
        // Gives back the memory of a client that seldom sends.
        if client.asked.isEmpty { client.asked = [] }
    }
}

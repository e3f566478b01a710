// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import CoreKit
internal import GatewayCore
internal import Observability
internal import PlazaModel
internal import PlazaWire
internal import Webhooks

/// A call that waits for its app's backend before it goes on to its machine.
struct AskedCall {
    var id: Int64
    var method: String
    var effect: Effect
    var room: LiveID?
    var began: Int64
    var verdict: HookVerdict?
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
/// The shard never waits: the asker answers into its mailbox. What one client sent goes on in the order in which it was sent;
/// since earlier questions end earlier, nobody waits longer for that than its own question may take.
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

    /// Asks, and keeps the call until there is a verdict.
    func ask(
        _ question: HookQuestion, about effect: Effect, _ frame: ClientFrame, _ room: LiveID?, _ client: Client
    ) throws(ReplyError) {
        guard client.asked.count + client.core.openCalls < OpenCalls<SentRecord>.limit else {
            throw ReplyError(
                .overloaded, "\(OpenCalls<SentRecord>.limit) calls are open already", retryAfter: 200)
        }
        client.asked.append(
            AskedCall(
                id: frame.id, method: frame.method, effect: effect, room: room, began: MonotonicClock.microseconds))
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
                if case .refused(let error) = verdict { throw error }
                try self.forward(first.effect, first.id, first.method, .plain, first.room, client)
            } catch {
                self.reply(first.id, .failure(error: error), to: client, method: first.method, began: first.began)
            }
        }
        // Gives back the memory of a client that seldom sends.
        if client.asked.isEmpty { client.asked = [] }
    }
}

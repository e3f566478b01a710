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

/// Messages and gifts that an app's backend is asked about first (PROTOCOL.md, section 17).
///
/// The shard never waits: the asker answers into its mailbox. What one client sent goes on in the order in which it was sent;
/// since earlier questions end earlier, nobody waits longer for that than its own question may take.
extension Shard {
    /// What the app's backend must be asked before the call goes on; nil: nothing.
    func question(about effect: Effect, _ frame: ClientFrame, _ client: Client) -> HookQuestion? {
        // An app's server is the app: it is not asked about its own calls.
        guard let asker = self.gateway.asker, client.role == .user, case .barrage(let input) = effect else {
            return nil
        }
        let content: BeforeContent
        switch input.command {
        case .sendText(let text, let extensionInfo, _):
            content = .beforeText(sender: client.user, text: text, extensionInfo: extensionInfo)
        case .sendCustom(let businessID, let data, _):
            content = .beforeCustom(sender: client.user, businessID: businessID, data: data)
        case .sendGift(let giftID, let count, let receivers, _):
            guard asker.asks(client.app, aboutGifts: true) else { return nil }
            let price = self.gateway.tables.read { $0.apps[client.app].gift(giftID)?.coins } ?? 0
            // Of forms that the fan-out refuses anyway, so that no sum overflows.
            let (coins, isTooMuch) = price.multipliedReportingOverflow(by: Int64(count))
            content = .beforeGift(
                sender: client.user, giftID: giftID, count: count, coins: isTooMuch ? Int64.max : coins,
                receivers: receivers)
        default: return nil
        }
        guard asker.asks(client.app, aboutGifts: content.isGift) else { return nil }
        return HookQuestion(
            id: "\(client.session.text)/\(frame.id)", key: input.key,
            at: Timestamp(milliseconds: WallClock.milliseconds()), content: content)
    }

    /// Asks, and keeps the call until there is a verdict.
    func ask(
        _ question: HookQuestion, about effect: Effect, _ frame: ClientFrame, _ room: LiveID?, _ client: Client
    ) throws(ReplyError) {
        if client.asked.contains(where: { $0.id == frame.id }) { return }
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

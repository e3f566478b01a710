// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import GatewayCore
internal import MachineKit
internal import Observability
internal import PlazaModel
internal import PlazaWire
internal import Webhooks

/// A call that is not forwarded yet, because its app's backend has not decided about it, or because an earlier call of
/// the client is still pending.
struct PendingCall {
    /// The call's number in its session.
    var id: Int64
    var method: String
    var effect: Effect
    /// The live that the caller must be in; nil if the caller need not be in a live.
    var requiredLive: LiveID?
    /// Runs since the call was received.
    var stopwatch: Stopwatch

    init(_ frame: CallFrame, _ effect: Effect, requiredLive: LiveID?) {
        self.id = frame.id
        self.method = frame.method
        self.effect = effect
        self.requiredLive = requiredLive
        self.stopwatch = Stopwatch()
    }

    /// Returns the effect to forward after the decision: the call itself if it is allowed, otherwise a command that
    /// records the rejection.
    ///
    /// The fan-out (the machine that writes the feeds of lives) stores the rejection as the call's outcome. If it has
    /// stored an outcome of the call before, the reply is the stored outcome (I15 in docs/RULES.md).
    func effect(after decision: WebhookDecision) -> Effect {
        guard case .refused(let error) = decision, case .barrage(let input) = self.effect else { return self.effect }
        switch input.command {
        case .sendText(_, _, let caller), .sendCustom(_, _, let caller):
            return .barrage(BarrageInput(input.key, .forbidden(error: error, isGift: false, caller: caller)))
        case .sendGift(_, _, _, let caller):
            return .barrage(BarrageInput(input.key, .forbidden(error: error, isGift: true, caller: caller)))
        // A backend decides only about messages and gifts.
        default: return self.effect
        }
    }
}

extension BarrageCommand {
    /// Whether the fan-out stores the command's outcome in the idempotency window of the caller's session.
    fileprivate var hasStoredOutcome: Bool {
        switch self {
        case .sendText, .sendCustom, .sendGift, .sendLikes, .refused, .forbidden: true
        case .speaking, .summary, .opened, .ended, .repeatEnding, .publish, .rights, .muted, .unmuted, .floor: false
        }
    }
}

/// Sends before-message and before-gift webhooks to the app's backend, and forwards the calls that it allows
/// (WEBHOOKS.md, section 4).
///
/// The shard never blocks: the webhook client posts the decision to the shard's mailbox.
///
/// The fan-out stores the last outcomes of each session in an idempotency window (I15 in docs/RULES.md). If enough
/// later calls overtook a pending call, the window would no longer accept the pending call's number. So all calls of a
/// client whose outcomes are stored in the window are forwarded in the order in which they were received, even calls
/// that need no decision. Webhook requests time out in the same order, so no call is delayed by more than one timeout.
///
/// If the mailbox is full, decisions are dropped. A call without a decision after `WebhookClient.decisionLimit` is
/// handled as if the backend had not answered.
final class ShardWebhooks {
    private unowned let shard: Shard
    private let gateway: Gateway
    /// The clients that `sweep` checks: all clients with calls that wait for a decision, and some whose last pending
    /// call has just been forwarded.
    private var clientsToSweep: [Client] = []

    /// How a call proceeds.
    private enum NextStep {
        /// Forward the call without asking a backend.
        case proceed
        /// Forward this rejection instead of the call, and do not ask the backend, because the fan-out would reject the
        /// call. The fan-out applies the rejection even if its own newer state would allow the call.
        case replace(Effect)
        /// Ask the backend first.
        case ask(WebhookRequest)
    }

    init(_ shard: Shard) {
        self.shard = shard
        self.gateway = shard.gateway
    }

    /// Forwards a call; asks the app's backend first, if the app has configured that.
    ///
    /// - Throws: The error with which the call is rejected.
    func forward(
        _ effect: Effect, _ frame: CallFrame, requiredLive: LiveID?, _ client: Client
    ) throws(ReplyError) {
        // If the client has resent a call that is still open, one reply answers both copies.
        if self.shard.calls.isRepeated(frame.id, client) { return }
        switch self.nextStep(for: effect, frame, client) {
        case .proceed: try self.forwardInOrder(effect, frame, requiredLive: requiredLive, client)
        case .replace(let rejection): try self.forwardInOrder(rejection, frame, requiredLive: requiredLive, client)
        case .ask(let request):
            try self.shard.calls.checkForwarding(frame.id, .plain, requiredLive: requiredLive, client)
            try self.ask(request, about: effect, frame, requiredLive: requiredLive, client)
        }
    }

    /// Stores the backend's decision, and forwards the client's pending calls that come before the first undecided one.
    ///
    /// `generation` distinguishes the connections of one session. A decision about a call of an earlier connection is
    /// only counted, as a late reply.
    func webhookDecided(_ session: SessionID, generation: UInt32, call id: Int64, _ decision: WebhookDecision) {
        guard let client = self.shard.sessions.client(of: session), client.generation == generation,
            client.pendingCalls.decide(id, decision)
        else { return self.gateway.metrics.lateReplies.add() }
        self.forwardDecidedCalls(of: client)
    }

    /// Handles each call whose decision was lost as if the backend had not answered, and forwards the decided calls in
    /// order.
    func sweep(at now: MonotonicTime) {
        var lostCount = 0
        var index = 0
        while index < self.clientsToSweep.count {
            let client = self.clientsToSweep[index]
            if !client.isDetached {
                let overdueCount = client.pendingCalls.decideOverdue(at: now)
                if overdueCount > 0 { self.forwardDecidedCalls(of: client) }
                lostCount += overdueCount
            }
            if client.isDetached || client.pendingCalls.isEmpty {
                client.isInPendingSweep = false
                // The last client takes the index of the removed one, and is checked next.
                self.clientsToSweep[index] = self.clientsToSweep[self.clientsToSweep.count - 1]
                self.clientsToSweep.removeLast()
            } else {
                index += 1
            }
        }
        if lostCount > 0 {
            self.gateway.log.warning(
                "decisions of backends were lost and count as missing answers", [.count: .int(lostCount)])
        }
    }

    /// Forwards the client's pending calls that come before the first undecided one.
    private func forwardDecidedCalls(of client: Client) {
        while let (call, decision) = client.pendingCalls.takeFirstDecided() {
            do throws(ReplyError) {
                // The call was counted before it was queued.
                try self.shard.calls.forward(
                    call.effect(after: decision), call.id, call.method, .plain, requiredLive: call.requiredLive, client,
                    isAlreadyCounted: true)
            } catch {
                self.shard.calls.reply(
                    call.id, .failure(error: error), to: client, method: call.method, stopwatch: call.stopwatch)
            }
        }
    }

    /// Forwards a call immediately; queues it instead if the client has pending calls and the fan-out stores the call's
    /// outcome in the same idempotency window as theirs.
    private func forwardInOrder(
        _ effect: Effect, _ frame: CallFrame, requiredLive: LiveID?, _ client: Client
    ) throws(ReplyError) {
        guard !client.pendingCalls.isEmpty, case .barrage(let input) = effect, input.command.hasStoredOutcome else {
            return try self.shard.calls.forward(
                effect, frame.id, frame.method, .plain, requiredLive: requiredLive, client)
        }
        try self.shard.calls.checkForwarding(frame.id, .plain, requiredLive: requiredLive, client)
        try self.shard.calls.countForwardedCall(of: client)
        // The backend need not decide about this call, so it counts as allowed; it only keeps its place in the order.
        client.pendingCalls.append(
            frame.id, PendingCall(frame, effect, requiredLive: requiredLive), decision: .allowed)
    }

    /// Sends the webhook request, and queues the call until the decision is received.
    ///
    /// - Throws: The error with which the call is rejected because the request was not sent, such as `overloaded`. The
    ///   call has then no stored outcome, so the client can repeat it with the same id.
    private func ask(
        _ request: WebhookRequest, about effect: Effect, _ frame: CallFrame, requiredLive: LiveID?, _ client: Client
    ) throws(ReplyError) {
        // The call is counted before the backend is asked, so that the limit of calls also limits webhook requests.
        try self.shard.calls.countForwardedCall(of: client)
        let gateway = self.gateway
        // `nextStep` returns `.ask` only if there is a webhook client.
        guard let webhookClient = gateway.webhookClient else { return }
        let (session, generation, id, shardNumber) = (client.session, client.generation, frame.id, self.shard.number)
        do throws(ReplyError) {
            // The decision is posted to this shard's mailbox, so the shard handles the decision only after it has
            // queued the call below.
            try webhookClient.send(request) { decision in
                gateway.post(shardNumber, [.webhookDecided(session, generation: generation, call: id, decision)])
            }
        } catch {
            gateway.metrics.refused(.webhooks)
            throw error
        }
        client.pendingCalls.append(
            id, PendingCall(frame, effect, requiredLive: requiredLive),
            fallback: webhookClient.decisionWithoutAnswer(about: request),
            deadline: self.shard.now + webhookClient.decisionLimit)
        if !client.isInPendingSweep {
            client.isInPendingSweep = true
            self.clientsToSweep.append(client)
        }
    }

    /// Decides how a call proceeds: forward it, reject it, or ask the app's backend first.
    private func nextStep(for effect: Effect, _ frame: CallFrame, _ client: Client) -> NextStep {
        // An app's server acts for the app, so the backend is not asked about its calls.
        guard let webhookClient = self.gateway.webhookClient, client.role == .user, case .barrage(let input) = effect
        else {
            return .proceed
        }
        switch input.command {
        case .sendText(let text, let extensionInfo, let caller):
            guard webhookClient.isDecisionRequired(client.app, forGifts: false) else { return .proceed }
            let message = FeedContent.text(sender: client.user, text: text, extensionInfo: extensionInfo)
            return self.rejectionStep(for: message, in: input.key, from: caller)
                ?? self.askStep(
                    .beforeText(sender: client.user, text: text, extensionInfo: extensionInfo), input.key, frame, client
                )
        case .sendCustom(let businessID, let data, let caller):
            guard webhookClient.isDecisionRequired(client.app, forGifts: false) else { return .proceed }
            let message = FeedContent.custom(sender: client.user, businessID: businessID, data: data)
            return self.rejectionStep(for: message, in: input.key, from: caller)
                ?? self.askStep(
                    .beforeCustom(sender: client.user, businessID: businessID, data: data), input.key, frame, client)
        case .sendGift(let gift, let count, let receivers, let caller):
            guard webhookClient.isDecisionRequired(client.app, forGifts: true) else { return .proceed }
            let order = GiftOrder(gift: gift, count: count, receivers: receivers)
            let (rejection, price, owner) = self.gateway.tables.read { model in
                (
                    // The price is nil if the catalogue does not have the gift. Then there is a rejection, unless the
                    // read model does not know the live.
                    model.rejection(of: order, in: input.key), model.apps[client.app].gift(gift)?.coins,
                    model.running(input.key)?.info.liveOwner.userID
                )
            }
            if let rejection { return Self.replacementStep(rejection, input.key, caller) }
            // A gift without receivers goes to the live's owner, as in the feed.
            var receiversOrOwner = receivers
            if receivers.isEmpty, let owner { receiversOrOwner = [owner] }
            return self.askStep(
                .beforeGift(
                    sender: client.user, giftID: gift, count: count, coins: order.coins(at: price ?? 0),
                    receivers: receiversOrOwner),
                input.key, frame, client)
        default: return .proceed
        }
    }

    /// Returns the step that forwards a rejection instead of the message, if the fan-out would reject the message
    /// according to the read model; nil for any other message.
    ///
    /// The word filter is applied last, because it is the most expensive check.
    private func rejectionStep(for message: FeedContent, in key: LiveKey, from caller: Caller) -> NextStep? {
        if let reason = self.gateway.tables.read({ $0.rejection(of: message, in: key, from: caller.userID) }) {
            return Self.replacementStep(reason, key, caller)
        }
        return message.containsWord(of: self.gateway.tables.wordFilter(of: key.app))
            ? Self.replacementStep(.sensitive, key, caller) : nil
    }

    /// Returns the step that forwards a rejection instead of the call.
    private static func replacementStep(_ reason: Rejection, _ key: LiveKey, _ caller: Caller) -> NextStep {
        .replace(.barrage(BarrageInput(key, .refused(why: reason, caller: caller))))
    }

    /// Returns the step that asks the backend.
    private func askStep(_ content: BeforeContent, _ key: LiveKey, _ frame: CallFrame, _ client: Client) -> NextStep {
        .ask(
            WebhookRequest(
                id: "\(client.session.text)/\(frame.id)", key: key, at: Gateway.clientTime, content: content))
    }
}

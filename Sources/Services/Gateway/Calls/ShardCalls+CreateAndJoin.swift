// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import GatewayCore
internal import MachineKit
internal import PlazaModel
internal import PlazaWire

/// The second half of a `live.create` call that also joins the live.
extension ShardCalls {
    /// Checks the rate limits for the join that follows a create, and counts the join as `live.join` is counted.
    ///
    /// For a call that repeats an open call, the join was counted when the first copy was received.
    ///
    /// - Throws: `tooFrequent`, with the time after which to retry.
    func admitJoin(to live: LiveID, ofCreate id: Int64, _ client: Client) throws(ReplyError) {
        if client.core.hasOpenCall(id) { return }
        try self.gateway.admission.admit(.membership, of: client.userKey)
        try self.gateway.admission.admit(.join(live), of: client.userKey)
    }

    /// Joins the live that a call has created, as part of that call (R3.66).
    ///
    /// The join has the same call id as the create. Presence, which handles joins, has its own idempotency window, so
    /// it also applies a repeated call only once.
    func joinCreated(
        _ live: LiveID, _ createResult: CallResult, _ ended: SessionCore<SentRecord>.EndedCall, _ client: Client,
        isLateRetry: Bool
    ) {
        // Runs since the call's first record was written.
        let stopwatch = Stopwatch(elapsed: self.shard.now - ended.startedAt)
        // The client may have joined another live meanwhile; it then gets only the result of the create.
        guard case .proceed = client.core.verdict(on: ended.id, .joinCreated(live, createResult)) else {
            return self.reply(
                ended.id, .success(result: createResult), to: client, method: ended.record.method,
                stopwatch: stopwatch)
        }
        // A client that is in this live already proves it by its ticket.
        let caller = Caller(
            user: client.user, role: client.role, request: RequestID(session: client.session, counter: ended.id),
            replyTo: self.gateway.settings.id, ticket: client.core.live == live ? client.core.ticket : nil,
            isLateRetry: isLateRetry)
        let effect = Effect.audience(AudienceInput(client.key(live), .join(caller: caller)))
        do throws(ReplyError) {
            let sent = try self.send(TopicRecord(effect), ended.record.method)
            self.registerCall(ended.id, .joinCreated(live, createResult), sent, client, since: ended.startedAt)
        } catch {
            self.reply(
                ended.id, .failure(error: error), to: client, method: ended.record.method,
                stopwatch: stopwatch)
        }
    }
}

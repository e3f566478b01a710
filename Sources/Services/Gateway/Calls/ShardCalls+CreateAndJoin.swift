// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import GatewayCore
internal import MachineKit
internal import PlazaModel
internal import PlazaWire

/// The second half of a `live.create` that joins, too.
extension ShardCalls {
    /// Joins the live that a call has created, as part of that call (R3.66).
    ///
    /// The join has the call's id: presence keeps its own outcomes, so a repeated call is one join there, too.
    func joinCreated(
        _ live: LiveID, _ created: CallResult, _ ended: SessionCore<SentRecord>.Ended, _ client: Client,
        isLateRetry: Bool
    ) {
        let began = MonotonicClock.microseconds - (self.shard.now - ended.began).count * 1000
        // The client may have entered another live meanwhile.
        guard case .proceed = client.core.verdict(on: ended.id, .joinCreated(live, created), in: nil) else {
            return self.reply(
                ended.id, .success(result: created), to: client, method: ended.record.method, began: began)
        }
        let caller = Caller(
            user: client.user, role: client.role, request: RequestID(session: client.session, counter: ended.id),
            replyTo: self.gateway.settings.id, ticket: client.core.live == live ? client.core.ticket : nil,
            isLateRetry: isLateRetry)
        let effect = Effect.audience(AudienceInput(client.key(live), .join(caller: caller)))
        do throws(ReplyError) {
            let sent = try self.send(TopicRecord(effect), ended.record.method)
            self.began(ended.id, .joinCreated(live, created), sent, client, since: ended.began)
        } catch {
            self.reply(ended.id, .failure(error: error), to: client, method: ended.record.method, began: began)
        }
    }
}

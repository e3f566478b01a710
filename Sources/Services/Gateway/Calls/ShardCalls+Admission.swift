// SPDX-License-Identifier: Apache-2.0
internal import GatewayCore
internal import PlazaModel
internal import PlazaWire

/// The rate limits of calls by WebSocket, by their kinds.
extension ShardCalls {
    /// Checks the rate limit for the call's kind, and counts the call.
    ///
    /// A call that repeats an open call is not counted, because one reply answers both. Only a read that is answered
    /// from memory gets a reply of its own then; `answerRead` counts it.
    ///
    /// - Throws: `tooFrequent`, with the time after which to retry.
    func admit(_ frame: CallFrame, _ client: Client) throws(ReplyError) {
        if self.isRepeated(frame.id, client) { return }
        try self.count(frame, client)
    }

    /// Counts a call for its kind.
    ///
    /// A call with a server's token may concern many users, so an app's servers have limits of their own.
    ///
    /// - Throws: `tooFrequent`, with the time after which to retry.
    func count(_ frame: CallFrame, _ client: Client) throws(ReplyError) {
        let admission = self.gateway.admission
        switch client.role {
        case .user:
            if let call = MeteredCall(method: frame.method) { try admission.admit(call, of: client.userKey) }
        case .server:
            try admission.admit(.call, ofServersOf: client.app)
            if let count = ServerCall.readCount(method: frame.method) {
                try admission.admit(.read, ofServersOf: client.app, counting: count)
            } else if ServerCall.isChangeOfSettings(method: frame.method) {
                try admission.admit(.settings, ofServersOf: client.app)
            }
        }
    }

    /// Checks the rate limit for a ban, unban or mute, and counts the call once for each user that it names.
    ///
    /// - Throws: `tooFrequent`, with the time after which to retry.
    func admitSanctions(of userCount: Int, _ id: Int64, _ client: Client) throws(ReplyError) {
        if self.isRepeated(id, client) { return }
        switch client.role {
        case .user: try self.gateway.admission.admit(.sanction, of: client.userKey, counting: userCount)
        // `admit` has counted the call once; that count stays even if the call is rejected here.
        case .server: try self.gateway.admission.admitServerCall(naming: userCount, of: client.app)
        }
    }

    /// Checks that the app may have another live, if a call creates one.
    ///
    /// - Throws: `overloaded`, with the time after which to retry.
    func admitLive(_ effect: Effect, _ id: Int64, _ client: Client) throws(ReplyError) {
        if self.isRepeated(id, client) { return }
        try self.gateway.checkLiveCount(for: effect)
    }

    /// Returns whether a call repeats an open call, which may wait for a backend's decision or for a shared read.
    ///
    /// Such a call is not forwarded, and `admit` does not count it.
    func isRepeated(_ id: Int64, _ client: Client) -> Bool {
        client.core.hasOpenCall(id) || client.isWaitingRead(id) || client.pendingCalls.contains(id)
    }
}

// SPDX-License-Identifier: Apache-2.0
internal import GatewayCore
internal import PlazaModel
internal import PlazaWire

/// The rate limits of calls by WebSocket: each kind of call has its own.
extension ShardCalls {
    /// Checks the rate limit for the call's kind, and counts the call.
    ///
    /// A call that repeats an open call is not counted, because one reply answers both copies. The exception is a read
    /// that is answered from memory: each copy gets a reply of its own, and `answerRead` counts it.
    ///
    /// - Throws: `tooFrequent`, with the time after which to retry.
    func admit(_ frame: CallFrame, _ client: Client) throws(ReplyError) {
        if self.isRepeated(frame.id, client) { return }
        try self.count(frame, client)
    }

    /// Counts a call for its kind.
    ///
    /// Calls with a server's token may serve many users, so an app's servers have limits of their own.
    ///
    /// - Throws: `tooFrequent`, with the time after which to retry.
    func count(_ frame: CallFrame, _ client: Client) throws(ReplyError) {
        let admission = self.gateway.admission
        switch client.role {
        case .user:
            if let call = MeteredCall(method: frame.method) { try admission.admit(call, of: client.userKey) }
        case .server:
            try admission.admit(.call, ofServersOf: client.app)
            if let readCount = ServerCall.readCount(method: frame.method) {
                try admission.admit(.read, ofServersOf: client.app, counting: readCount)
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

    /// If a call creates a live, checks that its app may have another one.
    ///
    /// - Throws: `overloaded`, with the time after which to retry.
    func admitLive(_ effect: Effect, _ id: Int64, _ client: Client) throws(ReplyError) {
        if self.isRepeated(id, client) { return }
        try self.gateway.checkLiveCount(for: effect)
    }

    /// Returns whether a call repeats an open call: one that was forwarded, or that waits for a backend's decision or
    /// for a shared read.
    ///
    /// The repeat is not forwarded, and `admit` does not count it.
    func isRepeated(_ id: Int64, _ client: Client) -> Bool {
        client.core.hasOpenCall(id) || client.isWaitingRead(id) || client.pendingCalls.contains(id)
    }
}

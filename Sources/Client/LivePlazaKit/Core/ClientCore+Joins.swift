// SPDX-License-Identifier: Apache-2.0
internal import MachineKit
internal import PlazaModel
internal import PlazaWire

/// Joins whose reply comes too late, and joins that are repeated for the history.
extension ClientCore {
    /// Handles the reply to a join, a leave or an end of a live that has timed out already.
    ///
    /// A late leave or end is applied. A late join is undone by a leave: its caller got an error, and while the user is
    /// in this live, the server rejects a join of another one.
    mutating func lateReplyReceived(
        _ call: UnfinishedCall, _ result: Result<CallResult, ErrorInfo>, at now: MonotonicTime
    ) {
        guard call.isJoining else { return self.emit(self.membership.callEnded(call, result)) }
        // If a later join of this live has succeeded or is unfinished, the app wants to be in it. An empty id names no
        // live to leave.
        guard case .success = result, let live = call.live, !live.text.isEmpty, live != self.membership.live,
            !self.calls.contains(about: live, where: \.isJoining)
        else { return }
        let params = (try? OutgoingFrame.params(["live": .text(live.text)])) ?? []
        self.calls.add(
            UnfinishedCall(
                handle: self.makeHandle(), method: "live.leave", params: params, live: live,
                deadline: now + self.options.callTimeout))
        self.sendCalls(at: now)
    }

    /// Puts the last join in front of the other calls, if the connection was lost after its reply and before the first
    /// frame of the feed (R5.19).
    ///
    /// The server sends messages from before the join only after a join on a connection that is in no live. So the
    /// client does not resume, but repeats the join with its id: the server then gives the reply that it has given
    /// before, and sends the history.
    mutating func prepareRejoin(at now: MonotonicTime) {
        if let handle = self.rejoin.endRepeat() { self.calls.remove(handle: handle) }
        let deadline = now + self.options.callTimeout
        guard let join = self.rejoin.repeatJoin(for: self.membership, until: deadline, at: now) else { return }
        self.calls.addFirst(join)
    }

    /// Handles the end of a repeated join.
    ///
    /// If the join was not repeated, the client reconnects and resumes the live; the reply to the resume tells why.
    mutating func rejoinEnded(_ result: Result<CallResult, ErrorInfo>, at now: MonotonicTime) {
        _ = self.rejoin.endRepeat()
        let isInLive = self.membership.live != nil
        self.emit(self.membership.rejoined(result))
        if isInLive, self.membership.firstFrame == .skipped { self.link.disconnect(at: now) }
    }
}

// SPDX-License-Identifier: Apache-2.0
internal import MachineKit
internal import PlazaModel

/// A call without an outcome.
struct UnfinishedCall: Sendable {
    /// The client's own number of the call, which the call has before it is sent; no frame contains the number.
    let handle: Int
    /// The call's id in its frames, the same in each repeated frame; nil until the call is first sent.
    var id: Int64?
    let method: String
    /// A JSON object.
    let params: [UInt8]
    /// The live that the call is about.
    let live: LiveID?
    /// When the call fails with `timedOut`, if no reply has been received.
    var deadline: MonotonicTime
    /// When the call was first sent; a repeated frame states the time since then as `age`.
    var firstSentAt: MonotonicTime?
    /// Whether the call was sent on the current connection and waits for its reply there.
    var isSent = false
    /// The earliest time to send the call again after the server was too busy for it; `distantPast` if it never was.
    var notBefore = MonotonicTime.distantPast
    /// How often the call was repeated because the server was busy.
    var repeats = 0

    /// Whether the call makes the user join the live; later calls wait for its reply.
    ///
    /// A `live.create` counts too: this client sends it only with `join`, so that the server also makes the user join.
    var isJoining: Bool { self.method == "live.join" || self.method == "live.create" }

    /// Whether the call, if it succeeds, changes in which live the user is.
    var movesUser: Bool { self.isJoining || self.method == "live.leave" || self.method == "live.end" }

    init(handle: Int, method: String, params: [UInt8], live: LiveID?, deadline: MonotonicTime) {
        self.handle = handle
        self.method = method
        self.params = params
        self.live = live
        self.deadline = deadline
    }

    /// The same call, to be sent once more after its reply.
    func repeated(until deadline: MonotonicTime) -> UnfinishedCall {
        var call = self
        (call.deadline, call.isSent, call.notBefore, call.repeats) = (deadline, false, .distantPast, 0)
        return call
    }

    /// Marks the call as sent on the current connection.
    ///
    /// - Parameters:
    ///   - id: a new id for the first frame; for a repeated frame, the call's own id again.
    ///   - now: the current time.
    /// - Returns: the frame to send.
    mutating func markSent(id: Int64, at now: MonotonicTime) -> [UInt8] {
        let age = self.firstSentAt.map { max(Milliseconds(0), now - $0) }
        self.firstSentAt = self.firstSentAt ?? now
        self.id = id
        self.isSent = true
        return OutgoingFrame.call(id, self.method, self.params, age: age)
    }
}

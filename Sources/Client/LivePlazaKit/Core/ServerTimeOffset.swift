// SPDX-License-Identifier: Apache-2.0
internal import MachineKit

/// How far the server's clock is ahead of a client's monotonic clock.
///
/// A moment of the client's clock plus this offset is the server's time.
struct ServerTimeOffset: Sendable, Equatable {
    private let lead: Milliseconds

    /// The offset that follows from the server's time in the reply to a call.
    ///
    /// The server's time is taken as the time in the middle between the call and its reply (R2.27).
    init(_ serverTime: Timestamp, callSentAt: MonotonicTime, replyReceivedAt: MonotonicTime) {
        // The half is rounded up, so that the computed time is behind the server's clock rather than ahead of it.
        let middle = callSentAt + Milliseconds(((replyReceivedAt - callSentAt).count + 1) / 2)
        self.lead = Milliseconds(serverTime.milliseconds - middle.milliseconds)
    }

    /// The server's time at a moment of the client's clock.
    static func + (moment: MonotonicTime, offset: ServerTimeOffset) -> WallTime {
        WallTime(milliseconds: moment.milliseconds + offset.lead.count)
    }
}

// SPDX-License-Identifier: Apache-2.0
internal import MachineKit

/// Notices that the peer of a `TCPStream` takes none of the bytes that are queued for it.
///
/// Progress is that the socket accepts a byte, or that the peer acknowledges a byte. The socket alone would not show
/// all progress, because it accepts more bytes only when a large part of its buffer is free. For a phone with a bad
/// connection this takes long.
///
/// It is a value without IO and clock, made when the first byte is queued.
struct OutputProgress {
    /// How many queued bytes the socket had accepted at the last progress.
    private var acceptedBytes = 0
    /// The time of the last progress, as far as the checks have seen it.
    private var progressAt: MonotonicTime
    /// The bytes that the peer had not acknowledged when a check last read their number; nil from the time when the
    /// socket accepts more bytes until the next reading.
    private var unacknowledgedBytes: Int?
    /// Whether the last check found the peer overdue.
    private var wasOverdue = false

    init(at now: MonotonicTime) { self.progressAt = now }

    /// Checks whether the peer is stalled; to be called regularly.
    ///
    /// A peer is overdue if it has made no progress for `timeout`. After a pause of this whole process, the socket may
    /// have room that the loop has not seen yet. Therefore a peer is stalled only when two checks in a row find it
    /// overdue.
    ///
    /// - Parameters:
    ///   - acceptedBytes: How many queued bytes the socket has accepted since this value was made.
    ///   - unacknowledgedBytes: How many accepted bytes the peer has not acknowledged. It is read by the first check
    ///     after the socket has accepted bytes, and then only when the peer is overdue.
    ///   - now: The loop's time.
    ///   - timeout: How long the peer may take no byte.
    /// - Returns: Whether this check and the one before found the peer overdue.
    mutating func checkStalled(
        acceptedBytes: Int, unacknowledgedBytes: @autoclosure () -> Int, at now: MonotonicTime, timeout: Milliseconds
    ) -> Bool {
        if acceptedBytes != self.acceptedBytes {
            self.acceptedBytes = acceptedBytes
            self.progressAt = now
            self.unacknowledgedBytes = nil
        }
        var isOverdue = now - self.progressAt >= timeout
        if isOverdue || self.unacknowledgedBytes == nil {
            let bytes = unacknowledgedBytes()
            if let earlierBytes = self.unacknowledgedBytes, bytes < earlierBytes {
                self.progressAt = now
                isOverdue = false
            }
            self.unacknowledgedBytes = bytes
        }
        // The result is computed before `defer` runs, so it uses the `wasOverdue` of the check before.
        defer { self.wasOverdue = isOverdue }
        return isOverdue && self.wasOverdue
    }
}

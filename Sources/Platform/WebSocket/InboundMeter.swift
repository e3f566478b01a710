// SPDX-License-Identifier: Apache-2.0
package import MachineKit

/// The rate limits of what the peer of a WebSocket sends.
package struct InboundLimits: Hashable, Sendable {
    /// The rate of frames of every kind; control frames and each frame of a fragmented message count.
    package var frames: RateLimit
    /// The rate of bytes, frame headers included.
    package var bytes: RateLimit
    /// The maximum number of frames until the owner accepts the connection with `WebSocketConnection.accept()`.
    package var framesBeforeAccepted = 10
    /// The maximum number of bytes until the owner accepts the connection.
    package var bytesBeforeAccepted = 16 << 10

    /// Creates limits.
    ///
    /// - Parameters:
    ///   - frames: The rate of frames of an accepted connection.
    ///   - bytes: The rate of bytes of an accepted connection.
    package init(frames: RateLimit, bytes: RateLimit) {
        self.frames = frames
        self.bytes = bytes
    }
}

/// The limit that a peer exceeded.
package enum InboundExcess: Hashable, Sendable {
    /// Too many frames in the limit's period.
    case frames
    /// Too many bytes in the limit's period.
    case bytes
    /// Too many frames or bytes before the connection was accepted.
    case beforeAccepted
    /// All connections together buffer too many bytes of unfinished messages. This connection's client address buffers
    /// the most bytes, and this connection buffers the most of that address.
    case unfinishedMessages
}

/// Checks what one peer sends against its rate limits; the caller passes the time.
struct InboundMeter {
    private var frameBucket = TokenBucket()
    private var byteBucket = TokenBucket()
    /// The number of frames before the connection was accepted.
    private var framesBeforeAcceptedCount: UInt16 = 0
    /// The number of bytes before the connection was accepted.
    private var bytesBeforeAcceptedCount: UInt32 = 0
    private var isAccepted = false

    /// Ends the limits that apply only before the connection is accepted.
    mutating func accept() { self.isAccepted = true }

    /// Counts received bytes and the frames that they complete.
    ///
    /// - Parameters:
    ///   - byteCount: The number of received bytes.
    ///   - frames: The number of frames that the bytes complete.
    ///   - limits: The limits of the peer.
    ///   - now: The loop's time.
    /// - Returns: The limit that was exceeded; nil if none was.
    mutating func count(
        _ byteCount: Int, frames: Int, _ limits: InboundLimits, at now: MonotonicTime
    ) -> InboundExcess? {
        if !self.isAccepted {
            self.bytesBeforeAcceptedCount = UInt32(clamping: Int(self.bytesBeforeAcceptedCount) + byteCount)
            self.framesBeforeAcceptedCount = UInt16(clamping: Int(self.framesBeforeAcceptedCount) + frames)
            guard Int(self.framesBeforeAcceptedCount) <= limits.framesBeforeAccepted,
                Int(self.bytesBeforeAcceptedCount) <= limits.bytesBeforeAccepted
            else { return .beforeAccepted }
        }
        // `takeOrReturnWait` would charge for at most `limits.frames.count` frames, however many were received.
        if frames > limits.frames.count { return .frames }
        // `takeOrReturnWait` returns nil if the bucket had enough tokens.
        if frames > 0, self.frameBucket.takeOrReturnWait(frames, of: limits.frames, at: now) != nil { return .frames }
        return self.byteBucket.takeOrReturnWait(byteCount, of: limits.bytes, at: now) == nil ? nil : .bytes
    }
}

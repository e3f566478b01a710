// SPDX-License-Identifier: Apache-2.0
package import MachineKit

/// What a peer may send.
package struct InboundLimits: Hashable, Sendable {
    /// Frames, of every kind: messages, pings, pongs.
    package var frames: RateLimit
    /// Bytes of frames, their headers included.
    package var bytes: RateLimit
    /// The frames and bytes until the owner accepts the connection with `WebSocketConnection.accept()`.
    package var framesBeforeAccepted = 10
    package var bytesBeforeAccepted = 16 << 10

    /// Takes the rates of an accepted connection.
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
    /// All connections together hold too many bytes of unfinished messages.
    case unfinishedMessages
}

/// Meters what one peer sends: four numbers, without a clock of its own.
struct InboundMeter {
    private var frames = TokenBucket()
    private var bytes = TokenBucket()
    private var countedFrames: UInt16 = 0
    private var countedBytes: UInt32 = 0
    private var isAccepted = false

    /// Ends the limits before acceptance.
    mutating func accept() { self.isAccepted = true }

    /// Counts received bytes, and a frame if they complete one.
    ///
    /// - Parameters:
    ///   - byteCount: How many bytes.
    ///   - isFrame: Whether they end a frame.
    ///   - limits: What the peer may send.
    ///   - now: The loop's time in milliseconds.
    /// - Returns: The limit that was exceeded; nil if none was.
    mutating func received(_ byteCount: Int, isFrame: Bool, _ limits: InboundLimits, now: UInt64) -> InboundExcess? {
        let time = Int64(clamping: now) * 1_000
        if !self.isAccepted {
            self.countedBytes = UInt32(clamping: Int(self.countedBytes) + byteCount)
            if isFrame, self.countedFrames < .max { self.countedFrames += 1 }
            guard Int(self.countedFrames) <= limits.framesBeforeAccepted,
                Int(self.countedBytes) <= limits.bytesBeforeAccepted
            else { return .beforeAccepted }
        }
        if isFrame, self.frames.take(of: limits.frames, at: time) != nil { return .frames }
        return self.bytes.take(byteCount, of: limits.bytes, at: time) == nil ? nil : .bytes
    }
}

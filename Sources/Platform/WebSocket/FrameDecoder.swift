// SPDX-License-Identifier: Apache-2.0

/// Decodes the bytes of a WebSocket's peer into messages; the bytes may arrive in chunks that end anywhere in a frame.
///
/// A frame that is completely contained in a chunk is unmasked in place and returned as a range, without a copy or an
/// allocation. A message in several frames or chunks is buffered, up to `maxMessageBytes`. Between messages the decoder
/// holds no memory. Every size is checked when the frame's header is read, before the payload arrives.
package struct FrameDecoder: Sendable {
    /// The maximum size of a message in bytes, of all its frames together.
    package let maxMessageBytes: Int
    private let role: Role
    /// Whether a close frame, a protocol violation or a call of `stop` has ended the decoding.
    private(set) var hasEnded = false
    /// The number of frames since the last `takeFrameCount`.
    private var frameCount = 0

    /// A header that was received only in part; the longest header has 14 bytes.
    private var partialHeader = InlineArray<14, UInt8>(repeating: 0)
    /// The number of bytes in `partialHeader`.
    private var partialHeaderCount: UInt8 = 0
    /// The frame whose payload was received only in part; its `payloadCount` is the number of missing bytes.
    private var partialFrame: FrameHeader?
    /// The received bytes of the message that is being buffered.
    private var message: [UInt8] = []
    /// The kind of the message that is being buffered: text or binary; nil while none is buffered.
    private var messageKind: Opcode?
    /// Checks the text message that is being buffered.
    private var validator = UTF8Validator()
    /// The payload of the control frame that is being buffered.
    ///
    /// A control frame may arrive between the frames of a message, so it has its own buffer.
    private var controlPayload: [UInt8] = []

    /// Starts before the first frame.
    ///
    /// - Parameters:
    ///   - role: The side on which this decoder runs. A server requires masked frames, a client rejects them.
    ///   - maxMessageBytes: The maximum size of a message in bytes, of all its frames together.
    package init(role: Role, maxMessageBytes: Int) {
        self.role = role
        self.maxMessageBytes = maxMessageBytes
    }

    /// The memory that the decoder holds for an unfinished message and an unfinished control frame, in bytes.
    package var bufferedCapacityBytes: Int { self.message.capacity + self.controlPayload.capacity }

    /// Decodes the next event in `chunk` from `offset` on, and advances `offset` past the decoded bytes.
    ///
    /// Call this method until it returns nil; then all bytes of the chunk are consumed. After a close or a failure, all
    /// later bytes are consumed and ignored.
    package mutating func next(_ chunk: inout MutableSpan<UInt8>, _ offset: inout Int) -> FrameEvent? {
        if self.hasEnded {
            offset = chunk.count
            return nil
        }
        do throws(ProtocolViolation) {
            while true {
                if self.partialFrame == nil {
                    guard let header = try self.nextHeader(chunk.span, &offset) else { return nil }
                    try self.validate(header)
                    if let event = try self.decodeWholeFrame(header, &chunk, &offset) {
                        self.frameCount += 1
                        return event
                    }
                    self.partialFrame = header
                }
                if !(try self.bufferPayload(&chunk, &offset)) { return nil }
                let event = try self.endFrame()
                self.frameCount += 1
                if let event { return event }
            }
        } catch {
            self.frameCount += 1
            self.stop()
            offset = chunk.count
            return .failure(error)
        }
    }

    /// Returns how many frames have ended since the last call, and resets the count.
    ///
    /// Every frame counts: a control frame, a message in one frame, each frame of a fragmented message even if it is
    /// empty, and a frame that breaks the protocol. One call of `next` may decode many frames that complete no message.
    mutating func takeFrameCount() -> Int {
        defer { self.frameCount = 0 }
        return self.frameCount
    }

    /// Reads the next header; nil until all of it has been received.
    private mutating func nextHeader(
        _ chunk: Span<UInt8>, _ offset: inout Int
    ) throws(ProtocolViolation) -> FrameHeader? {
        let available = chunk.count - offset
        if self.partialHeaderCount == 0, available >= 2 {
            let headerSize = FrameHeader.byteCount(secondByte: chunk[offset + 1])
            if available >= headerSize {
                defer { offset += headerSize }
                return try FrameHeader(chunk.extracting(offset..<offset + headerSize))
            }
        }
        while offset < chunk.count {
            self.partialHeader[Int(self.partialHeaderCount)] = chunk[offset]
            self.partialHeaderCount += 1
            offset += 1
            // The second byte determines the header's size.
            if self.partialHeaderCount < 2 { continue }
            let headerSize = FrameHeader.byteCount(secondByte: self.partialHeader[1])
            if Int(self.partialHeaderCount) == headerSize {
                self.partialHeaderCount = 0
                return try FrameHeader(self.partialHeader.span.extracting(0..<headerSize))
            }
        }
        return nil
    }

    /// Checks a header against the role, the current message and the size limit.
    private func validate(_ header: FrameHeader) throws(ProtocolViolation) {
        switch (self.role, header.mask) {
        case (.server, nil): throw .maskMissing
        case (.client, .some): throw .maskForbidden
        case (.server, .some), (.client, nil): break
        }
        switch header.opcode {
        // A control frame may arrive between the frames of a message, and has at most 125 bytes.
        case .close, .ping, .pong: return
        case .text, .binary: if self.messageKind != nil { throw .messageInterrupted }
        case .continuation: if self.messageKind == nil { throw .continuationWithoutStart }
        }
        // The check subtracts, because a sum with the announced length could overflow.
        if header.payloadCount > self.maxMessageBytes - self.message.count { throw .messageTooBig }
    }

    /// Decodes a message or control frame that is completely contained in the chunk, without buffering it.
    ///
    /// - Returns: The event; nil when the frame must be buffered.
    private mutating func decodeWholeFrame(
        _ header: FrameHeader, _ chunk: inout MutableSpan<UInt8>, _ offset: inout Int
    ) throws(ProtocolViolation) -> FrameEvent? {
        guard header.isFinal, header.opcode != .continuation, header.payloadCount <= chunk.count - offset else {
            return nil
        }
        let range = offset..<offset + header.payloadCount
        if var mask = header.mask { mask.apply(to: &chunk, range) }
        offset = range.upperBound
        switch header.opcode {
        case .continuation: return nil  // Excluded by the guard above.
        case .text:
            var validator = UTF8Validator()
            guard validator.consume(chunk.span.extracting(range)), validator.isComplete else { throw .invalidUTF8 }
            return .text(.inChunk(range))
        case .binary: return .binary(.inChunk(range))
        case .ping: return .ping(.inChunk(range))
        case .pong: return .pong(.inChunk(range))
        case .close: return try self.closeEvent(chunk.span.extracting(range))
        }
    }

    /// Buffers the received part of the current frame's payload.
    ///
    /// - Returns: Whether the frame is complete.
    private mutating func bufferPayload(
        _ chunk: inout MutableSpan<UInt8>, _ offset: inout Int
    ) throws(ProtocolViolation) -> Bool {
        guard var frame = self.partialFrame else { return false }
        let range = offset..<min(chunk.count, offset + frame.payloadCount)
        // Applying the mask also advances it, so that it continues with the right byte in the next chunk.
        frame.mask?.apply(to: &chunk, range)
        frame.payloadCount -= range.count
        offset = range.upperBound
        self.partialFrame = frame
        let received = chunk.span.extracting(range)
        if frame.opcode.isControl {
            self.controlPayload.reserveCapacity(self.controlPayload.count + range.count + frame.payloadCount)
            for index in received.indices { self.controlPayload.append(received[index]) }
            return frame.payloadCount == 0
        }
        // Only the first frame of a message says whether the message is text or binary.
        if frame.opcode != .continuation { self.messageKind = frame.opcode }
        if self.messageKind == .text, !self.validator.consume(received) { throw .invalidUTF8 }
        self.growMessage(by: range.count)
        unsafe received.withUnsafeBufferPointer { bytes in unsafe self.message.append(contentsOf: bytes) }
        return frame.payloadCount == 0
    }

    /// Enlarges the message's buffer if the next `count` received bytes do not fit.
    ///
    /// The capacity doubles, up to the limit of a message. If this is too little for the received bytes, the capacity
    /// becomes as large as needed. Bytes that a header announces take no memory before they are received.
    private mutating func growMessage(by count: Int) {
        let newCount = self.message.count + count
        if newCount <= self.message.capacity { return }
        self.message.reserveCapacity(max(newCount, min(self.message.capacity * 2, self.maxMessageBytes)))
    }

    /// Ends the current frame and returns the event that it completes: a control frame, or a message if the frame is
    /// its last one.
    private mutating func endFrame() throws(ProtocolViolation) -> FrameEvent? {
        guard let frame = self.partialFrame else { return nil }
        self.partialFrame = nil
        switch frame.opcode {
        case .ping: return .ping(.buffered(self.takeControlPayload()))
        case .pong: return .pong(.buffered(self.takeControlPayload()))
        case .close:
            let payload = self.takeControlPayload()
            return try self.closeEvent(payload.span)
        case .text, .binary, .continuation:
            if !frame.isFinal { return nil }
            // The validator has read nothing of a binary message, so it is complete then.
            if !self.validator.isComplete { throw .invalidUTF8 }
            let kind = self.messageKind
            let message = self.message
            self.message = []
            self.messageKind = nil
            self.validator = UTF8Validator()
            return kind == .text ? .text(.buffered(message)) : .binary(.buffered(message))
        }
    }

    /// Returns the buffered payload of a control frame, and clears the buffer.
    private mutating func takeControlPayload() -> [UInt8] {
        defer { self.controlPayload = [] }
        return self.controlPayload
    }

    /// Reads a close frame's payload (RFC 6455, section 5.5.1), and stops decoding.
    private mutating func closeEvent(_ payload: Span<UInt8>) throws(ProtocolViolation) -> FrameEvent {
        self.stop()
        if payload.isEmpty { return .close(nil, reason: "") }
        // A close code has two bytes.
        if payload.count == 1 { throw .closePayload }
        let code = CloseCode(rawValue: UInt16(payload[0]) << 8 | UInt16(payload[1]))
        if !code.isAllowedOnWire { throw .closePayload }
        let reason = payload.extracting(2...)
        var validator = UTF8Validator()
        guard validator.consume(reason), validator.isComplete else { throw .invalidUTF8 }
        let text = unsafe reason.withUnsafeBufferPointer { bytes in unsafe String(decoding: bytes, as: UTF8.self) }
        return .close(code, reason: text)
    }

    /// Stops decoding and frees all memory: after a close frame or a violation, or when `WebSocketConnection` discards
    /// all further input.
    package mutating func stop() {
        self.hasEnded = true
        self.partialFrame = nil
        self.message = []
        self.messageKind = nil
        self.controlPayload = []
    }
}

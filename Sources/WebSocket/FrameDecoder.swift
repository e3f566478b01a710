// SPDX-License-Identifier: Apache-2.0

/// Turns the bytes of a peer into messages, whatever pieces they come in.
///
/// A frame that lies whole in a chunk is unmasked in place and handed on as a range: nothing is copied or allocated.
/// Only a message that comes in several frames or chunks is gathered, up to its limit; between messages the decoder
/// holds no memory. Every size is checked before the payload is there.
package struct FrameDecoder: Sendable {
    /// Most bytes of one message, of all its frames together.
    package let maxMessageBytes: Int
    private let role: Role
    private var isDone = false

    /// A header of which only a part has come.
    private var header = InlineArray<14, UInt8>(repeating: 0)
    private var headerCount: UInt8 = 0
    /// The frame of which only a part of the payload has come; `payloadCount` is what is still missing.
    private var frame: FrameHeader?
    /// The message that is being gathered, and its kind.
    private var message: [UInt8] = []
    private var messageKind: Opcode?
    private var validator = UTF8Validator()
    /// The control frame that is being gathered; it may stand between the frames of a message.
    private var control: [UInt8] = []

    /// Starts before the first frame.
    ///
    /// - Parameters:
    ///   - role: Our side: a server demands masks, a client forbids them.
    ///   - maxMessageBytes: Most bytes of one message, of all its frames together.
    package init(role: Role, maxMessageBytes: Int) {
        self.role = role
        self.maxMessageBytes = maxMessageBytes
    }

    /// How much memory the decoder holds for what has not come whole.
    package var gatheredCapacity: Int { self.message.capacity + self.control.capacity }

    /// Decodes what comes next in `chunk`, from `offset` on, which moves to the end of what was used.
    ///
    /// Call it until it returns nil; then the chunk is used up. After a close or a failure it is always used up.
    package mutating func next(_ chunk: inout MutableSpan<UInt8>, _ offset: inout Int) -> FrameEvent? {
        if self.isDone {
            offset = chunk.count
            return nil
        }
        do throws(ProtocolViolation) {
            while true {
                if self.frame == nil {
                    guard let header = try self.nextHeader(chunk.span, &offset) else { return nil }
                    try self.check(header)
                    if let event = try self.wholeFrame(header, &chunk, &offset) { return event }
                    self.frame = header
                }
                if !(try self.gather(&chunk, &offset)) { return nil }
                if let event = try self.frameEnded() { return event }
            }
        } catch {
            self.end()
            offset = chunk.count
            return .failure(error)
        }
    }

    /// The next header, once it is there whole.
    private mutating func nextHeader(
        _ chunk: Span<UInt8>, _ offset: inout Int
    ) throws(ProtocolViolation) -> FrameHeader? {
        let available = chunk.count - offset
        if self.headerCount == 0, available >= 2 {
            let length = FrameHeader.length(secondByte: chunk[offset + 1])
            if available >= length {
                defer { offset += length }
                return try FrameHeader(chunk.extracting(offset..<offset + length))
            }
        }
        while offset < chunk.count {
            self.header[Int(self.headerCount)] = chunk[offset]
            self.headerCount += 1
            offset += 1
            if self.headerCount < 2 { continue }
            let length = FrameHeader.length(secondByte: self.header[1])
            if Int(self.headerCount) == length {
                self.headerCount = 0
                return try FrameHeader(self.header.span.extracting(0..<length))
            }
        }
        return nil
    }

    /// What a header must be where it stands.
    private func check(_ header: FrameHeader) throws(ProtocolViolation) {
        switch (self.role, header.mask) {
        case (.server, nil): throw .maskMissing
        case (.client, .some): throw .maskForbidden
        case (.server, .some), (.client, nil): break
        }
        switch header.opcode {
        case .close, .ping, .pong: return
        case .text, .binary: if self.messageKind != nil { throw .messageInterrupted }
        case .continuation: if self.messageKind == nil { throw .continuationWithoutStart }
        }
        // Written so that no announced length can overflow.
        if header.payloadCount > self.maxMessageBytes - self.message.count { throw .messageTooBig }
    }

    /// The short way, for a message or control frame that lies whole in the chunk.
    private mutating func wholeFrame(
        _ header: FrameHeader, _ chunk: inout MutableSpan<UInt8>, _ offset: inout Int
    ) throws(ProtocolViolation) -> FrameEvent? {
        guard header.isFinal, header.opcode != .continuation, header.payloadCount <= chunk.count - offset else {
            return nil
        }
        let range = offset..<offset + header.payloadCount
        if var mask = header.mask { mask.apply(to: &chunk, range) }
        offset = range.upperBound
        switch header.opcode {
        case .continuation: return nil
        case .text:
            var validator = UTF8Validator()
            guard validator.consume(chunk.span.extracting(range)), validator.isComplete else { throw .invalidUTF8 }
            return .text(.inChunk(range))
        case .binary: return .binary(.inChunk(range))
        case .ping: return .ping(.inChunk(range))
        case .pong: return .pong(.inChunk(range))
        case .close: return try self.closed(chunk.span.extracting(range))
        }
    }

    /// Takes what has come of the current frame's payload.
    ///
    /// - Returns: Whether the frame is complete.
    private mutating func gather(
        _ chunk: inout MutableSpan<UInt8>, _ offset: inout Int
    ) throws(ProtocolViolation) -> Bool {
        guard var frame = self.frame else { return false }
        let range = offset..<min(chunk.count, offset + frame.payloadCount)
        frame.mask?.apply(to: &chunk, range)
        frame.payloadCount -= range.count
        offset = range.upperBound
        self.frame = frame
        let piece = chunk.span.extracting(range)
        if frame.opcode.isControl {
            self.control.reserveCapacity(self.control.count + range.count + frame.payloadCount)
            for index in piece.indices { self.control.append(piece[index]) }
            return frame.payloadCount == 0
        }
        if frame.opcode != .continuation { self.messageKind = frame.opcode }
        if self.messageKind == .text, !self.validator.consume(piece) { throw .invalidUTF8 }
        self.growMessage(by: range.count)
        unsafe piece.withUnsafeBufferPointer { bytes in unsafe self.message.append(contentsOf: bytes) }
        return frame.payloadCount == 0
    }

    /// Makes room by doubling, but not beyond the limit, and never for bytes that are only announced.
    private mutating func growMessage(by count: Int) {
        let needed = self.message.count + count
        if needed <= self.message.capacity { return }
        self.message.reserveCapacity(max(needed, min(self.message.capacity * 2, self.maxMessageBytes)))
    }

    /// The current frame has come whole: what it completes, if anything.
    private mutating func frameEnded() throws(ProtocolViolation) -> FrameEvent? {
        guard let frame = self.frame else { return nil }
        self.frame = nil
        switch frame.opcode {
        case .ping: return .ping(.gathered(self.takeControl()))
        case .pong: return .pong(.gathered(self.takeControl()))
        case .close:
            let payload = self.takeControl()
            return try self.closed(payload.span)
        case .text, .binary, .continuation:
            if !frame.isFinal { return nil }
            if !self.validator.isComplete { throw .invalidUTF8 }
            let kind = self.messageKind
            let message = self.message
            self.message = []
            self.messageKind = nil
            self.validator = UTF8Validator()
            return kind == .text ? .text(.gathered(message)) : .binary(.gathered(message))
        }
    }

    private mutating func takeControl() -> [UInt8] {
        defer { self.control = [] }
        return self.control
    }

    /// Reads a close frame's payload (RFC 6455, section 5.5.1).
    private mutating func closed(_ payload: Span<UInt8>) throws(ProtocolViolation) -> FrameEvent {
        self.end()
        if payload.isEmpty { return .close(nil, reason: "") }
        if payload.count == 1 { throw .closePayload }
        let code = CloseCode(rawValue: UInt16(payload[0]) << 8 | UInt16(payload[1]))
        if !code.isAllowedOnWire { throw .closePayload }
        let reason = payload.extracting(2...)
        var validator = UTF8Validator()
        guard validator.consume(reason), validator.isComplete else { throw .invalidUTF8 }
        let text = unsafe reason.withUnsafeBufferPointer { bytes in unsafe String(decoding: bytes, as: UTF8.self) }
        return .close(code, reason: text)
    }

    /// Reads no more, and lets go of everything.
    private mutating func end() {
        self.isDone = true
        self.frame = nil
        self.message = []
        self.messageKind = nil
        self.control = []
    }
}

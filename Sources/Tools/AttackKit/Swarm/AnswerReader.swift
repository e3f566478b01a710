// SPDX-License-Identifier: Apache-2.0
internal import WebSocket

/// A parser of what a gateway sends on one connection.
///
/// A gateway first sends the head of an HTTP response. If the response completes a WebSocket handshake, frames follow.
struct AnswerReader {
    /// One thing that the gateway has sent.
    enum Answer: Equatable {
        /// An HTTP response with this status.
        case status(Int)
        /// A text message.
        case text([UInt8])
        /// A close frame with this code.
        case close(UInt16)
        /// Bytes that break the protocol.
        case malformed
    }

    /// The bytes of the head that were received so far, until the head is complete.
    private var head: [UInt8] = []
    /// The decoder of frames; nil until the handshake is complete.
    private var decoder: FrameDecoder?
    /// Whether all further bytes are ignored, because they are the body of a response or follow a malformed head.
    private var ignoresBytes = false

    // The maximum sizes of a head and of a message; larger ones count as malformed.
    private static let maxHeadBytes = 16 << 10
    private static let maxMessageBytes = 4 << 20

    /// Reads a chunk of any size, and returns the answers that the chunk completes; may change the chunk's bytes.
    mutating func read(_ chunk: inout MutableSpan<UInt8>) -> [Answer] {
        if self.ignoresBytes { return [] }
        if self.decoder != nil { return self.readFrames(&chunk) }
        for index in chunk.indices { self.head.append(chunk[index]) }
        guard let end = Self.endOfHead(self.head) else {
            guard self.head.count > Self.maxHeadBytes else { return [] }
            (self.head, self.ignoresBytes) = ([], true)
            return [.malformed]
        }
        // The chunk may contain frames that follow the handshake's response.
        var bytesAfterHead = Array(self.head[end...])
        let status = Self.status(self.head)
        self.head = []
        guard let status else {
            self.ignoresBytes = true
            return [.malformed]
        }
        // 101 (Switching Protocols) completes a handshake.
        guard status == 101 else {
            self.ignoresBytes = true
            return [.status(status)]
        }
        self.decoder = FrameDecoder(role: .client, maxMessageBytes: Self.maxMessageBytes)
        var frames = bytesAfterHead.mutableSpan
        return [.status(status)] + self.readFrames(&frames)
    }

    private mutating func readFrames(_ chunk: inout MutableSpan<UInt8>) -> [Answer] {
        var answers: [Answer] = []
        var offset = 0
        while let event = self.decoder?.next(&chunk, &offset) {
            switch event {
            case .text(let payload): answers.append(.text(payload.copy(from: chunk.span)))
            case .close(let code, _): answers.append(.close((code ?? .noCode).rawValue))
            case .failure: answers.append(.malformed)
            case .binary, .ping, .pong: break
            }
        }
        return answers
    }

    /// The index after the empty line that ends a head; nil if the head is not complete.
    private static func endOfHead(_ bytes: [UInt8]) -> Int? {
        let end = Array("\r\n\r\n".utf8)
        guard bytes.count >= end.count else { return nil }
        for start in 0...(bytes.count - end.count) where bytes[start..<start + end.count].elementsEqual(end) {
            return start + end.count
        }
        return nil
    }

    /// The status code in a head; nil if its first line is not that of an HTTP/1 response.
    private static func status(_ head: [UInt8]) -> Int? {
        let words = String(decoding: head.prefix(32), as: UTF8.self).split(separator: " ", maxSplits: 2)
        guard words.count == 3, words[0].hasPrefix("HTTP/1.") else { return nil }
        return Int(words[1])
    }
}

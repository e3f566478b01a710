// SPDX-License-Identifier: Apache-2.0
internal import WebSocket

/// WebSocket frames that are received in one chunk, and in several chunks: both must give the same events.
///
/// The first byte selects the role and the size of the chunks; the other bytes are the frames. The lowest bit of the
/// first byte is 0 for a server.
public enum FramesFuzz: FuzzTarget {
    /// Handles one input.
    public static func run(_ input: [UInt8]) {
        guard let selector = input.first else { return }
        let bytes = Array(input.dropFirst())
        let role: Role = selector & 1 == 0 ? .server : .client
        let chunkBytes = Int(selector >> 1) + 1
        let eventsInOneChunk = Self.events([bytes], role)
        let chunks = stride(from: 0, to: bytes.count, by: chunkBytes).map { start in
            Array(bytes[start..<min(bytes.count, start + chunkBytes)])
        }
        precondition(eventsInOneChunk == Self.events(chunks, role), "the events depend on the chunks")
    }

    private static let maxMessageBytes = 4096

    private enum Event: Equatable {
        case message(FrameKind, [UInt8])
        case close(CloseCode?, String)
        case failure
    }

    private enum FrameKind { case text, binary, ping, pong }

    /// All events of the frames, which arrive in these chunks.
    private static func events(_ chunks: [[UInt8]], _ role: Role) -> [Event] {
        var decoder = FrameDecoder(role: role, maxMessageBytes: Self.maxMessageBytes)
        var events: [Event] = []
        for chunk in chunks {
            var bytes = chunk
            var span = bytes.mutableSpan
            var offset = 0
            while let event = decoder.next(&span, &offset) {
                switch event {
                case .text(let payload): events.append(.message(.text, payload.copy(from: span.span)))
                case .binary(let payload): events.append(.message(.binary, payload.copy(from: span.span)))
                case .ping(let payload): events.append(.message(.ping, payload.copy(from: span.span)))
                case .pong(let payload): events.append(.message(.pong, payload.copy(from: span.span)))
                case .close(let code, let reason): events.append(.close(code, reason))
                // The chunks may decide which failure of a frame is found first, so all failures count as equal.
                case .failure: events.append(.failure)
                }
            }
            precondition(offset == span.count, "the decoder must consume the whole chunk")
            // An array's capacity may be twice its content, rounded up by the allocator.
            let maxBufferedBytes = 2 * Self.maxMessageBytes + 256
            precondition(decoder.bufferedCapacityBytes <= maxBufferedBytes, "the decoder holds more than a message")
        }
        return events
    }
}

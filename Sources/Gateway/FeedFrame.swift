// SPDX-License-Identifier: Apache-2.0
package import EventLoop
package import GatewayCore
package import PlazaModel
internal import PlazaWire
internal import WebSocket

/// Splices items of one live into frames: `{"feed":{"epoch":…,"items":[…],"live":"…","token":"…"}}`.
///
/// The items are the very bytes that the fan-out wrote; nothing is parsed or encoded but the numbers around them.
package struct FeedFrame: Sendable {
    /// Bytes of items in one frame at most; a longer replay is several frames.
    package static let frameBytes = 64 << 10

    private let tail: [UInt8]
    private static let comma = UInt8(ascii: ",")

    /// Frames of this live.
    package init(live: LiveID) {
        self.tail = Array("],\"live\":".utf8) + Wire.encode(live) + Array(",\"token\":\"".utf8)
    }

    /// One frame of `pieces`, at least one, which follow each other without a hole.
    ///
    /// - Parameters:
    ///   - pieces: the items, in order.
    ///   - epoch: the live's incarnation.
    /// - Returns: a text frame, ready to be sent to any number of clients.
    package func frame(_ pieces: ArraySlice<FeedPiece>, epoch: Int64) -> SharedBytes {
        let position = FeedPosition(epoch: epoch, number: pieces.last?.number ?? 0)
        return self.frame(pieces, FeedToken(position, offset: pieces.last?.offset), flags: "")
    }

    /// A frame without items, which tells where the feed stands.
    package func standing(at place: FeedToken) -> SharedBytes { self.frame([], place, flags: "") }

    /// Frames of messages of before, which need not follow each other; each tells where the feed stands now.
    package func history(_ messages: ArraySlice<FeedPiece>, at place: FeedToken) -> [SharedBytes] {
        var frames: [SharedBytes] = []
        var rest = messages
        while !rest.isEmpty {
            var bytes = 0
            let part = rest.prefix { piece in
                bytes += piece.bytes.count
                return bytes <= Self.frameBytes || bytes == piece.bytes.count
            }
            frames.append(self.frame(part, place, flags: "\"history\":true,"))
            rest = rest.dropFirst(part.count)
        }
        return frames
    }

    /// The frames of those `pieces` that go out at `level`: where something gave way, one frame ends and another begins,
    /// so that inside a frame numbers always follow each other.
    package func frames(_ pieces: ArraySlice<FeedPiece>, epoch: Int64, level: DeliveryLevel) -> [SharedBytes] {
        var frames: [SharedBytes] = []
        var start = pieces.startIndex
        var bytes = 0
        func close(at index: Int) {
            if start < index { frames.append(self.frame(pieces[start..<index], epoch: epoch)) }
            start = index
            bytes = 0
        }
        for index in pieces.indices {
            if !level.admits(pieces[index].feedClass) {
                close(at: index)
                start = index + 1
                continue
            }
            if bytes + pieces[index].bytes.count > Self.frameBytes { close(at: index) }
            bytes += pieces[index].bytes.count
        }
        close(at: pieces.endIndex)
        return frames
    }

    private func frame(_ pieces: ArraySlice<FeedPiece>, _ place: FeedToken, flags: String) -> SharedBytes {
        let head = Array("{\"feed\":{\"epoch\":\(place.position.epoch),\(flags)\"items\":[".utf8)
        let token = Array("\(place.text)\"}}".utf8)
        let bytes = pieces.reduce(0) { $0 + $1.bytes.count } + max(0, pieces.count - 1)
        let count = head.count + bytes + self.tail.count + token.count
        return FrameEncoder.frame(.text, payloadCount: count) { output in
            output.append(contentsOf: head)
            var isFirst = true
            for piece in pieces {
                if !isFirst { output.append(Self.comma) }
                isFirst = false
                output.append(contentsOf: piece.bytes)
            }
            output.append(contentsOf: self.tail)
            output.append(contentsOf: token)
        }
    }
}

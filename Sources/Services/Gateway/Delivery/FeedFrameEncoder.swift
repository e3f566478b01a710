// SPDX-License-Identifier: Apache-2.0
package import EventLoop
package import GatewayCore
package import PlazaModel
internal import PlazaWire
internal import WebSocket

/// Encodes feed frames of one live: `{"feed":{"epoch":…,"items":[…],"live":"…","token":"…"}}`.
///
/// Each item is the JSON that the fan-out (the machine that writes the feeds) has written. It is neither parsed nor
/// encoded again.
package struct FeedFrameEncoder: Sendable {
    /// The largest size of the items in one frame, 64 KiB; a longer replay is split into several frames.
    ///
    /// A single item may exceed it.
    package static let maxItemBytes = 64 << 10

    /// The JSON between the items and the token; all frames of the live have the same.
    private let middle: [UInt8]
    private static let comma = UInt8(ascii: ",")

    /// Creates an encoder for the frames of a live.
    package init(live: LiveID) {
        self.middle = Array("],\"live\":".utf8) + Wire.encode(live) + Array(",\"token\":\"".utf8)
    }

    /// Returns one frame with `items`.
    ///
    /// - Parameters:
    ///   - items: At least one item, in order, with consecutive numbers.
    ///   - epoch: The live's epoch.
    ///   - isShared: Whether the frame is sent to many clients, which all belong to the calling shard.
    /// - Returns: A text frame.
    package func frame(_ items: ArraySlice<EncodedFeedItem>, epoch: Int64, isShared: Bool = false) -> SharedBytes {
        let position = FeedPosition(epoch: epoch, number: items.last?.number ?? 0)
        return self.frame(items, FeedToken(position, offset: items.last?.offset), flags: "", isShared: isShared)
    }

    /// Returns a frame without items; its token tells the client the feed's position.
    package func positionFrame(_ token: FeedToken) -> SharedBytes { self.frame([], token, flags: "") }

    /// Returns frames with earlier messages for a new viewer; the messages' numbers need not be consecutive.
    ///
    /// Each frame has `token`, the feed's current position.
    package func historyFrames(_ messages: ArraySlice<EncodedFeedItem>, at token: FeedToken) -> [SharedBytes] {
        var frames: [SharedBytes] = []
        var remaining = messages
        while !remaining.isEmpty {
            var bytes = 0
            let frameItems = remaining.prefix { item in
                bytes += item.bytes.count
                // The first message is taken, however large it is.
                return bytes <= Self.maxItemBytes || bytes == item.bytes.count
            }
            frames.append(self.frame(frameItems, token, flags: "\"history\":true,"))
            remaining = remaining.dropFirst(frameItems.count)
        }
        return frames
    }

    /// Returns frames with those `items` whose class `level` admits.
    ///
    /// A frame ends where items are left out, so that the numbers in a frame are always consecutive. `isShared` says
    /// whether the frames are sent to many clients, which all belong to the calling shard.
    package func frames(
        _ items: ArraySlice<EncodedFeedItem>, epoch: Int64, level: DeliveryLevel, isShared: Bool = false
    ) -> [SharedBytes] {
        var frames: [SharedBytes] = []
        var start = items.startIndex
        var bytes = 0
        func endFrame(at index: Int) {
            if start < index { frames.append(self.frame(items[start..<index], epoch: epoch, isShared: isShared)) }
            start = index
            bytes = 0
        }
        for index in items.indices {
            if !level.admits(items[index].feedClass) {
                endFrame(at: index)
                start = index + 1
                continue
            }
            if bytes + items[index].bytes.count > Self.maxItemBytes { endFrame(at: index) }
            bytes += items[index].bytes.count
        }
        endFrame(at: items.endIndex)
        return frames
    }

    /// Returns one text frame; `flags` is empty, or JSON members that each end with a comma.
    private func frame(
        _ items: ArraySlice<EncodedFeedItem>, _ token: FeedToken, flags: String, isShared: Bool = false
    ) -> SharedBytes {
        let start = Array("{\"feed\":{\"epoch\":\(token.position.epoch),\(flags)\"items\":[".utf8)
        let end = Array("\(token.text)\"}}".utf8)
        let commaCount = max(0, items.count - 1)
        let itemBytes = items.reduce(0) { $0 + $1.bytes.count } + commaCount
        let count = start.count + itemBytes + self.middle.count + end.count
        return FrameEncoder.frame(.text, payloadCount: count, isShared: isShared) { output in
            output.append(contentsOf: start)
            var isFirst = true
            for item in items {
                if !isFirst { output.append(Self.comma) }
                isFirst = false
                output.append(contentsOf: item.bytes)
            }
            output.append(contentsOf: self.middle)
            output.append(contentsOf: end)
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
internal import MachineKit
internal import PlazaModel

/// Items of a live's feed.
struct FeedFrame: Sendable {
    var live: LiveID
    /// The position of the feed after this frame: that of the frame's last item, unless the frame is a history or has
    /// no items.
    var position: FeedPosition
    /// The text with which a client resumes the feed after this frame.
    var token: String
    /// Whether these are messages from before the client joined.
    var isHistory: Bool
    var items: [FrameItem]
}

/// An item of a feed.
struct FrameItem: Sendable {
    /// The number of the item in its feed.
    var n: Int64
    /// The broker's time of the item; 0 if the frame does not contain it.
    var at: Timestamp
    /// Nil if the content is of a later version, or violates the protocol.
    var content: FeedContent?
    /// Why the content cannot be read; nil if it can, or is of a later version.
    var fault: ErrorInfo?

    /// Whether this is the live's last item.
    var isEnd: Bool { self.content?.isEnd ?? false }
}

extension FeedFrame: Decodable {
    private enum Key: String, CodingKey {
        case live
        case epoch
        case token
        case history
        case items
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        func invalidField(_ key: Key, _ message: String) -> DecodingError {
            .dataCorruptedError(forKey: key, in: container, debugDescription: message)
        }
        self.live = try container.decode(LiveID.self, forKey: .live)
        self.token = try container.decode(String.self, forKey: .token)
        let epoch = try container.decode(Int64.self, forKey: .epoch)
        guard let position = FeedToken(text: self.token)?.position, position.epoch == epoch else {
            throw invalidField(.token, "is no token of the epoch")
        }
        self.position = position
        self.isHistory = try container.decodeIfPresent(Bool.self, forKey: .history) ?? false
        self.items = try container.decode([FrameItem].self, forKey: .items)
        // The numbers of a history ascend, but may skip items that are no messages.
        for (item, next) in zip(self.items, self.items.dropFirst()) {
            guard item.n < next.n, self.isHistory || item.n + 1 == next.n else {
                throw invalidField(.items, "are out of order")
            }
        }
        if let last = self.items.last, self.isHistory ? last.n > position.number : last.n != position.number {
            throw invalidField(.items, "do not end at their token")
        }
    }
}

extension FrameItem: Decodable {
    private enum Key: String, CodingKey {
        case n
        case at
        case content
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        self.n = try container.decode(Int64.self, forKey: .n)
        guard FeedPosition.validNumbers.contains(self.n) else {
            throw DecodingError.dataCorruptedError(forKey: .n, in: container, debugDescription: "is no item's number")
        }
        self.at = try container.decodeIfPresent(Timestamp.self, forKey: .at) ?? Timestamp(milliseconds: 0)
        switch TolerantValue(FeedContent.self, in: container, forKey: .content) {
        case .value(let content): self.content = content
        case .unknown: break
        case .fault(let error): self.fault = error
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
internal import MachineKit
internal import PlazaModel
internal import PlazaWire

/// A frame of the server as a client reads it.
///
/// It is more tolerant than `ServerFrame`, because a server may be newer than an app: unknown frames and fields are
/// ignored, and an item that cannot be decoded is left out without the rest of its frame.
enum IncomingFrame: Sendable {
    case reply(id: Int64, ReplyContent)
    case feed(FeedFrame)
    case counts(LiveCount)
    case notice(NoticeFrame)
    /// The gateway is stopping; the client must disconnect within this many milliseconds.
    case drain(within: Double)
    /// A frame of a kind that this version does not know.
    case unknown
}

/// The result or the error in a reply.
enum ReplyContent: Sendable {
    case success(CallResult)
    case failure(ErrorInfo)
    /// A result that cannot be read.
    case unreadable(ErrorInfo)

    /// The outcome of the call to which this replies.
    var result: Result<CallResult, ErrorInfo> {
        switch self {
        case .success(let result): .success(result)
        case .failure(let error), .unreadable(let error): .failure(error)
        }
    }
}

/// Items of a live's feed.
struct FeedFrame: Sendable {
    var live: LiveID
    var position: FeedPosition
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

/// A message to this user.
struct NoticeFrame: Sendable {
    var id: String
    /// The live that the notice is about; empty if the frame does not name it.
    var live: LiveID
    /// The broker's time of the notice; 0 if the frame does not contain it.
    var at: Timestamp
    /// For `kickedOut`: the lowest ticket that is still valid.
    var floor: Ticket?
    /// Nil if the content is of a later version, or violates the protocol.
    var content: NoticeContent?
    /// Why the content cannot be read; nil if it can, or is of a later version.
    var fault: ErrorInfo?
}

extension IncomingFrame {
    /// The size in bytes beyond which a server's frame is refused (PROTOCOL.md, section 12).
    static let maxBytes = 4 << 20

    /// Reads a frame.
    ///
    /// - Throws: `badFrame` if the bytes do not follow the protocol.
    init(_ bytes: [UInt8]) throws(ErrorInfo) {
        guard bytes.count <= Self.maxBytes else { throw .badFrame("a frame that is too long") }
        do throws(WireError) {
            self = try Wire.decode(FrameBody.self, from: bytes).frame
        } catch {
            throw .badFrame("a frame of which \(error.message)")
        }
    }
}

/// Any of the protocol's frames; the one key names the kind.
private struct FrameBody: Decodable {
    let frame: IncomingFrame

    private enum Kind: String, CodingKey {
        case reply
        case feed
        case counts
        case notice
        case drain
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Kind.self)
        switch container.allKeys.first {
        case .reply:
            let body = try container.decode(ReplyBody.self, forKey: .reply)
            self.frame = .reply(id: body.id, body.content)
        case .feed: self.frame = .feed(try container.decode(FeedFrame.self, forKey: .feed))
        case .counts: self.frame = .counts(try container.decode(CountBody.self, forKey: .counts).count)
        case .notice: self.frame = .notice(try container.decode(NoticeFrame.self, forKey: .notice))
        case .drain:
            let within = try container.decode(DrainBody.self, forKey: .drain).reconnectWithin
            self.frame = .drain(within: Double(max(0, within)))
        case nil: self.frame = .unknown
        }
    }
}

private struct ReplyBody: Decodable {
    let id: Int64
    let content: ReplyContent

    private struct Failure: Decodable {
        var code: Int
        var message: String?
        var retryAfter: Int64?
        var reason: String?
    }

    private struct Pong: Decodable {
        var at: Timestamp?
    }

    private enum Key: String, CodingKey {
        case id
        case error
        case result
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        self.id = try container.decode(Int64.self, forKey: .id)
        if let error = try container.decodeIfPresent(Failure.self, forKey: .error) {
            self.content = .failure(
                ErrorInfo(
                    ReplyCode(error.code), error.message ?? "", retryAfter: error.retryAfter.map { max(0, $0) },
                    reason: error.reason))
        } else {
            switch TolerantValue(CallResult.self, in: container, forKey: .result) {
            case .value(.done):
                // The answer to a ping is `done` with the server's time.
                let at = try? container.decode([String: Pong].self, forKey: .result)["done"]?.at
                self.content = .success(at.map { .pong(at: $0) } ?? .done)
            case .value(let result): self.content = .success(result)
            case .unknown: self.content = .unreadable(.badFrame("a result of an unknown kind"))
            case .fault(let error): self.content = .unreadable(error)
            }
        }
    }
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
        func fault(_ key: Key, _ message: String) -> DecodingError {
            .dataCorruptedError(forKey: key, in: container, debugDescription: message)
        }
        self.live = try container.decode(LiveID.self, forKey: .live)
        self.token = try container.decode(String.self, forKey: .token)
        let epoch = try container.decode(Int64.self, forKey: .epoch)
        guard let position = FeedToken(text: self.token)?.position, position.epoch == epoch else {
            throw fault(.token, "is no token of the epoch")
        }
        self.position = position
        self.isHistory = try container.decodeIfPresent(Bool.self, forKey: .history) ?? false
        self.items = try container.decode([FrameItem].self, forKey: .items)
        for (item, next) in zip(self.items, self.items.dropFirst()) {
            guard item.n < next.n, self.isHistory || item.n + 1 == next.n else {
                throw fault(.items, "are out of order")
            }
        }
        if let last = self.items.last, self.isHistory ? last.n > position.number : last.n != position.number {
            throw fault(.items, "do not end at their token")
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

extension NoticeFrame: Decodable {
    private enum Key: String, CodingKey {
        case id
        case live
        case at
        case floor
        case content
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        self.id = try container.decode(String.self, forKey: .id)
        self.live = try container.decodeIfPresent(LiveID.self, forKey: .live) ?? LiveID("")
        self.at = try container.decodeIfPresent(Timestamp.self, forKey: .at) ?? Timestamp(milliseconds: 0)
        self.floor = try container.decodeIfPresent(Ticket.self, forKey: .floor)
        switch TolerantValue(NoticeContent.self, in: container, forKey: .content) {
        case .value(let content): self.content = content
        case .unknown: break
        case .fault(let error): self.fault = error
        }
    }
}

/// Counts, of which only the live and the count are always present.
private struct CountBody: Decodable {
    let count: LiveCount

    private enum Key: String, CodingKey {
        case live
        case count
        case totalViewers
        case stale
        case at
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        self.count = LiveCount(
            live: try container.decode(LiveID.self, forKey: .live),
            count: try container.decode(Int.self, forKey: .count),
            totalViewers: try container.decodeIfPresent(Int.self, forKey: .totalViewers) ?? 0,
            stale: try container.decodeIfPresent(Bool.self, forKey: .stale) ?? false,
            at: try container.decodeIfPresent(Timestamp.self, forKey: .at) ?? Timestamp(milliseconds: 0))
    }
}

private struct DrainBody: Decodable { var reconnectWithin: Int64 }

/// The result of decoding a value whose only key names its kind.
private enum TolerantValue<Value: Decodable> {
    case value(Value)
    /// The value is of a kind that this version does not know.
    case unknown
    /// The value violates the protocol.
    case fault(ErrorInfo)

    /// A key of any name.
    private struct AnyKey: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    init<Key: CodingKey>(_: Value.Type, in container: KeyedDecodingContainer<Key>, forKey key: Key) {
        do {
            self = .value(try container.decode(Value.self, forKey: key))
        } catch DecodingError.typeMismatch(_, let context)
            where context.codingPath.count <= container.codingPath.count + 1
            && context.debugDescription.hasPrefix("Invalid number of keys")
        {
            // The value has no key of a known kind, or several keys.
            let kinds = try? container.nestedContainer(keyedBy: AnyKey.self, forKey: key).allKeys.count
            self = kinds == 0 ? .fault(.badFrame("\(key.stringValue) without a kind")) : .unknown
        } catch {
            self = .fault(.badFrame("\(key.stringValue) that cannot be read: \(error)"))
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
internal import MachineKit
internal import PlazaModel
internal import PlazaWire

/// A frame of the server as a client reads it.
///
/// A server may be newer than an app. Therefore this type accepts more than `ServerFrame`, the type with which the
/// server writes frames: unknown frames and fields are ignored, and if an item cannot be decoded, only this item of the
/// frame is left out.
enum IncomingFrame: Sendable {
    case reply(id: Int64, ReplyContent)
    case feed(FeedFrame)
    case counts(LiveCount)
    case notice(NoticeFrame)
    /// The gateway is stopping; the client must disconnect within this time.
    case drain(within: Milliseconds)
    /// A frame of a kind that this version does not know.
    case unknown
}

extension IncomingFrame {
    /// The size beyond which a server's frame is rejected: 4 MiB (PROTOCOL.md, section 12).
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

/// Any of the protocol's frames: a JSON object whose only key names the kind of the frame.
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
        case .counts: self.frame = .counts(try container.decode(CountBody.self, forKey: .counts).liveCount)
        case .notice: self.frame = .notice(try container.decode(NoticeFrame.self, forKey: .notice))
        case .drain:
            let within = try container.decode(DrainBody.self, forKey: .drain).reconnectWithin
            self.frame = .drain(within: Milliseconds(max(0, within)))
        case nil: self.frame = .unknown
        }
    }
}

/// The numbers of viewers in a `counts` frame; all fields but `live` and `count` may be missing.
private struct CountBody: Decodable {
    let liveCount: LiveCount

    private enum Key: String, CodingKey {
        case live
        case count
        case totalViewers
        case stale
        case at
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        self.liveCount = LiveCount(
            live: try container.decode(LiveID.self, forKey: .live),
            count: try container.decode(Int.self, forKey: .count),
            totalViewers: try container.decodeIfPresent(Int.self, forKey: .totalViewers) ?? 0,
            stale: try container.decodeIfPresent(Bool.self, forKey: .stale) ?? false,
            at: try container.decodeIfPresent(Timestamp.self, forKey: .at) ?? Timestamp(milliseconds: 0))
    }
}

private struct DrainBody: Decodable { var reconnectWithin: Int64 }

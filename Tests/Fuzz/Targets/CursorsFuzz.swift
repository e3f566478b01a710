// SPDX-License-Identifier: Apache-2.0
internal import GatewayCore
internal import MachineKit
internal import PlazaModel
internal import PlazaWire

/// Texts that a client received and sends back: list cursors, feed tokens, ids of notices, names of sessions.
///
/// The input is one text, which is read as each of these. If it is a feed token, a client resumes with the token, and a
/// gateway caches items at its position. The lines of the input are also read as the headers of a feed item's record.
public enum CursorsFuzz: FuzzTarget {
    /// Handles one input.
    public static func run(_ input: [UInt8]) {
        let text = String(decoding: input, as: UTF8.self)
        Self.readList(at: text)
        if let id = NoticeID(text: text) { precondition(NoticeID(text: id.text) == id) }
        if let key = LiveKey(text: text) { precondition(LiveKey(text: key.text) == key) }
        _ = SessionID(checking: text)
        if let token = FeedToken(text: text) {
            precondition(FeedToken(text: token.text) == token)
            Self.resume(after: token)
            Self.cacheItems(from: token)
        }
        let lines = input.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        let headers = FeedHeaders { name in
            switch name {
            // The first line is the item's position, the second its feed class, the third the mark of the live's end.
            case "p": lines.first.map(Array.init)
            case "c": lines.count > 1 ? Array(lines[1]) : nil
            default: lines.count > 2 ? Array(lines[2]) : nil
            }
        }
        if let headers { Self.cacheItems(from: FeedToken(headers.position, offset: Self.anyOffset)) }
    }

    /// The offset of a record whose headers are tested.
    private static let anyOffset: Int64 = 7
    private static let now = MonotonicTime(milliseconds: 1_700_000_000_000)
    private static let live = LiveKey("demo", "concert")
    /// The offset up to which the gateway has read the partition.
    private static let readOffset: Int64 = 200_000

    /// A client requests the page of the list of lives that begins at this cursor.
    private static func readList(at cursor: String) {
        var ranking = Ranking(gateway: "gateway-1")
        let entries = (0..<9).map { RankingEntry(key: LiveKey("demo", LiveID("live\($0)")), totalViewers: $0) }
        ranking.refresh(entries, at: Self.now)
        _ = try? ranking.page(app: "demo", cursor: cursor, count: 3, at: Self.now) { key in
            LiveListEntry(
                info: LiveInfo(liveID: key.live, liveOwner: UserInfo(userID: "alice")), audienceCount: 1,
                totalViewerCount: 1)
        }
    }

    private static func item(_ number: Int64, offset: Int64) -> EncodedFeedItem {
        EncodedFeedItem(
            number: number, feedClass: .barrage, readAt: MonotonicTime(milliseconds: 5), offset: offset, bytes: [1])
    }

    /// A client resumes with this token, while the cache has the items 1 to 5 of epoch 1.
    private static func resume(after token: FeedToken) {
        var cache = FeedCache()
        for number in Int64(1)...5 {
            let item = Self.item(number, offset: 100 + number)
            _ = cache.append(FeedRecord(key: Self.live, epoch: 1, item: item), keepsHistory: true)
        }
        cache.partitionRead(to: Self.readOffset)
        let now = MonotonicTime(milliseconds: 10)
        if case .reader(let request) = cache.planResume(Self.live, after: token, at: now) { Self.replay(request) }
        _ = cache.recent.items(of: Self.live, after: token.position)
        // The token's epoch is any number that the client sends. Here it also serves as the number at which the request
        // ends.
        Self.replay(
            ReplayRequest(
                Self.live, epoch: 1, .items(after: token.position.number, startOffset: token.offset ?? 0),
                beforeNumber: token.position.epoch, endOffset: 1000))
    }

    /// A reader replays this request and a second one together, from a partition with the items 1 to 5.
    private static func replay(_ request: ReplayRequest) {
        var queue = ReplayQueue()
        let deadline = MonotonicTime(milliseconds: 99)
        _ = queue.add(ReplayID(shard: 0, number: 1), request, partition: 0, deadline: deadline)
        let secondRequest = ReplayRequest(
            Self.live, epoch: 1, .items(after: 2, startOffset: 102), beforeNumber: nil, endOffset: 1000)
        _ = queue.add(ReplayID(shard: 0, number: 2), secondRequest, partition: 0, deadline: deadline)
        while var scan = queue.nextScan(excluding: []) {
            scan.limit(toLogStart: 0)
            for number in Int64(1)...5 {
                let item = Self.item(number, offset: 100 + number)
                scan.recordRead(FeedRecord(key: Self.live, epoch: request.epoch, item: item), at: 100 + number)
            }
            scan.partitionEndReached(at: 1000)
            _ = scan.makeResult()
        }
    }

    /// A gateway caches an item at this position, and items at the next two positions.
    private static func cacheItems(from token: FeedToken) {
        var cache = FeedCache()
        let (epoch, number) = (token.position.epoch, token.position.number)
        for nextNumber in [number, number &+ 1, number &+ 2] {
            let item = Self.item(nextNumber, offset: token.offset ?? 0)
            _ = cache.append(FeedRecord(key: Self.live, epoch: epoch, item: item), keepsHistory: true)
        }
        cache.partitionRead(to: Self.readOffset)
        // Clients resume after item 0, the first cached item, the item before that, and the last possible item.
        for resumeNumber in [0, number, number &- 1, .max] {
            let token = FeedToken(FeedPosition(epoch: epoch, number: resumeNumber), offset: 1)
            _ = cache.planResume(Self.live, after: token, at: MonotonicTime(milliseconds: 10))
            _ = cache.recent.items(of: Self.live, after: token.position)
        }
        _ = FeedRing(latest: token).items(after: token.position)
        if let request = cache.searchRequest(Self.live, epoch: epoch, count: 5) { Self.replay(request) }
    }
}

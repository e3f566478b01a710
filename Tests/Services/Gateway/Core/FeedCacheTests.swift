// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel
import Testing

@testable import GatewayCore

/// The feed cache of a partition: how a client's resume is served, and which earlier messages new viewers get.
///
/// A resume asks for the items after a feed token, which names the client's last item and its record's offset. Items
/// that are not cached are read again from the partition by the replay reader.
///
/// All feeds have epoch 10. In most tests item n was read at second n, and its record has the offset 10 * n.
@Suite struct FeedCacheTests {
    private let key = Sample.key("arena")

    /// The token of item `number`, whose record has this offset; if `offset` is nil, the token has none.
    private func token(_ number: Int64, offset: Int64?, epoch: Int64 = 10) -> FeedToken {
        FeedToken(FeedPosition(epoch: epoch, number: number), offset: offset)
    }

    /// Returns the cache of a partition that was read up to its end, and has one live with these items.
    ///
    /// `span` is how long an item is cached.
    private func cache(ofItems numbers: ClosedRange<Int64>, span: Milliseconds = .seconds(60)) -> FeedCache {
        var cache = FeedCache(span: span)
        cache.partitionRead(to: 0)
        for number in numbers { self.write(number, to: &cache) }
        return cache
    }

    /// Adds item `number`, read at second `number`, with the offset 10 * `number`; prunes the cache at that second.
    private func write(_ number: Int64, _ feedClass: FeedClass = .barrage, to cache: inout FeedCache) {
        let item = Sample.item(number, feedClass, at: number * 1000, offset: number * 10)
        _ = cache.append(FeedRecord(key: self.key, epoch: 10, item: item), keepsHistory: true)
        cache.partitionRead(to: number * 10 + 1)
        cache.prune(at: MonotonicTime(milliseconds: number * 1000))
    }

    /// The request to the replay reader in a plan of a resume; nil if the plan needs no reader.
    private func replayRequest(_ plan: FeedCache.ResumePlan) -> ReplayRequest? {
        if case .reader(let request) = plan { return request }
        return nil
    }

    @Test func `a resume is served from the cache or by the replay reader, or refused`() {
        let cache = self.cache(ofItems: 1...200)
        let now = MonotonicTime(milliseconds: 200_000)
        // The items of the last minute are cached: 140 to 200.
        #expect(cache.planResume(self.key, after: self.token(139, offset: 1390), at: now) == .cache)
        #expect(cache.planResume(self.key, after: self.token(200, offset: 2000), at: now) == .cache)
        #expect(
            cache.planResume(self.key, after: self.token(300, offset: 3000), at: now) == .waitForFeed,
            "the client has got item 300 from a gateway that has read further")
        #expect(
            cache.planResume(self.key, after: self.token(.max, offset: nil), at: now) == .waitForFeed,
            "a position without an offset may also come from a gateway that has read further")
        #expect(
            cache.planResume(self.key, after: self.token(300, offset: 1990), at: now) == .refused(.gone),
            "the token is wrong: the record at this offset is item 199")
        #expect(
            cache.planResume(self.key, after: self.token(100, offset: nil), at: now) == .refused(.unknown),
            "without an offset the reader does not know where to begin")
        #expect(
            cache.planResume(self.key, after: self.token(100, offset: 1000, epoch: 9), at: now) == .refused(.otherLive),
            "epoch 9 is the one of an earlier live with the same id")
        #expect(
            cache.planResume(self.key, after: self.token(100, offset: 5000), at: now) == .refused(.unknown),
            "an offset beyond the partition's end is invalid")
        // The reader also reads the cached items 140 to 142, because these may expire within the 3 s that the reader
        // has to answer. So it reads up to item 143, which has offset 1430.
        #expect(
            self.replayRequest(cache.planResume(self.key, after: self.token(100, offset: 1000), at: now))
                == ReplayRequest(
                    self.key, epoch: 10, .items(after: 100, startOffset: 1000), beforeNumber: 143, endOffset: 1430))
    }

    @Test func `I16 a resume replays at most 1,000 items and reads a limited number of records`() {
        var cache = self.cache(ofItems: 1...1200)
        let now = MonotonicTime(milliseconds: 1_200_000)
        #expect(self.replayRequest(cache.planResume(self.key, after: self.token(200, offset: 2000), at: now)) != nil)
        #expect(cache.planResume(self.key, after: self.token(199, offset: 1990), at: now) == .refused(.tooMany))

        // A client that resumes after item 201 misses the 1000 items 202 to 1201, which are not too many. But from
        // offset 2001 to the new item 1201 there is one record more than a scan may read. From offset 2010 there are
        // few enough.
        let item = Sample.item(1201, at: 1_201_000, offset: ReplayLimits.maxScanRecords + 2001)
        _ = cache.append(FeedRecord(key: self.key, epoch: 10, item: item), keepsHistory: true)
        // No item is cached 61 s after the last item was read, so the reader would have to read up to the end.
        let later = MonotonicTime(milliseconds: 1_262_000)
        cache.prune(at: later)
        #expect(cache.planResume(self.key, after: self.token(201, offset: 2001), at: later) == .refused(.tooMany))
        #expect(self.replayRequest(cache.planResume(self.key, after: self.token(201, offset: 2010), at: later)) != nil)
    }

    @Test func `if items are cached for less time than the reader has to answer, the reader reads all missed items`() {
        // Items are cached for 2 s, and the reader has 3 s to answer. All cached items may expire meanwhile, so the
        // reader reads up to the last one, item 200 with offset 2000.
        let cache = self.cache(ofItems: 1...200, span: .seconds(2))
        #expect(
            self.replayRequest(cache.planResume(self.key, after: self.token(100, offset: 1000), at: 200_000))
                == ReplayRequest(
                    self.key, epoch: 10, .items(after: 100, startOffset: 1000), beforeNumber: 201, endOffset: 2001))
    }

    @Test func `a live without cached items is read from the client's position to the partition's end`() {
        var cache = FeedCache()
        #expect(
            cache.planResume(self.key, after: self.token(5, offset: 50), at: 0) == .refused(.unknown),
            "the partition was not read yet")
        cache.partitionRead(to: 900)
        let request = ReplayRequest(
            self.key, epoch: 10, .items(after: 5, startOffset: 50), beforeNumber: nil, endOffset: 900)
        #expect(cache.planResume(self.key, after: self.token(5, offset: 50), at: 0) == .reader(request))

        // The reader finds no item after item 5. The cache remembers that item 5 is the last one, so the next client
        // needs no reader.
        cache.addReplayed(
            ReplayOutcome(ReplayID(shard: 0, number: 1), request, .found([]), latestToken: self.token(5, offset: 50)))
        #expect(cache.planResume(self.key, after: self.token(5, offset: 50), at: 0) == .cache)
        #expect(cache.recent.latestToken(self.key) == self.token(5, offset: 50))
        self.write(6, to: &cache)
        #expect(cache.planResume(self.key, after: self.token(5, offset: 50), at: 6000) == .cache)

        // A later live with the same id, epoch 11, has a feed of its own.
        let nextLiveRequest = ReplayRequest(
            self.key, epoch: 11, .items(after: 1, startOffset: 700), beforeNumber: nil, endOffset: 900)
        #expect(
            cache.planResume(self.key, after: self.token(1, offset: 700, epoch: 11), at: 6000)
                == .reader(nextLiveRequest))
        cache.addReplayed(
            ReplayOutcome(
                ReplayID(shard: 0, number: 2), nextLiveRequest, .found([]),
                latestToken: self.token(4, offset: 720, epoch: 11)))
        #expect(cache.recent.latestToken(self.key) == self.token(4, offset: 720, epoch: 11))
        #expect(cache.planResume(self.key, after: self.token(5, offset: 50), at: 6000) == .refused(.otherLive))
    }

    @Test func `I7 a client without any item is served from the cache only if the cache reaches back to its join`() {
        var cache = FeedCache()
        // The token of a join has number 0, and the offset up to which the partition was read at the join.
        let joinToken = self.token(0, offset: 50)
        #expect(
            cache.planResume(self.key, after: joinToken, at: 0) == .refused(.unknown),
            "the partition was not read yet")
        cache.partitionRead(to: 50)
        #expect(cache.planResume(self.key, after: joinToken, at: 0) == .cache, "nothing was read since the join")
        cache.partitionRead(to: 900)
        let request = ReplayRequest(
            self.key, epoch: 10, .items(after: 0, startOffset: 50), beforeNumber: nil, endOffset: 900)
        #expect(cache.planResume(self.key, after: joinToken, at: 0) == .reader(request))
    }

    @Test func `the reader's result does not replace items that were read since its request`() {
        var cache = FeedCache()
        cache.partitionRead(to: 900)
        self.write(91, to: &cache)
        // The request was made before item 91 was read; the reader finds that item 90 is the last one.
        let request = ReplayRequest(
            self.key, epoch: 10, .items(after: 5, startOffset: 50), beforeNumber: nil, endOffset: 900)
        cache.addReplayed(
            ReplayOutcome(ReplayID(shard: 0, number: 1), request, .found([]), latestToken: self.token(90, offset: 899)))
        #expect(cache.recent.latestToken(self.key) == self.token(91, offset: 910))
        #expect(cache.planResume(self.key, after: self.token(90, offset: 899), at: 91_000) == .cache)
    }

    /// The numbers of the messages that a new viewer gets from the cache: the last ones of the live, at most `count`.
    private func historyNumbers(_ cache: FeedCache, last count: Int, epoch: Int64 = 10) -> [Int64] {
        cache.history(self.key, epoch: epoch, count: count).map(\.number)
    }

    @Test func `new viewers get the last messages, however old these are, and no other items`() {
        var cache = self.cache(ofItems: 1...3)
        self.write(4, .control, to: &cache)
        self.write(5, .tip, to: &cache)
        self.write(6, to: &cache)
        cache.prune(at: 10_000_000)
        #expect(self.historyNumbers(cache, last: 50) == [1, 2, 3, 6])
        #expect(self.historyNumbers(cache, last: 2) == [3, 6])
        #expect(self.historyNumbers(cache, last: 0) == [])
        #expect(
            self.historyNumbers(cache, last: 50, epoch: 11) == [],
            "the messages of an earlier live with the same id are not shown")
        #expect(
            cache.searchRequest(self.key, epoch: 10, count: 50) == nil,
            "no search is needed, because the cache has all messages of the feed")

        for number in Int64(7)...100 { self.write(number, to: &cache) }
        #expect(self.historyNumbers(cache, last: 50) == Array(51...100))
        cache.forget(self.key)
        #expect(self.historyNumbers(cache, last: 50) == [] && cache.recent.byteCount == 0 && cache.messageBytes == 0)
    }

    @Test func `messages that are missing in the cache are searched for once`() {
        // Three messages are cached, so 7 of the last 10 are missing. They come before item 40, which has offset 400.
        var cache = self.cache(ofItems: 40...42)
        self.write(43, .tip, to: &cache)
        let request = ReplayRequest(self.key, epoch: 10, .messages(count: 7), beforeNumber: 40, endOffset: 400)
        #expect(cache.searchRequest(self.key, epoch: 10, count: 10) == request)
        #expect(cache.searchRequest(self.key, epoch: 10, count: 3) == nil, "the last three are cached")
        self.write(44, to: &cache)
        // The reader finds only two messages before item 40, and item 40 itself, which is cached already.
        let found = [Sample.item(30, offset: 300), Sample.item(38, offset: 380), Sample.item(40, offset: 400)]
        cache.addReplayed(ReplayOutcome(ReplayID(shard: 0, number: 1), request, .found(found[...])))
        #expect(
            self.historyNumbers(cache, last: 10) == [30, 38, 40, 41, 42, 44],
            "the found messages and the cached ones, each once")
        #expect(cache.searchRequest(self.key, epoch: 10, count: 10) == nil, "the feed was searched already")
        cache.addReplayed(ReplayOutcome(ReplayID(shard: 0, number: 2), request, .found(found[...])))
        #expect(self.historyNumbers(cache, last: 10) == [30, 38, 40, 41, 42, 44], "a second result changes nothing")
    }

    @Test func `a search for messages that timed out is repeated for the next new viewer`() {
        var cache = self.cache(ofItems: 40...42)
        let request = cache.searchRequest(self.key, epoch: 10, count: 10)
        guard let request else {
            Issue.record("no search is requested, although messages are missing")
            return
        }
        cache.addReplayed(ReplayOutcome(ReplayID(shard: 0, number: 1), request, .refused(.late)))
        #expect(cache.searchRequest(self.key, epoch: 10, count: 10) == request)
    }

    @Test func `messages of a live without cached items are searched for from the partition's end`() {
        var cache = FeedCache()
        #expect(cache.searchRequest(self.key, epoch: 10, count: 10) == nil, "the partition was not read yet")
        cache.partitionRead(to: 900)
        let request = ReplayRequest(self.key, epoch: 10, .messages(count: 10), beforeNumber: nil, endOffset: 900)
        #expect(cache.searchRequest(self.key, epoch: 10, count: 10) == request)
        cache.addReplayed(
            ReplayOutcome(
                ReplayID(shard: 0, number: 1), request, .found([Sample.item(7, offset: 70)][...]),
                latestToken: self.token(9, offset: 90)))
        #expect(self.historyNumbers(cache, last: 10) == [7])
        #expect(cache.recent.latestToken(self.key) == self.token(9, offset: 90))
        #expect(cache.searchRequest(self.key, epoch: 10, count: 10) == nil, "the feed was searched already")
    }

    @Test func `I16 the size of the earlier messages of all lives is limited`() {
        // The cache keeps 50 messages of each live (`Limits.history`).
        var cache = FeedCache()
        cache.partitionRead(to: 0)
        for number in Int64(1)...600 {
            for live in 0..<5 {
                let item = Sample.item(number, at: number, offset: number, size: 12_000)
                let record = FeedRecord(key: Sample.key("early\(live)"), epoch: 10, item: item)
                // The app of the live early4 keeps no messages for new viewers.
                _ = cache.append(record, keepsHistory: live != 4)
            }
        }
        cache.prune(at: 1_000_000)
        #expect(
            cache.messageBytes == 4 * 50 * 12_000,
            "the last 50 messages of the lives early0 to early3 are kept, none of early4")
        #expect(cache.history(Sample.key("early4"), epoch: 10, count: 50).isEmpty)

        // The messages of the lives late0 to late99 have 100 * 50 * 12 kB = 60 MB; the limit is 16 MiB.
        for live in 0..<100 {
            for number in Int64(1)...50 {
                let item = Sample.item(number, at: 1_000_000, offset: 1, size: 12_000)
                _ = cache.append(FeedRecord(key: Sample.key("late\(live)"), epoch: 10, item: item), keepsHistory: true)
            }
        }
        cache.prune(at: 2_000_000)
        #expect(cache.messageBytes <= 16 << 20 && cache.messageBytes > 15 << 20)
        #expect(cache.history(Sample.key("late99"), epoch: 10, count: 50).count == 50, "the latest messages are kept")
        #expect(cache.history(Sample.key("early0"), epoch: 10, count: 50).isEmpty, "the oldest messages are removed")
    }

    @Test(
        arguments: [
            ("1.2", FeedToken(FeedPosition(epoch: 1, number: 2))),
            ("1.2.3", FeedToken(FeedPosition(epoch: 1, number: 2), offset: 3)), ("1", nil), ("", nil), ("1.2.3.4", nil),
            ("1.", nil), ("1..2", nil), ("-1.2", nil), ("+1.2", nil), ("1.2.x", nil), ("1.99999999999999999999", nil),
        ])
    func `a text that encodes a token is decoded to it, and any other text is rejected`(text: String, token: FeedToken?)
    {
        #expect(FeedToken(text: text) == token)
        if let token { #expect(token.text == text) }
    }
}

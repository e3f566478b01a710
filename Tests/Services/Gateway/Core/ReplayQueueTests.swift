// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel
import Testing

@testable import GatewayCore

/// The queue of replay requests: which requests share a scan, and what happens at their deadlines.
///
/// A replay request asks for feed items that are not cached. A scan reads a range of one partition for some requests.
///
/// Deadlines and times are in milliseconds.
@Suite struct ReplayQueueTests {
    @Test func `nearby requests for a partition share one scan, and a distant one gets its own`() {
        var queue = ReplayQueue()
        for number in UInt64(0)..<1000 {
            let request = ReplayRequest.resume(
                "arena", after: 1, startOffset: 100_000 + Int64(number), endOffset: 101_000)
            queue.expectAccepted(request, number: number, partition: 3, deadline: 500)
        }
        let distant = ReplayRequest.resume("arena", after: 1, startOffset: 10, endOffset: 20)
        queue.expectAccepted(distant, number: 5000, partition: 3, deadline: 900)
        queue.expectAccepted(distant, number: 5001, partition: 4, deadline: 400)
        // The next scan is the one with the earliest deadline in a partition that is not excluded. In partition 3 the
        // thousand nearby requests (deadline 500) come before the distant one (deadline 900).
        let scans = [queue.nextScan(excluding: [4]), queue.nextScan(excluding: [3]), queue.nextScan(excluding: [4])]
        #expect(scans.map { $0?.bounds } == [100_000..<101_000, 10..<20, 10..<20])
        #expect(scans.map { $0?.partition } == [3, 4, 3])
        let noScan = queue.nextScan(excluding: [])
        #expect(noScan == nil && queue.count == 0, "all requests are in the three scans")
    }

    @Test func `I16 a full queue refuses requests, and its requests are removed at their deadline`() {
        var queue = ReplayQueue()
        let request = ReplayRequest.resume("arena", after: 1, startOffset: 1, endOffset: 5)
        // The limit counts the requests of all partitions together; here there are twelve.
        for number in 0..<UInt64(ReplayLimits.maxQueuedRequests) {
            queue.expectAccepted(request, number: number, partition: Int(number) % 12, deadline: 7)
        }
        let isAccepted = queue.add(ReplayID(shard: 1, number: 0), request, partition: 0, deadline: 7)
        #expect(!isAccepted, "a full queue accepts no request")

        var expired = queue.removeExpired(at: 6)
        #expect(expired.isEmpty, "the deadline has not come yet")
        expired = queue.removeExpired(at: 7)
        #expect(expired.count == ReplayLimits.maxQueuedRequests && queue.count == 0)
    }

    @Test func `an expired resume gets no items, and an expired search gets the messages that it has found so far`() {
        var log = PartitionLog()
        // A search reads the log backwards in steps. Its first step reads the last 2000 records, of which the last 1000
        // are messages here. The resume begins at offset 4500, which is near enough to be served by the same scan.
        for number in Int64(1)...6000 { log.write("arena", number, number > 5000 ? .barrage : .tip) }
        var queue = ReplayQueue()
        let search = ReplayRequest.search("arena", last: 2000, endOffset: log.endOffset)
        queue.expectAccepted(search, number: 1, deadline: 100)
        let resume = ReplayRequest.resume("arena", after: 1, startOffset: 4500, endOffset: log.endOffset)
        queue.expectAccepted(resume, number: 2, deadline: 50)
        guard var scan = queue.nextScan(excluding: []) else {
            Issue.record("the queue has no scan for the two requests")
            return
        }
        var expired = scan.removeExpired(at: 49)
        #expect(expired.isEmpty, "no deadline has come yet")
        expired = scan.removeExpired(at: 50)
        #expect(expired.map(\.answer) == [.refused(.late)], "the resume expires, the search does not")

        // After this step the search still lacks messages, so it waits in the queue for its next step.
        log.read(&scan)
        queue.putBack(scan.makeResult().unfinished, partition: 0)
        expired = queue.removeExpired(at: 100)
        #expect(expired.first?.foundNumbers == Array(5001...6000))

        let shortSearch = ReplayRequest.search("arena", last: 5, endOffset: log.endOffset)
        queue.expectAccepted(shortSearch, number: 3, deadline: 100)
        expired = queue.removeExpired(at: 100)
        #expect(expired.first?.answer == .refused(.late), "nothing was read for this search")

        queue.expectAccepted(shortSearch, number: 4, deadline: 100)
        guard var lastScan = queue.nextScan(excluding: []) else {
            Issue.record("the queue has no scan for the last search")
            return
        }
        let expiredInScan = lastScan.removeExpired(at: 100)
        #expect(expiredInScan.count == 1 && lastScan.isFinished, "no request waits for this scan any more")
    }
}

// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel
import Testing

@testable import GatewayCore

/// The shares of the replay reader that several apps get, and how often a request counts for its user's limit.
///
/// The replay reader reads feed items again that a client has missed.
///
/// A scan belongs to one app (`app`), and may also serve requests of other apps. `usage` says how many scans and how
/// many bytes, read but not sent yet, an app uses at present.
@Suite struct ReplayShareTests {
    /// A request of a client of an app that resumes; it reads the offsets of `range`.
    private static func resume(_ range: Range<Int64>, of app: AppID) -> ReplayRequest {
        ReplayRequest(
            LiveKey(app, "arena"), epoch: Sample.epoch, .items(after: 1, startOffset: range.lowerBound),
            beforeNumber: nil, endOffset: range.upperBound)
    }

    /// Rules: R12.22.
    @Test func `I16 one of several apps gets half of the queue, a single app all of it`() {
        let half = UInt64(ReplayLimits.maxQueuedRequests / 2)
        var queue = ReplayQueue(hasSeveralApps: true)
        let request = Self.resume(1..<5, of: "demo")
        for number in 0..<half { queue.expectAccepted(request, number: number, partition: Int(number) % 12) }
        let isOverShareAccepted = queue.add(
            ReplayID(shard: 1, number: half), request, partition: 0, deadline: .distantFuture)
        #expect(!isOverShareAccepted)
        queue.expectAccepted(Self.resume(1..<5, of: "other"), number: half)
        // A scan takes requests out of the queue, so the app has room again.
        let scan = queue.nextScan(excluding: [])
        #expect(scan?.app != nil)
        queue.expectAccepted(Self.resume(1..<5, of: "demo"), number: half + 1, partition: 11)

        var queueOfOneApp = ReplayQueue()
        for number in 0...half { queueOfOneApp.expectAccepted(request, number: number) }
    }

    /// Rules: R12.22.
    @Test func `I16 one of several apps gets half of the scans and of the unsent bytes, and others are served`() {
        var queue = ReplayQueue(hasSeveralApps: true)
        for partition in 0..<6 {
            queue.expectAccepted(
                Self.resume(0..<200_000, of: "demo"), number: UInt64(partition), partition: partition,
                deadline: MonotonicTime(milliseconds: 1))
        }
        let first = queue.nextScan(excluding: [])
        let second = queue.nextScan(excluding: [0], usage: ["demo": ReplayUsage(scanCount: 1)])
        #expect([first, second].map { $0?.partition } == [0, 1])
        let demoUsage = ReplayUsage(scanCount: ReplayLimits.maxConcurrentScans / 2)
        let third = queue.nextScan(excluding: [0, 1], usage: ["demo": demoUsage])
        #expect(third == nil, "two scans are half of four")

        // The request of the other app has a later deadline, but need not wait until the first app's are served.
        queue.expectAccepted(
            Self.resume(199_000..<200_000, of: "other"), number: 9, partition: 5,
            deadline: MonotonicTime(milliseconds: 2))
        let other = queue.nextScan(excluding: [0, 1], usage: ["demo": demoUsage])
        #expect(other?.app == "other" && other?.partition == 5)
        #expect(other?.bounds == 199_000..<200_000, "the long request of the first app does not slow this scan down")

        let fullOfBytes = ReplayUsage(unsentBytes: ReplayLimits.maxUnsentBytes / 2)
        let withoutMemory = queue.nextScan(excluding: [0, 1, 5], usage: ["demo": fullOfBytes])
        #expect(withoutMemory == nil, "the app's share of the memory is used")
        let fourth = queue.nextScan(excluding: [0, 1, 5])
        #expect(fourth?.app == "demo" && fourth?.partition == 2)

        var queueOfOneApp = ReplayQueue()
        queueOfOneApp.expectAccepted(Self.resume(0..<5, of: "demo"), number: 1)
        let scan = queueOfOneApp.nextScan(excluding: [], usage: ["demo": ReplayUsage(scanCount: 3, unsentBytes: 1)])
        #expect(scan?.app == "demo", "a single app may use all scans")
    }

    /// Rules: R12.22.
    @Test func `I16 a scan does not serve an app that has its share of the memory, and serves others`() {
        /// The app of the first scan, and the number of requests that the scan leaves in the queue.
        func firstScan(unsentBytes: Int) -> (app: AppID?, remaining: Int) {
            var queue = ReplayQueue(hasSeveralApps: true)
            queue.expectAccepted(Self.resume(0..<10, of: "demo"), number: 1, deadline: MonotonicTime(milliseconds: 1))
            queue.expectAccepted(Self.resume(0..<10, of: "other"), number: 2, deadline: MonotonicTime(milliseconds: 2))
            let scan = queue.nextScan(excluding: [], usage: ["demo": ReplayUsage(unsentBytes: unsentBytes)])
            return (scan?.app, queue.count)
        }
        let half = ReplayLimits.maxUnsentBytes / 2
        #expect(firstScan(unsentBytes: half - 1) == ("demo", 0))
        #expect(firstScan(unsentBytes: half) == ("other", 1))
    }

    /// Rules: R12.22.
    @Test func `apps take turns in a partition, whatever the deadlines and the number of their requests`() {
        var queue = ReplayQueue(hasSeveralApps: true)
        // All requests are for partition 0. Their ranges are too far apart for one scan.
        for number in Int64(0)..<4 {
            queue.expectAccepted(
                Self.resume(number * 100_000..<number * 100_000 + 10, of: "demo"), number: UInt64(number),
                deadline: MonotonicTime(milliseconds: number))
        }
        for number in Int64(0)..<2 {
            queue.expectAccepted(
                Self.resume(number * 100_000 + 50_000..<number * 100_000 + 50_010, of: "other"),
                number: UInt64(number) + 10, deadline: MonotonicTime(milliseconds: 100))
        }
        var apps: [AppID] = []
        while let scan = queue.nextScan(excluding: []) { apps.append(scan.app) }
        #expect(apps == ["demo", "other", "demo", "other", "demo", "demo"])
        #expect(queue.count == 0)
    }

    /// Rules: R12.22.
    @Test func `a scan serves nearby requests of other apps, if it does not become much longer`() {
        var queue = ReplayQueue(hasSeveralApps: true)
        let ranges: [(AppID, Range<Int64>)] = [
            ("demo", 90_000..<100_000), ("other", 95_000..<100_000), ("third", 80_000..<100_000),
            ("fourth", 60_000..<100_000),
        ]
        for (number, (app, range)) in ranges.enumerated() {
            queue.expectAccepted(
                Self.resume(range, of: app), number: UInt64(number),
                deadline: MonotonicTime(milliseconds: Int64(number)))
        }
        // For the first app alone the scan would read 10,000 records. With the second and third app it reads 20,000,
        // which is not too many; with the fourth it would read 40,000.
        let first = queue.nextScan(excluding: [])
        #expect(first?.bounds == 80_000..<100_000)
        #expect(first?.unansweredEntries.map(\.id.number).sorted() == [0, 1, 2])
        let second = queue.nextScan(excluding: [])
        #expect(second?.app == "fourth" && second?.bounds == 60_000..<100_000)
    }

    /// Rules: R12.22.
    @Test func `expired requests of all apps are removed, and no longer use their app's share of the queue`() {
        var queue = ReplayQueue(hasSeveralApps: true)
        let half = ReplayLimits.maxQueuedRequests / 2
        for app in ["demo", "other"] as [AppID] {
            for number in 0..<UInt64(half) {
                queue.expectAccepted(
                    Self.resume(1..<5, of: app), number: number, deadline: MonotonicTime(milliseconds: 7))
            }
        }
        let expired = queue.removeExpired(at: MonotonicTime(milliseconds: 7))
        #expect(expired.count == 2 * half && queue.count == 0 && queue.partitions.isEmpty)
        queue.expectAccepted(Self.resume(1..<5, of: "demo"), number: 1)
    }

    /// Rules: R12.22.
    @Test(arguments: [
        (Int64(0), 1), (1, 1), (50_000, 1), (50_001, 2), (150_000, 3), (200_000, 4), (Int64.max, 4),
    ])
    func `a resume counts once for each 50,000 records that it may read, at least once and at most four times`(
        records: Int64, count: Int
    ) {
        #expect(Self.resume(0..<records, of: "demo").costForUser == count)
    }

    /// Rules: R12.22.
    @Test func `a search for the messages that a new viewer gets counts once`() {
        #expect(ReplayRequest.search("arena", last: 50, endOffset: 1_000_000).costForUser == 1)
        #expect(ReplayRequest.search("arena", last: 50, endOffset: 1).costForUser == 1)
    }
}

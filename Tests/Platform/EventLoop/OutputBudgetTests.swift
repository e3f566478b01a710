// SPDX-License-Identifier: Apache-2.0
import MachineKit
import TestSupport
import Testing

@testable import EventLoop

/// Tests of `OutputBudget`: how much all streams of a loop together may queue, and which queues are freed beyond this
/// limit; and of `OutputProgress`: when a peer is stalled.
///
/// A stream has a queue while it has bytes that its socket has not accepted. A share is the limit divided by the number
/// of queues. A party is the owner of several streams, such as a client's address. A step is the part of a long output
/// that a stream queues at once, if it can continue the output later.
@Suite struct OutputBudgetTests {
    /// A budget with a limit of 1,000 bytes, and queues of these sizes in bytes.
    private func budget(queueBytes: [Int]) -> OutputBudget {
        var budget = OutputBudget()
        budget.limitBytes = 1_000
        for bytes in queueBytes {
            budget.addQueue()
            budget.add(bytes)
        }
        return budget
    }

    @Test func `I16 within the limit any stream may queue; beyond it only a stream within its share`() {
        // `admits(n, ofStreamWith: m)` says whether a stream that has queued m bytes may queue n more.
        let halfFullBudget = self.budget(queueBytes: [500])
        #expect(halfFullBudget.admits(500, ofStreamWith: 500), "500 + 500 is the limit")
        #expect(halfFullBudget.excessBytes == 0, "nothing must be freed")

        // 900 + 60 + 30 + 10 is the limit. The share of each of the four queues is a quarter of the limit, 250 bytes.
        let fullBudget = self.budget(queueBytes: [900, 60, 30, 10])
        #expect(!fullBudget.admits(1, ofStreamWith: 900), "900 is more than the share")
        #expect(fullBudget.admits(190, ofStreamWith: 60), "60 + 190 is the share")
        #expect(!fullBudget.admits(191, ofStreamWith: 60))
        #expect(fullBudget.admits(100, ofStreamWith: 0), "a stream without a queue may queue 100, less than the share")

        var budgetAfterRemoval = fullBudget
        budgetAfterRemoval.remove(900)
        budgetAfterRemoval.removeQueue()
        #expect(budgetAfterRemoval.admits(800, ofStreamWith: 30), "100 + 800 is within the limit again")
    }

    @Test func `I16 after one stream has queued the whole limit, each new stream may still queue its share`() {
        var budget = self.budget(queueBytes: [1_000])
        // Nine more streams begin to queue, one after the other; these are their bytes.
        var queuedBytes = [Int](repeating: 0, count: 9)
        let pieceBytes = 7
        for index in queuedBytes.indices {
            budget.addQueue()
            while budget.admits(pieceBytes, ofStreamWith: queuedBytes[index]) {
                queuedBytes[index] += pieceBytes
                budget.add(pieceBytes)
            }
        }
        // While the first of the nine streams queues, there are 2 queues, and a share is 1,000 / 2 = 500 bytes. For the
        // last stream there are 10 queues, and a share is 1,000 / 10 = 100 bytes. Each stream stops when a further
        // piece would exceed the share.
        #expect(queuedBytes.allSatisfy { $0 > 100 - pieceBytes }, "the least share is 100 bytes: \(queuedBytes)")
        #expect(queuedBytes.allSatisfy { $0 <= 500 }, "the largest share is 500 bytes: \(queuedBytes)")
    }

    @Test func `beyond the limit, the largest queues are chosen to free an eighth of the limit`() {
        let sizes = [10, 700, 0, 300, 90]
        let excess = self.budget(queueBytes: sizes).excessBytes
        // The excess is what must be freed. The queues have 10 + 700 + 300 + 90 = 1,100 bytes together, and may keep
        // seven eighths of the limit of 1,000, which are 875 bytes.
        #expect(excess == 1_100 - 875)
        #expect(self.chosenQueues(of: sizes, freeing: excess) == [1], "the 700 bytes of queue 1 are enough")
        #expect(self.chosenQueues(of: sizes, freeing: 701) == [1, 3], "the 700 bytes of queue 1 are too few")
        #expect(self.chosenQueues(of: sizes, freeing: 5_000) == [1, 3, 4, 0], "the empty queue 2 is never chosen")
        #expect(self.chosenQueues(of: [], freeing: 1).isEmpty)
    }

    /// The indexes of the queues that are chosen to free at least `bytes`, in the order in which they are chosen.
    ///
    /// `sizes[n]` is the size of queue n in bytes, and `parties[n]` its party; a queue for which `parties` has no
    /// element does not belong to a party.
    private func chosenQueues(of sizes: [Int], parties: [String?] = [], freeing bytes: Int) -> [Int] {
        let queues = sizes.indices.map { index in
            OutputBudget.Queue(bytes: sizes[index], party: index < parties.count ? parties[index] : nil)
        }
        return OutputBudget.largestQueues(queues, freeing: bytes)
    }

    @Test func `I16 of the party whose queues have the most bytes, the largest queue is chosen first`() {
        let sizes = [310, 90, 110, 100, 0]
        let parties: [String?] = ["honest", "many", "many", "many", "many"]
        // `honest` has 310 bytes, `many` has 90 + 110 + 100 + 0 = 300. The queues 0, 2 and 3 have 520 bytes together,
        // one less than must be freed.
        #expect(self.chosenQueues(of: sizes, parties: parties, freeing: 521) == [0, 2, 3, 1])
        // Now `honest` has only 290 bytes. `many` still has 300, and 190 without its largest queue.
        let sizesWithLessHonest = [290, 90, 110, 100]
        #expect(self.chosenQueues(of: sizesWithLessHonest, parties: parties, freeing: 1) == [2])
        #expect(
            self.chosenQueues(of: sizesWithLessHonest, parties: parties, freeing: 111) == [2, 0], "290 is more than 190"
        )
        // Three queues without a party have 150 bytes, but each counts alone, so the 90 bytes of party `a` come first.
        #expect(self.chosenQueues(of: [90, 60, 50, 40], parties: ["a", nil, nil, nil], freeing: 200) == [0, 1, 2])
    }

    @Test func `I16 streams that each queue one step stay within the limit, and a step is at most half a share`() {
        var budget = self.budget(queueBytes: [])
        budget.limitBytes = 32 << 20
        #expect(budget.stepBytes == 128 << 10, "a step is a 256th of the free memory: 32 MiB / 256 = 128 KiB")
        // A gateway lets a viewer who catches up queue at most 256 KiB, however large a step may be.
        let maxBytesOfViewer = 256 << 10
        for queueCount in 1...1_000 {
            let bytes = min(maxBytesOfViewer, budget.stepBytes)
            #expect(budget.admits(bytes, ofStreamWith: 0))
            budget.addQueue()
            budget.add(bytes)
            let shareBytes = budget.limitBytes / queueCount
            #expect(budget.stepBytes <= shareBytes / 2, "\(queueCount) queues")
        }
        #expect(budget.excessBytes == 0, "\(budget.queuedBytes) bytes are queued")

        // Beyond the limit no memory is free. A step then has its smallest size, 2 KiB, which is within a share.
        budget.add(32 << 20)
        #expect(budget.stepBytes == 2 << 10)
        #expect(budget.admits(budget.stepBytes, ofStreamWith: 0))
    }

    @Test func `a peer is stalled when two checks in a row find that it took no byte for the timeout`() {
        var progress = OutputProgress(at: MonotonicTime(milliseconds: 1_000))
        // The socket has accepted `acceptedBytes` so far. The peer acknowledges nothing: always 9 bytes are not
        // acknowledged. The timeout is 500 ms.
        func isStalled(accepted acceptedBytes: Int, at now: Int64) -> Bool {
            progress.checkStalled(
                acceptedBytes: acceptedBytes, unacknowledgedBytes: 9, at: MonotonicTime(milliseconds: now),
                timeout: Milliseconds(500))
        }
        #expect(!isStalled(accepted: 0, at: 1_400))
        // If this process was paused, the peer may have made room in the socket that was not used yet. Therefore a
        // peer is not stalled if only one check finds it overdue.
        #expect(!isStalled(accepted: 0, at: 1_500), "the peer is overdue for the first time")
        #expect(!isStalled(accepted: 1, at: 1_600), "one byte is progress, from which the timeout begins again")
        #expect(!isStalled(accepted: 1, at: 2_099))
        #expect(!isStalled(accepted: 1, at: 2_100), "the peer is overdue for the first time: 1,600 + 500")
        #expect(isStalled(accepted: 1, at: 2_101), "the peer is overdue for the second time")
        // One more byte is progress; a clock that goes back to 2,000 does not make the peer stalled.
        #expect(!isStalled(accepted: 2, at: 2_102) && !isStalled(accepted: 2, at: 2_000))
    }
}

/// Tests that the bytes that a peer acknowledges count as progress, even while this side's socket accepts no more.
@Suite struct AcknowledgedBytesTests {
    @Test func `I16 a peer that acknowledges bytes within the timeout is not stalled`() {
        var progress = OutputProgress(at: MonotonicTime(milliseconds: 1_000))
        // How often a check has read the number of unacknowledged bytes. The parameter is an autoclosure, so
        // `countedRead` is called only when the check needs the number.
        var readCount = 0
        func isStalled(unacknowledged unacknowledgedBytes: Int, at now: Int64) -> Bool {
            func countedRead() -> Int {
                readCount += 1
                return unacknowledgedBytes
            }
            return progress.checkStalled(
                acceptedBytes: 0, unacknowledgedBytes: countedRead(), at: MonotonicTime(milliseconds: now),
                timeout: Milliseconds(500))
        }
        #expect(!isStalled(unacknowledged: 900, at: 1_100))
        #expect(readCount == 1, "the first check reads the number, with which later checks compare")
        #expect(!isStalled(unacknowledged: 800, at: 1_400))
        #expect(readCount == 1, "no read while the peer is not overdue")
        #expect(!isStalled(unacknowledged: 800, at: 1_600), "the peer is overdue, but acknowledged 900 - 800 bytes")
        #expect(readCount == 2)
        // The timeout of 500 ms begins again at 1,600.
        #expect(!isStalled(unacknowledged: 800, at: 1_700) && !isStalled(unacknowledged: 800, at: 2_050))
        // The last progress was seen at 1,600, and 1,600 + 500 = 2,100.
        #expect(!isStalled(unacknowledged: 800, at: 2_150), "the peer is overdue for the first time")
        #expect(isStalled(unacknowledged: 800, at: 2_250), "the peer is overdue for the second time")
        #expect(!isStalled(unacknowledged: 799, at: 2_350), "one more byte was acknowledged")
    }
}

/// Tests of the memory that the queues of connected streams take.
@Suite struct QueueMemoryTests {
    /// Connects `count` pairs of a server and a client that reads nothing, and fills the socket of each server.
    ///
    /// Then a part of the last piece of each server is queued, and `body` is called. `body` must stop the loop, at once
    /// or in a later callback.
    private func withStalledPairs(
        _ count: Int, _ body: @escaping (_ loop: EventLoop, _ servers: [Peer], _ clients: [Peer]) -> Void
    ) throws {
        let pairs = (0..<count).map { _ in (server: Peer(), client: Peer()) }
        try runLoop { loop in
            var readyCount = 0
            for pair in pairs {
                try connectPair(loop, server: pair.server, client: pair.client, sendBufferBytes: 16_384) {
                    pair.client.stream?.pauseReading()
                    // A write returns true until a part of its bytes must be queued.
                    while (try? pair.server.stream?.write(SharedBytes([UInt8](repeating: 1, count: 3_000)))) == true {}
                    readyCount += 1
                    if readyCount == count { body(loop, pairs.map(\.server), pairs.map(\.client)) }
                }
            }
        }
    }

    @Test func `I16 bytes that several streams queue count once, and none count after the streams were reset`() throws {
        try self.withStalledPairs(3) { loop, servers, _ in
            #expect(loop.outputBudget.queueCount == 3)
            let queuedBefore = loop.outputBudget.queuedBytes
            // `isShared` says that several streams will queue these bytes.
            let shared = SharedBytes(capacity: 50_000, isShared: true) { output in
                for _ in 0..<50_000 { output.append(0) }
            }
            let heldBefore = servers.map { $0.stream?.heldBytes ?? 0 }
            for server in servers { _ = try? server.stream?.write(shared) }
            let addedBytes = loop.outputBudget.queuedBytes - queuedBefore
            // The upper bounds leave room for the overhead of a piece and of each queue's entry.
            #expect((50_000..<51_000).contains(addedBytes), "the bytes count once: \(addedBytes)")
            for (server, held) in zip(servers, heldBefore) {
                let addedHeldBytes = (server.stream?.heldBytes ?? 0) - held
                #expect((16_600..<17_000).contains(addedHeldBytes), "each stream holds a third: 50,000 / 3 = 16,666")
            }

            for server in servers { _ = try? server.stream?.write(SharedBytes([UInt8](repeating: 0, count: 50_000))) }
            // 50,000 bytes that the three streams share, and 50,000 more of each stream: 4 * 50,000 in all.
            #expect((200_000..<202_000).contains(loop.outputBudget.queuedBytes - queuedBefore))

            let timer = try? LoopTimer(loop: loop) { timer in
                timer.close()
                #expect(loop.outputBudget.queuedBytes == 0 && loop.outputBudget.queueCount == 0)
                loop.stop()
            }
            for server in servers { server.stream?.reset() }
            // The timer fires in a later turn of the loop, when the streams have ended.
            timer?.start(after: .milliseconds(1))
        }
    }

    @Test func `I16 beyond the loop's limit, only a stream with more than its share is rejected`() throws {
        try self.withStalledPairs(2) { loop, servers, _ in
            loop.outputBudget.limitBytes = loop.outputBudget.queuedBytes + 100_000
            let newPiece = { SharedBytes([UInt8](repeating: 0, count: 30_000)) }
            var errors: [LoopError] = []
            // Three pieces of 30,000 bytes are within the limit. The fourth one would exceed both the limit and the
            // stream's share, which is half of the limit.
            for _ in 0..<4 {
                do throws(LoopError) { try servers[0].stream?.write(newPiece()) } catch { errors.append(error) }
            }
            #expect(errors == [.overShare])
            // The other stream has queued little, so a piece is within its share. `write` returns false if it queued
            // the piece.
            #expect((try? servers[1].stream?.write(newPiece())) == false)
            loop.stop()
        }
    }

    @Test func `a sent piece is freed while later pieces are still queued`() throws {
        weak var weakFirstPiece: SharedBytes?
        try self.withStalledPairs(1) { loop, servers, clients in
            var firstPiece: SharedBytes? = SharedBytes([UInt8](repeating: 0, count: 10_000))
            weakFirstPiece = firstPiece
            if let firstPiece { _ = try? servers[0].stream?.write(firstPiece) }
            firstPiece = nil
            for _ in 0..<40 { _ = try? servers[0].stream?.write(SharedBytes([UInt8](repeating: 0, count: 20_000))) }
            let pendingBytes = servers[0].stream?.pendingBytes ?? 0
            // The 40 further pieces have 800,000 bytes together.
            #expect(weakFirstPiece != nil && pendingBytes > 800_000)
            clients[0].onReceived = { client in
                // The pending bytes fall only when a write request has ended. The first request has the bytes that
                // `withStalledPairs` has queued, fewer than 3,000. The second request has the maximum of 16 pieces:
                // `firstPiece` and 15 pieces of 20,000 bytes. So after a fall by more than 200,000 bytes, the second
                // request has ended, and `firstPiece` is sent.
                guard let remainingBytes = servers[0].stream?.pendingBytes, remainingBytes < pendingBytes - 200_000
                else { return }
                client.stream?.pauseReading()
                #expect(remainingBytes > 0)
                #expect(weakFirstPiece == nil)
                loop.stop()
            }
            clients[0].stream?.startReading()
        }
        #expect(weakFirstPiece == nil)
    }

    @Test func `a stream is stalled while its peer reads nothing, and no longer when the peer reads`() throws {
        var isStalledAfterProgress: Bool?
        try self.withStalledPairs(1) { loop, servers, clients in
            guard let stream = servers[0].stream else {
                Issue.record("the server has no stream")
                loop.stop()
                return
            }
            for _ in 0..<40 { _ = try? stream.write(SharedBytes([UInt8](repeating: 0, count: 20_000))) }
            // With a timeout of 0 a peer is overdue at each check, and so stalled at the second one.
            #expect(!stream.checkStalled(for: Milliseconds(0)), "one overdue check does not make a peer stalled")
            #expect(stream.checkStalled(for: Milliseconds(0)))
            let pendingBytes = stream.pendingBytes
            clients[0].onReceived = { _ in
                // The pending bytes fall only when a write request has ended, which may be after several reads.
                guard isStalledAfterProgress == nil, stream.pendingBytes < pendingBytes else { return }
                #expect(stream.pendingBytes > 0, "a stream with an empty queue is never stalled")
                isStalledAfterProgress = stream.checkStalled(for: Milliseconds(10))
                loop.stop()
            }
            // The last check found the peer overdue, and the peer takes nothing for 20 ms more. So a check with a
            // timeout of 10 ms would find the peer stalled if it did not see that the peer has taken some bytes.
            let timer = try? LoopTimer(loop: loop) { timer in
                timer.close()
                clients[0].stream?.startReading()
            }
            timer?.start(after: .milliseconds(20))
        }
        #expect(isStalledAfterProgress == false)
    }
}

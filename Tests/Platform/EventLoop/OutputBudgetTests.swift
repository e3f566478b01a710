// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@testable import EventLoop

/// How much all streams of a loop may queue, who gives way, and when a peer counts as stalled.
@Suite struct OutputBudgetTests {
    /// A budget of 1,000 bytes with these queues.
    private func budget(_ queues: [Int]) -> OutputBudget {
        var budget = OutputBudget()
        budget.limitBytes = 1_000
        for bytes in queues {
            budget.addQueue()
            budget.add(bytes)
        }
        return budget
    }

    @Test func `I16 within the limit any stream may queue; beyond it only a stream within its share`() {
        let half = self.budget([500])
        #expect(half.admits(500, ofStreamWith: 500) && half.excessBytes == 0)
        let full = self.budget([900, 60, 30, 10])
        // The share of each of four queues is 250 bytes.
        #expect(!full.admits(1, ofStreamWith: 900))
        #expect(full.admits(190, ofStreamWith: 60) && !full.admits(191, ofStreamWith: 60))
        #expect(full.admits(100, ofStreamWith: 0), "a stream without a queue")
        var after = full
        after.remove(900)
        after.removeQueue()
        #expect(after.admits(800, ofStreamWith: 30))
    }

    @Test func `I16 whatever streams do, those within their shares hold no more than the limit again`() {
        var budget = self.budget([1_000])
        var own = [Int](repeating: 0, count: 9)
        for index in own.indices {
            budget.addQueue()
            while budget.admits(7, ofStreamWith: own[index]) {
                own[index] += 7
                budget.add(7)
            }
        }
        #expect(own.allSatisfy { $0 >= 93 }, "each gets its share, a tenth of the limit: \(own)")
        #expect(own.allSatisfy { $0 <= 500 }, "the second of two queues gets half: \(own)")
    }

    @Test func `beyond the limit, the largest queues are chosen until an eighth is free`() {
        let sizes = [10, 700, 0, 300, 90]
        let excess = self.budget(sizes).excessBytes
        #expect(excess == 1_100 - 875)
        #expect(OutputBudget.largestQueues(sizes, freeing: excess) == [1])
        #expect(OutputBudget.largestQueues(sizes, freeing: 701) == [1, 3])
        #expect(OutputBudget.largestQueues(sizes, freeing: 5_000) == [1, 3, 4, 0], "an empty queue is never chosen")
        #expect(OutputBudget.largestQueues([], freeing: 1).isEmpty)
    }

    @Test func `a peer that takes nothing for the timeout is stalled at the second check`() {
        var progress = OutputProgress(nowMilliseconds: 1_000)
        func isStalled(_ acceptedBytes: Int, _ now: UInt64) -> Bool {
            progress.isStalled(acceptedBytes: acceptedBytes, nowMilliseconds: now, timeoutMilliseconds: 500)
        }
        #expect(!isStalled(0, 1_400))
        #expect(!isStalled(0, 1_500), "after a pause of this process the socket may have room")
        #expect(!isStalled(1, 1_600), "one byte is progress")
        #expect(!isStalled(1, 2_099))
        #expect(!isStalled(1, 2_100))
        #expect(isStalled(1, 2_101))
        // A queue may drain to the same count only by a new queue, which has new progress; the clock never goes back.
        #expect(!isStalled(2, 2_102) && !isStalled(2, 2_000))
    }
}

/// The memory of real queues.
@Suite struct QueueMemoryTests {
    /// Connects pairs whose clients read nothing, calls `fill` with the server's ends, and ends the loop.
    private func withStalledPairs(
        _ count: Int, _ fill: @escaping (_ loop: EventLoop, _ servers: [Peer], _ clients: [Peer]) -> Void
    ) throws {
        let pairs = (0..<count).map { _ in (server: Peer(), client: Peer()) }
        try runLoop { loop in
            var readyCount = 0
            for pair in pairs {
                try connectPair(loop, server: pair.server, client: pair.client, sendBufferBytes: 16_384) {
                    pair.client.stream?.pauseReading()
                    while (try? pair.server.stream?.write(SharedBytes([UInt8](repeating: 1, count: 3_000)))) == true {}
                    readyCount += 1
                    if readyCount == count { fill(loop, pairs.map(\.server), pairs.map(\.client)) }
                }
            }
        }
    }

    @Test func `I16 bytes that several streams queue count once, and no queue means no memory`() throws {
        try self.withStalledPairs(3) { loop, servers, _ in
            #expect(loop.outputBudget.queueCount == 3)
            let before = loop.outputBudget.queuedBytes
            let shared = SharedBytes(capacity: 50_000, isShared: true) { output in
                for _ in 0..<50_000 { output.append(0) }
            }
            let heldBefore = servers.map { $0.stream?.heldBytes ?? 0 }
            for server in servers { _ = try? server.stream?.write(shared) }
            let added = loop.outputBudget.queuedBytes - before
            #expect((50_000..<51_000).contains(added))
            for (server, held) in zip(servers, heldBefore) {
                #expect((16_600..<17_000).contains((server.stream?.heldBytes ?? 0) - held), "a third of the bytes")
            }
            for server in servers { _ = try? server.stream?.write(SharedBytes([UInt8](repeating: 0, count: 50_000))) }
            #expect((200_000..<202_000).contains(loop.outputBudget.queuedBytes - before))
            let timer = try? LoopTimer(loop: loop) { timer in
                timer.close()
                #expect(loop.outputBudget.queuedBytes == 0 && loop.outputBudget.queueCount == 0)
                loop.stop()
            }
            for server in servers { server.stream?.reset() }
            timer?.start(after: .milliseconds(1))
        }
    }

    @Test func `I16 beyond the loop's limit, only a stream with more than its share is refused`() throws {
        try self.withStalledPairs(2) { loop, servers, _ in
            loop.outputBudget.limitBytes = loop.outputBudget.queuedBytes + 100_000
            let piece = { SharedBytes([UInt8](repeating: 0, count: 30_000)) }
            var errors: [LoopError] = []
            for _ in 0..<4 {
                do throws(LoopError) { try servers[0].stream?.write(piece()) } catch { errors.append(error) }
            }
            #expect(errors == [.overShare])
            #expect((try? servers[1].stream?.write(piece())) == false, "queued")
            loop.stop()
        }
    }

    @Test func `a sent piece is freed while later ones wait`() throws {
        weak var first: SharedBytes?
        try self.withStalledPairs(1) { loop, servers, clients in
            var piece: SharedBytes? = SharedBytes([UInt8](repeating: 0, count: 10_000))
            first = piece
            if let piece { _ = try? servers[0].stream?.write(piece) }
            piece = nil
            for _ in 0..<40 { _ = try? servers[0].stream?.write(SharedBytes([UInt8](repeating: 0, count: 20_000))) }
            let pendingBytes = servers[0].stream?.pendingBytes ?? 0
            #expect(first != nil && pendingBytes > 800_000)
            clients[0].onReceived = { client in
                // The second request, which has 16 pieces with this one, is finished; others are not.
                guard let left = servers[0].stream?.pendingBytes, left < pendingBytes - 200_000 else { return }
                client.stream?.pauseReading()
                #expect(left > 0)
                #expect(first == nil)
                loop.stop()
            }
            clients[0].stream?.startReading()
        }
        #expect(first == nil)
    }

    @Test func `a stream is stalled while its peer reads nothing, and not when it takes some bytes`() throws {
        try self.withStalledPairs(1) { loop, servers, clients in
            for _ in 0..<40 { _ = try? servers[0].stream?.write(SharedBytes([UInt8](repeating: 0, count: 20_000))) }
            guard let stream = servers[0].stream else { return }
            #expect(!stream.isStalled(forMilliseconds: 0), "the first check")
            #expect(stream.isStalled(forMilliseconds: 0))
            let pendingBytes = stream.pendingBytes
            clients[0].onReceived = { _ in
                // The first request is so large that the system accepts a part of it first.
                if !stream.isStalled(forMilliseconds: 10_000), stream.pendingBytes < pendingBytes { loop.stop() }
            }
            clients[0].stream?.startReading()
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel
import Testing

@testable import GatewayCore

/// The reads of a gateway that presence and the fan-out (the service of messages) answer.
///
/// Calls that ask for the same data are served by one request to the service. In these tests a waiting call is a
/// number. `addCall` returns what happens to a new call, and whether the gateway must make a request (`mustRequest`).
/// `requestEnded` returns the calls that the answer serves. Times are in milliseconds.
@Suite struct SharedReadsTests {
    private typealias Reads = SharedReads<Int>

    private static let read = SharedRead(.audience, of: LiveKey("demo", "concert"), epoch: 7)

    /// The time `milliseconds` after the beginning of a test, which is at an arbitrary time.
    private func time(_ milliseconds: Int64) -> MonotonicTime { MonotonicTime(milliseconds: 1_000_000 + milliseconds) }

    /// Rules: R1.20.
    @Test func `calls that arrive while a request is under way wait for the next request`() {
        var reads = Reads()
        #expect(reads.addCall(Self.read, 1, at: self.time(0)) == .wait(mustRequest: true))
        #expect(reads.addCall(Self.read, 2, at: self.time(1)) == .wait(mustRequest: false))
        #expect(reads.addCall(Self.read, 3, at: self.time(2)) == .wait(mustRequest: false))
        let first = reads.requestEnded(Self.read, at: self.time(5))
        #expect(first.calls == [1], "calls 2 and 3 arrived after the request, so its answer may be too old for them")
        #expect(first.mustRequest, "calls 2 and 3 need a request")
        let second = reads.requestEnded(Self.read, at: self.time(9))
        #expect(second.calls == [2, 3])
        #expect(!second.mustRequest && reads.waitingCount == 0)
    }

    /// Rules: R1.20.
    @Test func `a steady stream of calls makes about one request a second`() {
        var reads = Reads()
        var requestTimes: [Int64] = []
        var answeredCount = 0
        // For 20 s a call comes each millisecond. A sweep, which makes the requests that are due, runs each 100 ms.
        for now in Int64(0)..<20_000 {
            if reads.addCall(Self.read, Int(now), at: self.time(now)) == .wait(mustRequest: true) {
                requestTimes.append(now)
            }
            if now % 100 == 0 { for _ in reads.sweep(at: self.time(now)).readsToRequest { requestTimes.append(now) } }
            // The service answers after 3 ms.
            if requestTimes.last == now - 3 {
                let (calls, mustRequest) = reads.requestEnded(Self.read, at: self.time(now))
                answeredCount += calls.count
                if mustRequest { requestTimes.append(now) }
            }
        }
        let burst = 5
        #expect(requestTimes.count <= 20 + burst, "five requests at the beginning, then one in each of 20 s")
        for (earlier, later) in zip(requestTimes.dropFirst(burst), requestTimes.dropFirst(burst + 1)) {
            // Times are rounded to whole milliseconds, so an interval of 1 s may be 999 ms.
            #expect(later - earlier >= 999)
        }
        #expect(
            answeredCount > 18_000 && answeredCount + reads.waitingCount == 20_000,
            "only the calls of about the last second still wait")
    }

    /// Rules: R1.20.
    @Test func `if calls are more than a second apart, each one makes a request at once`() {
        var reads = Reads()
        for number in Int64(0)..<30 {
            let now = self.time(number * 1500)
            #expect(reads.addCall(Self.read, 1, at: now) == .wait(mustRequest: true))
            #expect(reads.requestEnded(Self.read, at: now).calls == [1])
        }
    }

    @Test func `different lives, a live and a later one with the same id, and different reads share no answer`() {
        var reads = Reads()
        // A later live with the same id has another epoch.
        let readOfLaterLive = SharedRead(.audience, of: Self.read.key, epoch: 8)
        let otherReads = [
            SharedRead(.summary, of: Self.read.key, epoch: 7), readOfLaterLive,
            SharedRead(.audience, of: LiveKey("demo", "other"), epoch: 7),
            SharedRead(.audience, of: LiveKey("other", "concert"), epoch: 7),
        ]
        // Call 0 makes the read `Self.read`, calls 1 to 4 make the other reads.
        for (call, read) in ([Self.read] + otherReads).enumerated() {
            #expect(reads.addCall(read, call, at: self.time(0)) == .wait(mustRequest: true))
        }
        #expect(reads.requestEnded(readOfLaterLive, at: self.time(1)).calls == [2])
        let unrequestedRead = SharedRead(.summary, of: LiveKey("demo", "unknown"), epoch: 1)
        #expect(reads.requestEnded(unrequestedRead, at: self.time(1)).calls == [])
        #expect(reads.waitingCount == 4, "only call 2 was served")
    }

    @Test func `a call waits for at most 10 s, even if its answer is lost`() {
        var reads = Reads()
        _ = reads.addCall(Self.read, 1, at: self.time(0))
        _ = reads.addCall(Self.read, 2, at: self.time(10))
        #expect(reads.sweep(at: self.time(9999)).overdue == [])
        #expect(reads.sweep(at: self.time(10_000)).overdue == [1])
        #expect(reads.sweep(at: self.time(10_010)).overdue == [2])
        #expect(reads.waitingCount == 0)
        let lateAnswer = reads.requestEnded(Self.read, at: self.time(10_020))
        #expect(lateAnswer.calls == [] && !lateAnswer.mustRequest)
    }

    @Test func `a read without further calls is forgotten after a second, and makes room for another one`() {
        var reads = Reads()
        // These are as many different reads as may be tracked at once.
        for number in 0..<Reads.maxReads {
            let read = SharedRead(.summary, of: LiveKey("demo", LiveID("live\(number)")), epoch: 1)
            _ = reads.addCall(read, number, at: self.time(0))
            _ = reads.requestEnded(read, at: self.time(1))
        }
        _ = reads.sweep(at: self.time(999))
        #expect(
            reads.addCall(Self.read, -1, at: self.time(999)) == .forward,
            "a read is kept until its bucket of requests is full again, one second after the request")
        _ = reads.sweep(at: self.time(1000))
        #expect(reads.addCall(Self.read, -1, at: self.time(1000)) == .wait(mustRequest: true))
    }

    @Test func `the number of waiting calls and the number of reads are limited`() {
        var reads = Reads()
        for number in 0..<Reads.maxReads {
            let read = SharedRead(.summary, of: LiveKey("demo", LiveID("live\(number)")), epoch: 1)
            #expect(reads.addCall(read, number, at: self.time(0)) == .wait(mustRequest: true))
        }
        #expect(
            reads.addCall(Self.read, -1, at: self.time(0)) == .forward,
            "a read beyond the limit is not shared: its calls are forwarded")

        let requestedRead = SharedRead(.summary, of: LiveKey("demo", "live0"), epoch: 1)
        for number in Reads.maxReads..<Reads.maxWaiting {
            #expect(reads.addCall(requestedRead, number, at: self.time(0)) == .wait(mustRequest: false))
        }
        #expect(reads.addCall(requestedRead, -1, at: self.time(0)) == .full, "a call beyond the limit cannot wait")
        // The answer serves call 0, so one more call may wait.
        _ = reads.requestEnded(requestedRead, at: self.time(1))
        #expect(reads.addCall(requestedRead, -1, at: self.time(1)) == .wait(mustRequest: false))
    }

    /// Rules: R12.23.
    @Test func `I16 one of several apps gets half of the tracked reads, and other apps' reads are shared, too`() {
        var reads = SharedReads<Int>(hasSeveralApps: true)
        for number in 0..<Reads.maxReads / 2 {
            let read = SharedRead(.summary, of: LiveKey("demo", LiveID("live\(number)")), epoch: 1)
            #expect(reads.addCall(read, number, at: self.time(0)) == .wait(mustRequest: true))
            _ = reads.requestEnded(read, at: self.time(1))
        }
        #expect(reads.addCall(Self.read, -1, at: self.time(1)) == .forward, "the app has its half")
        let trackedRead = SharedRead(.summary, of: LiveKey("demo", "live0"), epoch: 1)
        #expect(reads.addCall(trackedRead, -1, at: self.time(1)) != .forward, "the read is tracked already")
        let otherRead = SharedRead(.audience, of: LiveKey("other", "concert"), epoch: 7)
        #expect(reads.addCall(otherRead, 1, at: self.time(1)) == .wait(mustRequest: true))
        // The idle reads are forgotten after a second, which makes room for the app's other reads.
        _ = reads.sweep(at: self.time(1001))
        #expect(reads.addCall(Self.read, 2, at: self.time(1001)) == .wait(mustRequest: true))
    }

    /// Rules: R12.23.
    @Test func `I16 one of several apps gets half of the places for waiting calls, and other apps' calls wait, too`() {
        var reads = SharedReads<Int>(hasSeveralApps: true)
        let otherRead = SharedRead(.audience, of: LiveKey("other", "concert"), epoch: 7)
        _ = reads.addCall(Self.read, 0, at: self.time(0))
        for number in 1..<Reads.maxWaiting / 2 {
            #expect(reads.addCall(Self.read, number, at: self.time(0)) == .wait(mustRequest: false))
        }
        #expect(reads.addCall(Self.read, -1, at: self.time(0)) == .full)
        let summary = SharedRead(.summary, of: LiveKey("demo", "hall"), epoch: 1)
        #expect(reads.addCall(summary, -1, at: self.time(0)) == .full, "the share is that of all lives of the app")
        #expect(reads.addCall(otherRead, 1, at: self.time(0)) == .wait(mustRequest: true))
        // The answer serves call 0, so one more call of the app may wait.
        _ = reads.requestEnded(Self.read, at: self.time(1))
        #expect(reads.addCall(summary, 1, at: self.time(1)) == .wait(mustRequest: true))
        #expect(reads.addCall(summary, -1, at: self.time(1)) == .full)
        // Calls that were never answered leave their places, too.
        let overdueCount = reads.sweep(at: self.time(20_000)).overdue.count
        #expect(overdueCount == Reads.maxWaiting / 2 + 1 && reads.waitingCount == 0)
        #expect(reads.addCall(summary, 1, at: self.time(20_001)) != .full)
    }
}

// SPDX-License-Identifier: Apache-2.0
import GatewayCore
import MachineKit
import Testing

/// The ages of retries, by which a connection recognizes late retries.
///
/// A late retry is a call that is sent again more than 60 s, the idempotency window, after its first copy.
///
/// A connection does not store the time of each call. So a retry is recognized as late when its first copy is at least
/// 60 s old, and always when it is 120 s old.
@Suite struct RetryAgesTests {
    private func time(_ seconds: Int64) -> MonotonicTime { MonotonicTime(milliseconds: seconds * 1000) }

    /// Rules: R16.11.
    @Test func `I15 a call is late if its connection sent the first copy more than two windows ago`() {
        var ages = RetryAges()
        #expect(!Self.isLate(&ages, call: 5, at: self.time(0)), "call 5 is new")
        #expect(!Self.isLate(&ages, call: 5, at: self.time(59)), "59 s are within the window")
        #expect(!Self.isLate(&ages, call: 6, at: self.time(60)), "call 6 is new")
        #expect(Self.isLate(&ages, call: 5, at: self.time(121)), "two windows of 60 s have passed since second 0")
        #expect(!Self.isLate(&ages, call: 7, at: self.time(122)), "call 7 is new")
        #expect(!Self.isLate(&ages, call: 7, at: self.time(123)), "the first copy of call 7 is one second old")
    }

    @Test func `I15 a retry after a pause of more than a window is late, and a new call never is`() {
        var ages = RetryAges()
        #expect(!Self.isLate(&ages, call: 1, at: self.time(0)))
        #expect(Self.isLate(&ages, call: 1, at: self.time(61)))
        #expect(!Self.isLate(&ages, call: 2, at: self.time(62)))
        #expect(Self.isLate(&ages, call: 2, at: self.time(500)))
        #expect(!Self.isLate(&ages, call: 3, at: self.time(1000)))
    }

    @Test func `I15 a call of an earlier connection is late when this connection is older than two windows`() {
        var ages = RetryAges()
        // The login has id 9, so calls 7 and 8 belong to the session's earlier connection.
        #expect(!Self.isLate(&ages, call: 9, at: self.time(0)))
        #expect(!Self.isLate(&ages, call: 7, at: self.time(1)), "the connection is one second old")
        for second in Int64(2)...100 { #expect(!Self.isLate(&ages, call: 100 + second, at: self.time(second))) }
        #expect(Self.isLate(&ages, call: 8, at: self.time(121)), "the connection is older than two windows of 60 s")
        #expect(!Self.isLate(&ages, call: 500, at: self.time(121)), "call 500 is new")
    }

    @Test func `I15 a call is late if its client states an age of 60 s or more`() {
        // Stated ages are in milliseconds.
        var ages = RetryAges()
        #expect(!Self.isLate(&ages, call: 1, at: self.time(0), age: 59_999))
        #expect(Self.isLate(&ages, call: 2, at: self.time(0), age: 60_000))
        #expect(Self.isLate(&ages, call: 3, at: self.time(0), age: .max))
        #expect(!Self.isLate(&ages, call: .max, at: self.time(0), age: .min))
    }

    @Test(arguments: 1...20)
    func `I15 a repeated call is never late within one window of its first copy, and always late after two`(
        seed: UInt64
    ) {
        var random = SeededRandom(seed: seed)
        var ages = RetryAges()
        // The first copy of each call, with its time in seconds.
        var sentCalls: [(id: Int64, at: Int64)] = []
        var (now, id): (Int64, Int64) = (0, 0)
        for _ in 0..<600 {
            // The next call comes after 2 s at most, or after 40 s at most.
            let maxPause: Int64 = Bool.random(using: &random) ? 2 : 40
            now += Int64.random(in: 0...maxPause, using: &random)
            if let earlier = sentCalls.randomElement(using: &random), Bool.random(using: &random) {
                let isLate = Self.isLate(&ages, call: earlier.id, at: self.time(now))
                if now - earlier.at < 60 { #expect(!isLate) }
                if now - earlier.at >= 120 { #expect(isLate) }
            } else {
                id += Int64.random(in: 1...3, using: &random)
                #expect(!Self.isLate(&ages, call: id, at: self.time(now)))
                sentCalls.append((id, now))
            }
        }
    }

    /// Records that call `id` arrives at `now`; returns whether the call is a late retry.
    ///
    /// `age` is how long ago the client first sent the call, in milliseconds, if the client states that.
    private static func isLate(
        _ ages: inout RetryAges, call id: Int64, at now: MonotonicTime, age: Int64? = nil
    ) -> Bool {
        ages.recordCall(id, statedAge: age.map { Milliseconds($0) }, at: now)
    }
}

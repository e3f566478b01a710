// SPDX-License-Identifier: Apache-2.0
import GatewayCore
import MachineKit
import Testing

/// Which calls are late retries: those that are older than the idempotency window of 60 s.
///
/// A connection does not store the age of each call, so a retry is recognized as late after one to two windows.
@Suite struct RetryAgesTests {
    private func time(_ seconds: Int64) -> MonotonicTime { MonotonicTime(milliseconds: seconds * 1000) }

    /// Rules: R16.11.
    @Test func `I15 a call is late when this connection has sent it before, more than a window ago`() {
        var ages = RetryAges()
        #expect(!Self.isLate(&ages, call: 5, at: self.time(0)))
        #expect(!Self.isLate(&ages, call: 5, at: self.time(59)))
        #expect(!Self.isLate(&ages, call: 6, at: self.time(60)))
        #expect(Self.isLate(&ages, call: 5, at: self.time(121)), "two windows of 60 s have passed since second 0")
        #expect(!Self.isLate(&ages, call: 7, at: self.time(122)))
        #expect(!Self.isLate(&ages, call: 7, at: self.time(123)), "one second after its first copy")
    }

    @Test func `I15 a retry after a long pause is late, and a new call never is`() {
        var ages = RetryAges()
        #expect(!Self.isLate(&ages, call: 1, at: self.time(0)))
        #expect(Self.isLate(&ages, call: 1, at: self.time(61)))
        #expect(!Self.isLate(&ages, call: 2, at: self.time(62)))
        #expect(Self.isLate(&ages, call: 2, at: self.time(500)))
        #expect(!Self.isLate(&ages, call: 3, at: self.time(1000)))
    }

    /// Calls of an earlier connection have ids below the id of the login.
    @Test func `I15 a call of an earlier connection is late when this connection is older than the window`() {
        var ages = RetryAges()
        #expect(!Self.isLate(&ages, call: 9, at: self.time(0)), "the login")
        #expect(!Self.isLate(&ages, call: 7, at: self.time(1)), "an open call of the earlier connection, sent again")
        for second in Int64(2)...100 { #expect(!Self.isLate(&ages, call: 100 + second, at: self.time(second))) }
        #expect(Self.isLate(&ages, call: 8, at: self.time(121)), "a call of the earlier connection")
        #expect(!Self.isLate(&ages, call: 500, at: self.time(121)))
    }

    @Test func `I15 a call whose client states an age beyond the window is late`() {
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
        // Times are in seconds.
        var sentCalls: [(id: Int64, at: Int64)] = []
        var (now, id): (Int64, Int64) = (0, 0)
        for _ in 0..<600 {
            // Calls follow each other quickly, or after a pause.
            now += Int64.random(in: 0...(Bool.random(using: &random) ? 2 : 40), using: &random)
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

    /// Records that call `id` is sent at `now`; returns whether it is a late retry.
    ///
    /// `age` is the age of the call in milliseconds, if the client states it.
    private static func isLate(
        _ ages: inout RetryAges, call id: Int64, at now: MonotonicTime, age: Int64? = nil
    ) -> Bool {
        ages.recordCall(id, statedAge: age.map { Milliseconds($0) }, at: now)
    }
}

// SPDX-License-Identifier: Apache-2.0
import GatewayCore
import MachineKit
import Testing

@Suite struct RetryAgesTests {
    private func time(_ seconds: Int64) -> MonotonicTime { MonotonicTime(milliseconds: seconds * 1000) }

    /// Rules: R16.11.
    @Test func `I15 a call of this connection is late when it comes again after the window`() {
        var ages = RetryAges()
        #expect(!Self.isLate(&ages, 5, self.time(0)))
        #expect(!Self.isLate(&ages, 5, self.time(59)))
        #expect(!Self.isLate(&ages, 6, self.time(60)))
        #expect(Self.isLate(&ages, 5, self.time(121)), "at most two windows later")
        #expect(!Self.isLate(&ages, 7, self.time(122)))
        #expect(!Self.isLate(&ages, 7, self.time(123)))
    }

    @Test func `I15 a retry after a long pause is late, and a new call never is`() {
        var ages = RetryAges()
        #expect(!Self.isLate(&ages, 1, self.time(0)))
        #expect(Self.isLate(&ages, 1, self.time(61)))
        #expect(!Self.isLate(&ages, 2, self.time(62)))
        #expect(Self.isLate(&ages, 2, self.time(500)))
        #expect(!Self.isLate(&ages, 3, self.time(1000)))
    }

    /// Calls that an earlier connection sent have ids below that of the login.
    @Test func `I15 a call of an earlier connection is late when this connection is older than the window`() {
        var ages = RetryAges()
        #expect(!Self.isLate(&ages, 9, self.time(0)), "the login")
        #expect(!Self.isLate(&ages, 7, self.time(1)), "an open call, sent again")
        for second in Int64(2)...100 { #expect(!Self.isLate(&ages, 100 + second, self.time(second))) }
        #expect(Self.isLate(&ages, 8, self.time(121)))
        #expect(!Self.isLate(&ages, 500, self.time(121)))
    }

    @Test func `I15 a call whose client states an age beyond the window is late`() {
        var ages = RetryAges()
        #expect(!Self.isLate(&ages, 1, self.time(0), age: 59_999))
        #expect(Self.isLate(&ages, 2, self.time(0), age: 60_000))
        #expect(Self.isLate(&ages, 3, self.time(0), age: .max))
        #expect(!Self.isLate(&ages, .max, self.time(0), age: .min))
    }

    /// At random: a call is never late within one window of its first copy, and always after two.
    @Test(arguments: 1...20) func `I15 lateness follows the age of the first copy`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var ages = RetryAges()
        var sent: [(id: Int64, at: Int64)] = []
        var (now, id): (Int64, Int64) = (0, 0)
        for _ in 0..<600 {
            now += Int64.random(in: 0...(Bool.random(using: &random) ? 2 : 40), using: &random)
            if let earlier = sent.randomElement(using: &random), Bool.random(using: &random) {
                let isLate = Self.isLate(&ages, earlier.id, self.time(now))
                if now - earlier.at < 60 { #expect(!isLate) }
                if now - earlier.at >= 120 { #expect(isLate) }
            } else {
                id += Int64.random(in: 1...3, using: &random)
                #expect(!Self.isLate(&ages, id, self.time(now)))
                sent.append((id, now))
            }
        }
    }

    private static func isLate(_ ages: inout RetryAges, _ id: Int64, _ now: MonotonicTime, age: Int64? = nil) -> Bool {
        ages.recordCall(id, statedAge: age.map { Milliseconds($0) }, at: now)
    }
}

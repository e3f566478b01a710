// SPDX-License-Identifier: Apache-2.0
import GatewayCore
import MachineKit
import Testing

/// When a record is sent, and when it waits for a batch.
///
/// A record is a number here. `add` returns what happens to the record: it is sent, it waits for the scheduled batch,
/// it waits and a batch must be scheduled, or it is refused.
@Suite struct BatchingPolicyTests {
    /// Batches are 8 ms apart; at most three records wait.
    private var policy = BatchingPolicy<Int>(gap: Milliseconds(8), limit: 3)

    private static func at(_ milliseconds: Int64) -> MonotonicTime { MonotonicTime(milliseconds: milliseconds) }

    @Test mutating func `records that are a gap apart are sent immediately`() {
        for number in 0..<5 { #expect(self.policy.add(number, now: Self.at(Int64(number) * 8)) == .send) }
    }

    @Test mutating func `records that are closer together are sent together, in order, after the gap`() {
        #expect(self.policy.add(1, now: Self.at(100)) == .send)
        #expect(self.policy.add(2, now: Self.at(101)) == .scheduleBatch)
        #expect(self.policy.nextBatchAt == Self.at(108))
        #expect(self.policy.add(3, now: Self.at(107)) == .wait)
        #expect(self.policy.takeBatch(now: Self.at(108)) == [2, 3])
        #expect(self.policy.nextBatchAt == Self.at(116))
        #expect(self.policy.add(4, now: Self.at(110)) == .wait)
        #expect(self.policy.takeBatch(now: Self.at(116)) == [4])
    }

    @Test mutating func `a batch that is not taken is overdue, and none is overdue while nothing waits`() {
        #expect(self.policy.add(1, now: Self.at(100)) == .send)
        #expect(self.policy.overdueTime(at: Self.at(900)) == Milliseconds(0))
        #expect(self.policy.add(2, now: Self.at(101)) == .scheduleBatch)
        #expect(self.policy.overdueTime(at: Self.at(107)) == Milliseconds(0))
        #expect(self.policy.overdueTime(at: Self.at(208)) == Milliseconds(100))
        #expect(self.policy.takeBatch(now: Self.at(208)) == [2])
        #expect(self.policy.takeBatch(now: Self.at(216)).isEmpty)
        #expect(self.policy.overdueTime(at: Self.at(900)) == Milliseconds(0))
    }

    @Test mutating func `no record overtakes the buffered ones, even if they are taken late`() {
        #expect(self.policy.add(1, now: Self.at(100)) == .send)
        #expect(self.policy.add(2, now: Self.at(101)) == .scheduleBatch)
        #expect(self.policy.add(3, now: Self.at(500)) == .wait)
        #expect(self.policy.takeBatch(now: Self.at(501)) == [2, 3])
    }

    @Test mutating func `after a whole gap without records the next record is sent immediately`() {
        #expect(self.policy.add(1, now: Self.at(100)) == .send)
        #expect(self.policy.add(2, now: Self.at(101)) == .scheduleBatch)
        #expect(self.policy.takeBatch(now: Self.at(108)) == [2])
        #expect(self.policy.takeBatch(now: Self.at(116)).isEmpty)
        #expect(self.policy.add(3, now: Self.at(117)) == .send)
        #expect(self.policy.add(4, now: Self.at(118)) == .scheduleBatch)
    }

    @Test mutating func `I16 a full buffer refuses records until its batch is taken`() {
        #expect(self.policy.add(0, now: Self.at(100)) == .send)
        #expect((1...3).map { self.policy.add($0, now: Self.at(101)) } == [.scheduleBatch, .wait, .wait])
        #expect(self.policy.add(4, now: Self.at(102)) == .refuse)
        #expect(self.policy.takeBatch(now: Self.at(108)) == [1, 2, 3])
        #expect(self.policy.add(5, now: Self.at(109)) == .wait)
    }
}

// SPDX-License-Identifier: Apache-2.0
import GatewayCore
import MachineKit
import Testing

/// The policy that decides whether a record is sent at once or waits for a batch.
///
/// A record is a number here, and times are in milliseconds. `add` returns what to do with the record: `send` it now,
/// let it `wait` for the batch that is scheduled already, let it wait and schedule a batch (`scheduleBatch`), or
/// `reject` it. After a batch with records another batch is scheduled, after an empty batch none.
@Suite struct BatchingPolicyTests {
    /// Batches are 8 ms (the gap) apart; at most three records may wait.
    private var policy = BatchingPolicy<Int>(gap: Milliseconds(8), limit: 3)

    private static func at(_ milliseconds: Int64) -> MonotonicTime { MonotonicTime(milliseconds: milliseconds) }

    @Test mutating func `records that are a gap apart are sent immediately`() {
        for number in 0..<5 { #expect(self.policy.add(number, now: Self.at(Int64(number) * 8)) == .send) }
    }

    @Test mutating func `records that are less than a gap apart are sent in one batch, in order, after the gap`() {
        #expect(self.policy.add(1, now: Self.at(100)) == .send)
        #expect(self.policy.add(2, now: Self.at(101)) == .scheduleBatch)
        #expect(self.policy.nextBatchAt == Self.at(108))
        #expect(self.policy.add(3, now: Self.at(107)) == .wait)
        #expect(self.policy.takeBatch(now: Self.at(108)) == [2, 3])
        #expect(self.policy.nextBatchAt == Self.at(116))
        #expect(self.policy.add(4, now: Self.at(110)) == .wait)
        #expect(self.policy.takeBatch(now: Self.at(116)) == [4])
    }

    @Test mutating func `a batch that is not taken in time is overdue, and none is overdue while no record waits`() {
        #expect(self.policy.add(1, now: Self.at(100)) == .send)
        #expect(self.policy.overdueTime(at: Self.at(900)) == Milliseconds(0))
        #expect(self.policy.add(2, now: Self.at(101)) == .scheduleBatch)
        #expect(self.policy.overdueTime(at: Self.at(107)) == Milliseconds(0))
        // The batch was due at 108.
        #expect(self.policy.overdueTime(at: Self.at(208)) == Milliseconds(100))
        #expect(self.policy.takeBatch(now: Self.at(208)) == [2])
        #expect(self.policy.takeBatch(now: Self.at(216)).isEmpty)
        #expect(self.policy.overdueTime(at: Self.at(900)) == Milliseconds(0))
    }

    @Test mutating func `no record overtakes records that wait, even if their batch is taken late`() {
        #expect(self.policy.add(1, now: Self.at(100)) == .send)
        #expect(self.policy.add(2, now: Self.at(101)) == .scheduleBatch)
        // The batch was due at 108, but has not been taken yet.
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

    @Test mutating func `I16 a full buffer rejects records until its batch is taken`() {
        #expect(self.policy.add(0, now: Self.at(100)) == .send)
        #expect((1...3).map { self.policy.add($0, now: Self.at(101)) } == [.scheduleBatch, .wait, .wait])
        #expect(self.policy.add(4, now: Self.at(102)) == .reject)
        #expect(self.policy.takeBatch(now: Self.at(108)) == [1, 2, 3])
        #expect(self.policy.add(5, now: Self.at(109)) == .wait)
    }
}

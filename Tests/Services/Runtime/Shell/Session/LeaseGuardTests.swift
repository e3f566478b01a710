// SPDX-License-Identifier: Apache-2.0
import MachineKit
import Testing

@testable import ServiceShell

/// Tests of `LeaseGuard`, which decides whether the lease of a shell (its right to its partitions) is doubtful.
///
/// A shell is the loop of an instance that polls, processes and commits records. It reports when each of its phases
/// starts. A phase is the wait for records or their processing. If a phase is longer than the limit, another owner may
/// have acquired the partitions meanwhile, so the lease is doubtful.
@Suite("Detection of a stalled thread")
struct LeaseGuardTests {
    private static func time(_ milliseconds: Int64) -> MonotonicTime { MonotonicTime(milliseconds: milliseconds) }

    @Test func `the lease is not doubtful while phases end within the limit`() {
        var leaseGuard = LeaseGuard(limit: Milliseconds(1400))
        #expect(!leaseGuard.isLeaseDoubtful(at: Self.time(9_000)), "no phase has started")
        for now in stride(from: Int64(0), through: 20_000, by: 1000) { leaseGuard.phaseStarted(at: Self.time(now)) }
        // The last phase started at 20,000 ms, and 20,000 + 1400 = 21,400.
        #expect(!leaseGuard.isLeaseDoubtful(at: Self.time(21_399)))
        #expect(leaseGuard.isLeaseDoubtful(at: Self.time(21_400)))
    }

    @Test func `the lease stays doubtful over further phases until a transaction succeeds`() {
        var leaseGuard = LeaseGuard(limit: Milliseconds(1400))
        leaseGuard.phaseStarted(at: Self.time(0))
        // The first phase lasted 8000 ms, which is more than the limit. The second one lasted only 10 ms.
        leaseGuard.phaseStarted(at: Self.time(8_000))
        leaseGuard.phaseStarted(at: Self.time(8_010))
        #expect(leaseGuard.isLeaseDoubtful(at: Self.time(8_011)))
        // A transaction that began at 8,012 ms has succeeded.
        leaseGuard.membershipConfirmed(at: Self.time(8_012))
        #expect(!leaseGuard.isLeaseDoubtful(at: Self.time(8_020)))
        leaseGuard.phaseStarted(at: Self.time(8_030))
        #expect(!leaseGuard.isLeaseDoubtful(at: Self.time(8_031)))
    }
}

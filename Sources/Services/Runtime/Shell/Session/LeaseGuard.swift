// SPDX-License-Identifier: Apache-2.0
internal import MachineKit

/// Detects that a shell's thread stalled for so long that the group may have reassigned its partitions.
///
/// A shell is the run loop of a machine. The lease is the shell's membership in its consumer group, because the group
/// removes a member whose heartbeats stop. Another thread of the process sends the heartbeats, but a stalled shell
/// thread may mean that the whole process was stalled. Each pass of the session's loop has two phases: the wait for
/// records, and their processing. A phase that ends within the limit proves that the process was not stalled for longer
/// than the limit.
struct LeaseGuard {
    /// How long a phase may take: the session timeout minus the heartbeat interval and a margin.
    let limit: Milliseconds
    private var phaseBeganAt: MonotonicTime?
    /// Whether an ended phase took too long, and no transaction has succeeded since.
    private var isStalled = false

    init(limit: Milliseconds) { self.limit = limit }

    /// Records the start of a phase, which ends the phase before it.
    mutating func phaseStarted(at now: MonotonicTime) {
        self.isStalled = self.isLeaseDoubtful(at: now)
        self.phaseBeganAt = now
    }

    /// Records a successful transaction, which proves that this instance was a member of the group at `beganAt`, the
    /// start of the transaction.
    mutating func membershipConfirmed(at beganAt: MonotonicTime) {
        self.isStalled = false
        self.phaseBeganAt = beganAt
    }

    /// Whether another member may already own the partitions.
    func isLeaseDoubtful(at now: MonotonicTime) -> Bool {
        self.isStalled || self.phaseBeganAt.map { now - $0 >= self.limit } ?? false
    }
}

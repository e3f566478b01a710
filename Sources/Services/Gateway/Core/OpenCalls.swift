// SPDX-License-Identifier: Apache-2.0
package import MachineKit
package import PlazaModel

/// The change that a successful call makes to its caller.
package enum CallPurpose: Hashable, Sendable {
    /// No change.
    case plain
    /// The caller joins the live.
    case join(LiveID)
    /// The caller creates the live; then the same call also joins it, as its second step `joinCreated`.
    ///
    /// `isLateRetry`: whether the call was first sent so long ago that its outcome is no longer stored.
    case create(LiveID, isLateRetry: Bool)
    /// The caller joins the live that the first step of the same call has created; `CallResult` is the result of the
    /// first step.
    indirect case joinCreated(LiveID, CallResult)
    /// The caller leaves the live.
    case leave(LiveID)
    /// The caller, who has reconnected, is in the live again.
    case resume(ResumePoint)
    /// The caller's displayed name or avatar changes to these.
    case updateProfile(UserInfo)
}

/// The calls of one session that wait for the reply of a machine (a service that decides calls); their number is
/// limited, and each has a deadline.
///
/// The machine may crash or the reply may be lost, so the record of an unanswered call is resent with the same request
/// id. The machine applies a call with the same id only once (I15 in docs/RULES.md).
package struct OpenCalls<Record: Sendable>: Sendable {
    /// One open call.
    package struct Call: Sendable {
        /// The call's number in its session.
        package let id: Int64
        /// The change that a successful reply makes to the caller.
        package let purpose: CallPurpose
        /// The record that was written last; it is resent if no reply is received.
        ///
        /// A call that creates a live and joins it writes two records: first the create, then the join.
        package let record: Record
        /// When the call's first record was written; the deadline counts from then.
        package let startedAt: MonotonicTime
        /// When the record must be resent.
        var resendAt: MonotonicTime
    }

    /// Why a call cannot be opened.
    package enum Rejection: Hashable, Sendable {
        /// A call with this id is open already; its reply answers the new call, too.
        case repeated
        /// Too many calls are open.
        case full
    }

    /// The largest number of open calls in one session: as many as a machine remembers outcomes of a session.
    package static var limit: Int { IdempotencyLimits.maxOutcomes }
    /// The time within which a machine must reply.
    package static var deadline: Milliseconds { .seconds(10) }
    /// The time between two sends of an unanswered call.
    package static var resendInterval: Milliseconds { .seconds(2) }

    /// The open calls in the order in which they were started, which is also the order of their deadlines.
    ///
    /// Most sessions are idle. So when the array becomes empty, it is replaced by `[]`, which has no storage.
    private var calls: [Call] = []

    /// Creates an empty collection.
    package init() {}

    /// Whether a call with this id is open.
    package func contains(_ id: Int64) -> Bool { self.calls.contains { $0.id == id } }

    /// The purpose of the open call with this id; nil if there is none.
    package func purpose(of id: Int64) -> CallPurpose? { self.calls.first { $0.id == id }?.purpose }

    /// The number of open calls.
    package var count: Int { self.calls.count }

    /// Returns why a call cannot be opened; nil if it can be opened.
    ///
    /// - Parameters:
    ///   - id: The number of the new call.
    ///   - waitingCount: The number of the session's accepted calls without a written record; they count as open.
    /// - Returns: The reason; nil if the call can be opened.
    package func rejection(of id: Int64, waiting waitingCount: Int = 0) -> Rejection? {
        if self.calls.contains(where: { $0.id == id }) { return .repeated }
        return self.calls.count + waitingCount >= Self.limit ? .full : nil
    }

    /// Registers a call whose record was written.
    ///
    /// - Parameters:
    ///   - id: The call's number in its session.
    ///   - purpose: The change that a successful reply makes.
    ///   - record: The record.
    ///   - now: The current time.
    ///   - start: When the call's first record was written; nil if `record` is the first one.
    package mutating func register(
        _ id: Int64, _ purpose: CallPurpose, _ record: Record, at now: MonotonicTime, since start: MonotonicTime? = nil
    ) {
        let start = start ?? now
        // Behind the last call that was started earlier; at the beginning if there is none.
        let index = self.calls.lastIndex { $0.startedAt <= start }.map { $0 + 1 } ?? 0
        self.calls.insert(
            Call(id: id, purpose: purpose, record: record, startedAt: start, resendAt: now + Self.resendInterval),
            at: index)
    }

    /// Removes and returns a call, whether it was answered or not; nil if it is not open.
    package mutating func remove(_ id: Int64) -> Call? {
        guard let index = self.calls.firstIndex(where: { $0.id == id }) else { return nil }
        let call = self.calls.remove(at: index)
        if self.calls.isEmpty { self.calls = [] }
        return call
    }

    /// Returns the id of the first open call whose record satisfies the predicate.
    package func firstID(where isMatch: (Record) -> Bool) -> Int64? { self.calls.first { isMatch($0.record) }?.id }

    /// Removes and returns the calls whose deadline has passed.
    package mutating func removeOverdue(at now: MonotonicTime) -> [Call] {
        let count = self.calls.prefix { now - $0.startedAt >= Self.deadline }.count
        if count == 0 { return [] }
        let overdue = Array(self.calls[..<count])
        self.calls.removeFirst(count)
        if self.calls.isEmpty { self.calls = [] }
        return overdue
    }

    /// Returns the records that must be resent now, and schedules their next resend.
    package mutating func takeRecordsToResend(at now: MonotonicTime) -> [Record] {
        var records: [Record] = []
        for index in self.calls.indices where self.calls[index].resendAt <= now {
            self.calls[index].resendAt = now + Self.resendInterval
            records.append(self.calls[index].record)
        }
        return records
    }
}

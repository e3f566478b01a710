// SPDX-License-Identifier: Apache-2.0
package import CoreKit
package import PlazaModel

/// What a call does to the caller's place, once it is answered.
package enum CallPurpose: Hashable, Sendable {
    /// Nothing.
    case plain
    /// Brings it into the live.
    case join(LiveID)
    /// Brings it out of the live.
    case leave(LiveID)
    /// Brings it into the live again after a reconnect.
    case resume(ResumePoint)
    /// Shows the caller otherwise from then on.
    case rename(UserInfo)
}

/// The calls of one session that wait for a machine's answer: few, each with a deadline, each sent again with the same
/// request id until then, for the machine or its reply may have died (I15).
package struct OpenCalls<Record: Sendable>: Sendable {
    /// One open call.
    package struct Call: Sendable {
        /// The call's number in its session.
        package let id: Int64
        /// What the answer changes.
        package let purpose: CallPurpose
        /// What was written, to be written again.
        package let record: Record
        /// When it came.
        package let began: Timestamp
        var resendAt: Timestamp
    }

    /// Why a call is not taken.
    package enum Refusal: Hashable, Sendable {
        /// It is open already; its answer comes once.
        case repeated
        /// There are too many.
        case full
    }

    /// Open calls of one session at most.
    package static var limit: Int { OutcomeWindow.limit }
    /// How long a machine has to answer.
    package static var deadline: Milliseconds { .seconds(10) }
    /// How often an unanswered call is sent again.
    package static var resendInterval: Milliseconds { .seconds(2) }

    /// In the order in which they came, which is that of their deadlines.
    ///
    /// Takes no memory while there are none.
    private var calls: [Call] = []

    /// No calls.
    package init() {}

    /// How many are open.
    package var count: Int { self.calls.count }

    /// Whether the call could begin beside so many that wait to, and why not.
    package func refusal(of id: Int64, waiting: Int = 0) -> Refusal? {
        if self.calls.contains(where: { $0.id == id }) { return .repeated }
        return self.calls.count + waiting >= Self.limit ? .full : nil
    }

    /// A call was sent to its machine.
    package mutating func began(_ id: Int64, _ purpose: CallPurpose, _ record: Record, at now: Timestamp) {
        self.calls.append(
            Call(id: id, purpose: purpose, record: record, began: now, resendAt: now + Self.resendInterval))
    }

    /// A call has its answer, or none will come: takes it out; nil when it is not open (any more).
    package mutating func ended(_ id: Int64) -> Call? {
        guard let index = self.calls.firstIndex(where: { $0.id == id }) else { return nil }
        let call = self.calls.remove(at: index)
        if self.calls.isEmpty { self.calls = [] }
        return call
    }

    /// The call whose record fits.
    package func first(where fits: (Record) -> Bool) -> Int64? { self.calls.first { fits($0.record) }?.id }

    /// Takes out the calls whose deadline is over.
    package mutating func overdue(at now: Timestamp) -> [Call] {
        let count = self.calls.prefix { now - $0.began >= Self.deadline }.count
        if count == 0 { return [] }
        let overdue = Array(self.calls[..<count])
        self.calls.removeFirst(count)
        if self.calls.isEmpty { self.calls = [] }
        return overdue
    }

    /// The records that should be sent again now.
    package mutating func dueAgain(at now: Timestamp) -> [Record] {
        var records: [Record] = []
        for index in self.calls.indices where self.calls[index].resendAt <= now {
            self.calls[index].resendAt = now + Self.resendInterval
            records.append(self.calls[index].record)
        }
        return records
    }
}

// SPDX-License-Identifier: Apache-2.0
package import MachineKit
package import PlazaModel

/// A read of one live whose answer is the same for every caller.
package struct SharedRead: Hashable, Sendable {
    /// What is read.
    package enum Kind: Hashable, Sendable {
        /// The first page of the audience list, of the maximum page size.
        case audience
        /// The live's statistics.
        case summary
    }
    /// What is read.
    package let kind: Kind
    /// The live.
    package let key: LiveKey
    /// The live's epoch, so that calls about a later live with the same id get no answer about this live.
    package let epoch: Int64

    /// Creates a description of a read.
    package init(_ kind: Kind, of key: LiveKey, epoch: Int64) {
        self.kind = kind
        self.key = key
        self.epoch = epoch
    }
}

/// The waiting calls of a gateway whose answers are shared: one request to a service answers many calls (R1.20).
///
/// A client that enters a live makes two reads, one of each `SharedRead.Kind`. If calls shared no answer, a thousand
/// viewers who enter in one second would cause two thousand requests to the live's services. With shared answers, each
/// gateway sends at most twelve in that second: for each kind five at once, and one more (`requestRate`).
///
/// Answers are not cached, because a cached answer could be stale. A call receives the answer to a request that was
/// sent after the gateway had received the call. So the answer contains all that the call's user has done and seen
/// before. The disadvantage is a delay: in a live that viewers enter all the time, a call waits until the rate allows
/// the next request.
package struct SharedReads<Call: Sendable>: Sendable {
    /// What to do with a call.
    package enum Verdict: Hashable, Sendable {
        /// The call waits for an answer. If `mustRequest` is true, the gateway must send a request to the service now.
        case wait(mustRequest: Bool)
        /// Forward the call by itself: too many reads are tracked already, of all apps or of the live's app.
        case forward
        /// Reject the call: too many calls wait already, of all apps or of the live's app.
        case full
    }

    /// A call, and the time since which it waits for an answer.
    private struct WaitingCall: Sendable {
        var call: Call
        var waitsSince: MonotonicTime
    }

    /// The state of one read: its open request, and the calls that wait.
    private struct Entry: Sendable {
        /// Limits the requests for this read to `requestRate`.
        var bucket = TokenBucket()
        /// Whether a request was sent that the service has not answered yet.
        var hasOpenRequest = false
        /// The calls that receive the answer to the open request.
        var currentCalls: [WaitingCall] = []
        /// The calls that were received after the open request was sent: they receive the answer to the next request.
        var nextCalls: [WaitingCall] = []

        var isIdle: Bool { !self.hasOpenRequest && self.currentCalls.isEmpty && self.nextCalls.isEmpty }
    }

    /// The maximum rate of requests for one read: one per second on average.
    ///
    /// After a pause of 5 s, five requests are allowed at once, so that viewers who enter a quiet live do not wait for
    /// each other.
    package static var requestRate: RateLimit { RateLimit(5, per: .seconds(5)) }
    /// The largest number of reads that are tracked: those with an entry.
    package static var maxReads: Int { 10_000 }
    /// The largest number of calls that wait for answers.
    package static var maxWaiting: Int { 50_000 }
    /// How long a call waits for its answer.
    package static var deadline: Milliseconds { .seconds(10) }

    /// The numbers of tracked reads and of waiting calls about one app's lives.
    private struct AppCounts: Sendable {
        var reads = 0
        var waitingCalls = 0
    }

    private var entries: [SharedRead: Entry] = [:]
    /// The largest number of tracked reads of one app's lives (R12.23).
    private let maxReadsPerApp: Int
    /// The largest number of waiting calls about one app's lives (R12.23).
    private let maxWaitingPerApp: Int
    /// The number of waiting calls of all apps.
    package private(set) var waitingCount = 0
    /// The counts of the apps whose lives are read now.
    private var countsByApp: [AppID: AppCounts] = [:]

    /// Creates an empty collection.
    ///
    /// - Parameter hasSeveralApps: Whether each app gets at most half of the tracked reads and of the waiting calls.
    package init(hasSeveralApps: Bool = false) {
        let shareDivisor = hasSeveralApps ? 2 : 1
        self.maxReadsPerApp = Self.maxReads / shareDivisor
        self.maxWaitingPerApp = Self.maxWaiting / shareDivisor
    }

    /// Registers a call.
    ///
    /// - Parameters:
    ///   - read: What the call reads.
    ///   - call: The call; `requestEnded` returns it when it can be answered, or `sweep` when it is overdue.
    ///   - now: The current time.
    /// - Returns: Whether the call waits, and whether a request must be sent to the service now.
    package mutating func addCall(_ read: SharedRead, _ call: Call, at now: MonotonicTime) -> Verdict {
        let appCounts = self.countsByApp[read.key.app] ?? AppCounts()
        guard self.waitingCount < Self.maxWaiting, appCounts.waitingCalls < self.maxWaitingPerApp else {
            return .full
        }
        if self.entries[read] == nil {
            guard self.entries.count < Self.maxReads, appCounts.reads < self.maxReadsPerApp else { return .forward }
            self.changeCounts(of: read.key.app) { $0.reads += 1 }
        }
        self.entries[read, default: Entry()].nextCalls.append(WaitingCall(call: call, waitsSince: now))
        self.changeWaitingCount(by: 1, of: read)
        return .wait(mustRequest: self.beginRequest(read, at: now))
    }

    /// Records that the open request has ended: the service has answered, or the request has failed or timed out.
    ///
    /// - Parameters:
    ///   - read: The read that was requested.
    ///   - now: The current time.
    /// - Returns: The calls to answer, and whether the gateway must send the next request now, for calls that were
    ///   received meanwhile.
    package mutating func requestEnded(
        _ read: SharedRead, at now: MonotonicTime
    ) -> (calls: [Call], mustRequest: Bool) {
        guard let calls = self.entries[read]?.currentCalls else { return ([], false) }
        self.entries[read]?.currentCalls = []
        self.entries[read]?.hasOpenRequest = false
        self.changeWaitingCount(by: -calls.count, of: read)
        return (calls.map(\.call), self.beginRequest(read, at: now))
    }

    /// Returns the reads to request now, and the calls whose deadline has passed; must be called regularly.
    ///
    /// The entry of a read is removed when no call waits for the read, no request is open, and its bucket is full
    /// again. If it were removed earlier, the next call would begin with a new bucket, which is full and would allow
    /// requests beyond the rate.
    package mutating func sweep(at now: MonotonicTime) -> (readsToRequest: [SharedRead], overdue: [Call]) {
        var readsToRequest: [SharedRead] = []
        var overdue: [Call] = []
        for read in Array(self.entries.keys) {
            self.removeOverdue(\.currentCalls, of: read, at: now, into: &overdue)
            self.removeOverdue(\.nextCalls, of: read, at: now, into: &overdue)
            if self.beginRequest(read, at: now) { readsToRequest.append(read) }
            if let entry = self.entries[read], entry.isIdle, entry.bucket.isFull(at: now) {
                self.entries[read] = nil
                self.changeCounts(of: read.key.app) { $0.reads -= 1 }
            }
        }
        return (readsToRequest, overdue)
    }

    /// Begins a request for the calls that wait for the next one, if no request is open and the rate allows one.
    ///
    /// - Returns: Whether the gateway must send the request.
    private mutating func beginRequest(_ read: SharedRead, at now: MonotonicTime) -> Bool {
        // `take` returns nil if the rate allows the request, otherwise how long to wait.
        guard var entry = self.entries[read], !entry.hasOpenRequest, !entry.nextCalls.isEmpty,
            entry.bucket.takeOrReturnWait(of: Self.requestRate, at: now) == nil
        else { return false }
        entry.hasOpenRequest = true
        entry.currentCalls = entry.nextCalls
        entry.nextCalls = []
        self.entries[read] = entry
        return true
    }

    /// Moves the overdue calls of a list to `overdue`; the list begins with the call that has waited longest.
    private mutating func removeOverdue(
        _ list: WritableKeyPath<Entry, [WaitingCall]>, of read: SharedRead, at now: MonotonicTime,
        into overdue: inout [Call]
    ) {
        guard let calls = self.entries[read]?[keyPath: list] else { return }
        let count = calls.prefix { now - $0.waitsSince >= Self.deadline }.count
        if count == 0 { return }
        overdue += calls[..<count].map(\.call)
        self.entries[read]?[keyPath: list].removeFirst(count)
        self.changeWaitingCount(by: -count, of: read)
    }

    /// Changes the numbers of waiting calls: of all apps, and of the app whose live is read.
    private mutating func changeWaitingCount(by change: Int, of read: SharedRead) {
        self.waitingCount += change
        self.changeCounts(of: read.key.app) { $0.waitingCalls += change }
    }

    /// Changes an app's counts, and removes them when both are 0.
    private mutating func changeCounts(of app: AppID, _ change: (inout AppCounts) -> Void) {
        var counts = self.countsByApp[app] ?? AppCounts()
        change(&counts)
        self.countsByApp[app] = counts.reads > 0 || counts.waitingCalls > 0 ? counts : nil
    }
}

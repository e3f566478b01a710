// SPDX-License-Identifier: Apache-2.0
internal import MachineKit
internal import PlazaModel

/// The calls without an outcome, in the order in which they were made.
///
/// A call that is sent again has the same id as before, so that the server applies it at most once.
struct CallQueue: Sendable {
    private var calls: [UnfinishedCall] = []
    /// The joins, leaves and ends of lives that were sent on the present connection and have timed out: their replies
    /// may still come.
    private var timedOut: [UnfinishedCall] = []
    private let random: RandomSource
    private var sendRate = SendRate()

    /// The maximum number of unanswered calls that the server allows a session.
    private static let maxUnanswered = 16
    /// The maximum number of timed-out calls that are kept.
    private static let maxTimedOut = 16
    /// The maximum number of times that a call is repeated because the server was busy.
    private static let maxRepeats = 3
    /// The pause before a repeat if the server does not state one.
    private static let defaultRepeatPause = Milliseconds.seconds(1)
    /// The longest random pause that is added before the first repeat; it doubles with each repeat.
    private static let firstRepeatJitter = Milliseconds(200)

    init(random: @escaping RandomSource) { self.random = random }

    var count: Int { self.calls.count }

    mutating func add(_ call: UnfinishedCall) { self.calls.append(call) }

    /// Adds a call that is sent before all others.
    mutating func addFirst(_ call: UnfinishedCall) { self.calls.insert(call, at: 0) }

    /// The call that a reply with this id answers.
    func call(id: Int64) -> UnfinishedCall? { self.calls.first { $0.id == id } }

    /// The join that was sent and has no reply yet; there is at most one, because calls behind a join wait.
    var sentJoin: UnfinishedCall? { self.calls.first { $0.isJoining && $0.isSent } }

    /// Whether there is an unfinished call about this live for which `isMatch` is true.
    func contains(about live: LiveID, where isMatch: (UnfinishedCall) -> Bool) -> Bool {
        self.calls.contains { $0.live == live && isMatch($0) }
    }

    /// Removes and returns the timed-out call that a reply with this id answers.
    mutating func takeTimedOut(id: Int64) -> UnfinishedCall? {
        self.timedOut.firstIndex { $0.id == id }.map { self.timedOut.remove(at: $0) }
    }

    mutating func remove(handle: Int) { self.calls.removeAll { $0.handle == handle } }

    /// Marks all calls as not sent, because the connection is lost.
    mutating func connectionLost() {
        self.timedOut = []
        for index in self.calls.indices { self.calls[index].isSent = false }
    }

    /// Schedules another sending of a call, with the same id, if the server was too busy for it.
    ///
    /// - Returns: whether the call will be sent again; false if `error` is final, or if there were too many repeats or
    ///   no time is left.
    mutating func scheduleRepeat(handle: Int, _ error: ErrorInfo, at now: MonotonicTime) -> Bool {
        guard error.isRetriable, let index = self.calls.firstIndex(where: { $0.handle == handle }),
            self.calls[index].repeats < Self.maxRepeats
        else { return false }
        let call = self.calls[index]
        let jitter = BackOff.pause(failures: call.repeats, random: self.random(), first: Self.firstRepeatJitter)
        let repeatAt = now + (error.retryPause ?? Self.defaultRepeatPause) + jitter
        guard repeatAt < call.deadline else { return false }
        self.calls[index].isSent = false
        self.calls[index].repeats += 1
        self.calls[index].notBefore = repeatAt
        return true
    }

    /// Marks the calls that can be sent now as sent, and returns their frames in order.
    ///
    /// Calls behind an unanswered join wait, because the server would reject them with `notInRoom`. A call gets its id
    /// when it is first sent, because each new call of a session, including a login, needs a higher id than all calls
    /// before it.
    mutating func takeFrames(at now: MonotonicTime, makeID: () -> Int64) -> [[UInt8]] {
        var frames: [[UInt8]] = []
        var unansweredCount = self.unansweredCount
        for index in self.calls.indices {
            guard unansweredCount < Self.maxUnanswered, self.sendRate.allowedAt <= now else { break }
            if !self.calls[index].isSent, self.calls[index].notBefore <= now {
                frames.append(self.calls[index].markSent(id: self.calls[index].id ?? makeID(), at: now))
                self.sendRate.callSent(at: now)
                unansweredCount += 1
            }
            if self.calls[index].isJoining { break }
        }
        return frames
    }

    /// Removes and returns the calls whose deadline has passed.
    mutating func takeExpired(at now: MonotonicTime) -> [UnfinishedCall] {
        guard self.calls.contains(where: { $0.deadline <= now }) else { return [] }
        let expired = self.calls.filter { $0.deadline <= now }
        self.calls.removeAll { $0.deadline <= now }
        self.timedOut += expired.filter { $0.isSent && $0.movesUser }
        self.timedOut.removeFirst(max(0, self.timedOut.count - Self.maxTimedOut))
        return expired
    }

    /// Removes and returns all calls.
    mutating func takeAll() -> [UnfinishedCall] {
        defer { self.calls = [] }
        return self.calls
    }

    /// When the next call expires or, on an open connection, may be sent; `distantFuture` if there is none.
    func dueAt(isOpen: Bool) -> MonotonicTime {
        var nextDue = MonotonicTime.distantFuture
        // Whether the calls from here on must wait for a connection or for the reply to another call.
        var isBlocked = !isOpen || self.unansweredCount >= Self.maxUnanswered
        for call in self.calls {
            nextDue = min(nextDue, call.deadline)
            if !isBlocked, !call.isSent { nextDue = min(nextDue, max(call.notBefore, self.sendRate.allowedAt)) }
            if call.isJoining { isBlocked = true }
        }
        return nextDue
    }

    private var unansweredCount: Int { self.calls.count { $0.isSent } }
}

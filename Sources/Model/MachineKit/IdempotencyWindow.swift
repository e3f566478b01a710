// SPDX-License-Identifier: Apache-2.0

/// The limits of every `IdempotencyWindow`.
@usableFromInline package enum IdempotencyLimits {
    /// The maximum number of outcomes that a window remembers.
    ///
    /// It equals the maximum number of open calls of a session in one live.
    @inlinable package static var maxOutcomes: Int { 16 }
    /// How long a window keeps its outcomes after the last call.
    ///
    /// Within this time a retry gets the outcome that the call had. Each standstill of the partition, a time in which
    /// the partition had no owner or no input (`Moment.standstill`), extends the time.
    @inlinable package static var lifetime: Milliseconds { .seconds(60) }
    /// How long a window keeps the highest counter of its outcomes after it has dropped the outcomes.
    ///
    /// A call's counter is its number within its session.
    /// Gateways mark retries that are older than `lifetime`, so that no machine applies them. A gateway cannot mark a
    /// retry on a new connection whose client does not state the age of the call. The window recognizes such a retry by
    /// its counter, which is not above the highest dropped counter.
    @inlinable package static var droppedCounterLifetime: Milliseconds { .seconds(300) }
    /// The due time of a row with a window is a multiple of this span.
    @inlinable static var dueInterval: Milliseconds { .seconds(10) }
}

/// What an idempotency window knows about a call.
@usableFromInline package enum IdempotencyLookup<Outcome> {
    /// The call is new.
    case fresh
    /// The call was processed before, with this outcome.
    case repeated(Outcome)
    /// The window no longer remembers whether the call was processed.
    ///
    /// The call may have been applied, so it must be rejected now.
    case forgotten
}

extension IdempotencyLookup {
    /// This result, except that a `fresh` late retry (R16.11) becomes `forgotten`.
    ///
    /// A late retry is older than the lifetime of outcomes. So the window may have dropped the outcome of the first
    /// copy, and the retry must not count as new.
    @inlinable package func treatingFresh(asForgottenIf isLateRetry: Bool) -> IdempotencyLookup {
        if isLateRetry, case .fresh = self { return .forgotten }
        return self
    }
}

extension IdempotencyLookup: Equatable where Outcome: Equatable {}
extension IdempotencyLookup: Sendable where Outcome: Sendable {}

/// How an idempotency window stores its outcomes.
///
/// The storage decides nothing: all rules are in `IdempotencyWindow`.
@usableFromInline package protocol OutcomeStorage: Sendable {
    associatedtype Outcome: Sendable

    /// An empty storage.
    init(expiresAt: Timestamp)
    /// How many outcomes are stored.
    var count: Int { get }
    /// The highest counter of a call whose outcome was dropped; `Int64.min` while no outcome was dropped.
    var highestDroppedCounter: Int64 { get set }
    /// When the outcomes expire; after they were dropped, when the highest dropped counter expires.
    var expiresAt: Timestamp { get set }
    /// The partition's standstill so far (`Moment.standstill`) when `expiresAt` was last set.
    ///
    /// Only the standstill that is added later extends `expiresAt`.
    var standstill: Milliseconds { get set }
    /// The index of the outcome of the call `counter`; nil if none is stored.
    func index(of counter: Int64) -> Int?
    /// The outcome at `index`.
    func outcome(at index: Int) -> Outcome
    /// Adds the outcome of the call `counter`.
    mutating func append(_ outcome: Outcome, of counter: Int64)
    /// Replaces the outcome at `index`; its counter stays.
    mutating func replace(at index: Int, with outcome: Outcome)
    /// Drops the oldest outcome and adds the outcome of the call `counter`.
    ///
    /// - Returns: the counter of the call whose outcome was dropped.
    mutating func replaceOldest(with outcome: Outcome, of counter: Int64) -> Int64
    /// Drops all outcomes.
    ///
    /// - Returns: the highest counter of the dropped outcomes; nil when there were none.
    mutating func removeAll() -> Int64?
}

/// The outcomes of one session's last calls at one machine (I15).
///
/// With the outcomes, a call that is sent again gets the same outcome as before and is not applied twice.
///
/// A window remembers `IdempotencyLimits.maxOutcomes` outcomes until `IdempotencyLimits.lifetime` after the last one.
/// The standstills of the window's partition are added to this time, as they are added to leases, because no caller
/// could get an answer meanwhile. Calls have ascending counters. A call is rejected if its counter is not above the
/// counter of a dropped outcome, because nobody can tell any more whether the call was applied. Therefore the window
/// keeps the highest counter of its dropped outcomes for `IdempotencyLimits.droppedCounterLifetime` after it has
/// dropped the last outcome.
@usableFromInline package struct IdempotencyWindow<Storage: OutcomeStorage>: Sendable {
    /// The stored outcomes; other types read them for undo records and for encodings.
    @usableFromInline package internal(set) var storage: Storage

    /// An empty window.
    @inlinable package init(at moment: Moment) {
        self.storage = Storage(expiresAt: moment.now + IdempotencyLimits.lifetime)
        self.storage.standstill = moment.standstill
    }

    /// A window with these outcomes.
    @inlinable package init(storage: Storage) { self.storage = storage }

    /// When the window's row falls due: the expiry, rounded up to ten seconds.
    ///
    /// Due times are rounded so that the row of a busy session changes its due time once in ten seconds and not with
    /// each call.
    @inlinable package var due: Timestamp {
        let interval = IdempotencyLimits.dueInterval.count
        return Timestamp(milliseconds: (self.storage.expiresAt.milliseconds + interval - 1) / interval * interval)
    }

    /// Whether the call `counter` is new, repeated or forgotten.
    @inlinable package func lookup(_ counter: Int64) -> IdempotencyLookup<Storage.Outcome> {
        if let index = self.storage.index(of: counter) { return .repeated(self.storage.outcome(at: index)) }
        return counter <= self.storage.highestDroppedCounter ? .forgotten : .fresh
    }

    /// Records the outcome of the call `counter`; an earlier outcome of this call is replaced.
    ///
    /// A call that is processed in two steps is recorded in each step.
    @inlinable package mutating func record(_ outcome: Storage.Outcome, of counter: Int64, at moment: Moment) {
        self.storage.expiresAt = moment.now + IdempotencyLimits.lifetime
        self.storage.standstill = moment.standstill
        if let index = self.storage.index(of: counter) {
            self.storage.replace(at: index, with: outcome)
        } else if self.storage.count < IdempotencyLimits.maxOutcomes {
            self.storage.append(outcome, of: counter)
        } else {
            let droppedCounter = self.storage.replaceOldest(with: outcome, of: counter)
            self.storage.highestDroppedCounter = max(self.storage.highestDroppedCounter, droppedCounter)
        }
    }

    /// Handles the window's due time: extends the expiry, drops the outcomes, or ends the window.
    ///
    /// First, the standstills since the window's last call are added to its expiry. If the window is then no longer
    /// due, nothing else happens. Otherwise the outcomes are dropped and only their highest counter remains. When the
    /// window falls due again, it ends.
    ///
    /// - Returns: whether the window has ended and its row must be removed.
    @inlinable package mutating func expire(at moment: Moment) -> Bool {
        // An instance of an older version does not commit the standstill. When such an instance has owned the
        // partition, the standstill begins at 0 again, and the difference is negative.
        let addedStandstill = Milliseconds(max(0, moment.standstill.count - self.storage.standstill.count))
        self.storage.standstill = moment.standstill
        self.storage.expiresAt = self.storage.expiresAt + addedStandstill
        if self.due > moment.now { return false }
        guard let highestCounter = self.storage.removeAll() else { return true }
        self.storage.highestDroppedCounter = max(self.storage.highestDroppedCounter, highestCounter)
        self.storage.expiresAt = self.storage.expiresAt + IdempotencyLimits.droppedCounterLifetime
        // If the window is handled very late, the lifetime of the counter is over, too.
        return self.due <= moment.now
    }

    /// Replaces each outcome by the result of `replacement`, or keeps the outcome if the result is nil.
    @inlinable package mutating func replaceOutcomes(_ replacement: (Storage.Outcome) -> Storage.Outcome?) {
        for index in 0..<self.storage.count {
            if let outcome = replacement(self.storage.outcome(at: index)) {
                self.storage.replace(at: index, with: outcome)
            }
        }
    }
}

extension IdempotencyWindow: Equatable where Storage: Equatable {}
extension IdempotencyWindow: Hashable where Storage: Hashable {}

// A window is encoded as its storage.
extension IdempotencyWindow: Codable where Storage: Codable {
    @usableFromInline package init(from decoder: any Decoder) throws { self.init(storage: try Storage(from: decoder)) }
    @usableFromInline package func encode(to encoder: any Encoder) throws { try self.storage.encode(to: encoder) }
}

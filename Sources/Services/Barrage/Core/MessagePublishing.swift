// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel

extension FeedRow {
    /// Admits and numbers a user's message, rejects it, or drops it because the budget is short; the ledger counts the
    /// message in each case (I10 in docs/RULES.md).
    ///
    /// The word filter is the slowest check. It runs last, and only on messages that the budget allows. Therefore a
    /// flood of messages does not cause a flood of searches.
    mutating func publish(
        _ message: FeedContent, to key: LiveKey, from caller: Caller, under rules: AppRules, at now: Timestamp,
        into effects: inout [Effect]
    ) -> MessageOutcome {
        let isLiveMuted = self.rights.isMessageDisable && !self.rights.exemptsFromMutes(caller)
        if let rejection = self.rejection(of: caller) ?? message.validationError ?? (isLiveMuted ? .roomMuted : nil) {
            return self.reject(rejection)
        }
        // A user's own mute does not apply while the user is an admin (R5.8).
        let user = caller.userID
        if caller.role == .user, let wait = self.rights.mutes.remainingTime(of: user, at: now),
            !self.rights.exemptsFromMutes(caller)
        {
            // A permanent mute gives no retry hint.
            let isPermanent = wait.count > Self.maxRetryHint
            return self.reject(.userMuted, retryAfter: isPermanent ? Milliseconds(0) : wait)
        }
        let sender = caller.role == .server ? .nobody : SenderHash(user, mayFillBudget: user == self.rights.owner)
        let decision = self.admissions.decide(
            on: .barrage, from: sender, rate: rules.messagesPerUser, under: rules.budget, at: now)
        switch decision {
        case .tooOften(let retryAfter): return self.reject(.tooOften, retryAfter: retryAfter)
        case .dropped(let reason, let retryAfter):
            self.admissions.recordAttempt(sender, under: rules.budget, at: now)
            self.numbers.ledger.countDropped(.barrage, reason)
            // The third reason, `merged`, occurs only with counters.
            return MessageOutcome(rejected: reason == .share ? .share : .budget, retryAfter: retryAfter)
        case .admitted:
            if message.containsWord(of: rules.filter) { return self.reject(.sensitive) }
            self.numbers.statistics.totalMessageCount = self.numbers.statistics.totalMessageCount.saturatingAdd(1)
            self.markSummaryChanged(at: now)
            let position = self.append(message, .barrage, from: sender, to: key, under: rules, at: now, into: &effects)
            return MessageOutcome(at: position)
        }
    }

    /// Numbers an item and appends it to the feed; the budget is not checked, but the item uses the budget.
    @discardableResult mutating func append(
        _ content: FeedContent, _ feedClass: FeedClass, from sender: SenderHash = .nobody, to key: LiveKey,
        under rules: AppRules, at now: Timestamp, into effects: inout [Effect]
    ) -> FeedPosition {
        self.admissions.recordAdmission(from: sender, under: rules.budget, at: now)
        self.numbers.ledger.countAdmitted(feedClass)
        self.numbers.lastNumber = self.numbers.lastNumber.saturatingAdd(1)
        let position = FeedPosition(epoch: self.epoch, number: self.lastNumber)
        effects.append(.feed(FeedItem(key: key, position: position, at: now, content: content)))
        return position
    }

    /// Rejects a call and counts the rejection.
    mutating func reject(_ rejection: Rejection, retryAfter: Milliseconds = Milliseconds(0)) -> MessageOutcome {
        self.numbers.ledger.countRefused(rejection)
        return MessageOutcome(rejected: rejection, retryAfter: retryAfter)
    }

    /// The reason why `caller` may not act in the live; nil if the caller may act.
    ///
    /// The function is always inlined. Otherwise each call of it would copy the whole row.
    @inline(__always) func rejection(of caller: Caller) -> Rejection? {
        if self.hasEnded { return .ended }
        guard let error = self.rights.floors.rejection(of: caller) else { return nil }
        return error.code == .notInRoom ? .notInRoom : .staleTicket
    }

    /// The maximum retry hint in milliseconds: a hundred years; longer waits count as permanent.
    private static let maxRetryHint: Int64 = 100 * 366 * 86_400_000
}

extension FeedRights {
    /// Whether `caller` may send messages in spite of a mute of the live or of the caller.
    fileprivate func exemptsFromMutes(_ caller: Caller) -> Bool {
        caller.role == .server || caller.userID == self.owner || self.admins.contains(caller.userID)
    }
}

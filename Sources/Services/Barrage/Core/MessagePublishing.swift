// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel

extension FeedRow {
    /// Admits a user's message and numbers it, or rejects or drops it; the ledger counts the message in each case
    /// (I10).
    ///
    /// Cheap checks run first. The word filter runs last, only on messages that would enter. Therefore a flood of
    /// messages costs no more searches than the budget allows messages.
    mutating func publish(
        _ message: FeedContent, to key: LiveKey, from caller: Caller, under rules: AppRules, at now: Timestamp,
        into effects: inout [Effect]
    ) -> MessageOutcome {
        let isMuted = self.rights.isMessageDisable && !self.rights.exempts(caller)
        if let rejection = self.rejection(of: caller) ?? message.validationError ?? (isMuted ? .roomMuted : nil) {
            return self.reject(rejection)
        }
        // An admin is exempt from its own mute while it is an admin.
        let user = caller.userID
        if caller.role == .user, let wait = self.rights.mutes.remaining(of: user, at: now),
            !self.rights.exempts(caller)
        {
            // A permanent mute gives no retry hint.
            let isPermanent = wait.count > Self.maxRetryHint
            return self.reject(.userMuted, retryAfter: isPermanent ? Milliseconds(0) : wait)
        }
        let sender = caller.role == .server ? .nobody : SenderHash(user, isHost: user == self.rights.owner)
        let decision = self.admissions.decide(
            on: .barrage, from: sender, rate: rules.messagesPerUser, under: rules.budget, at: now)
        switch decision {
        case .tooOften(let retryAfter): return self.reject(.tooOften, retryAfter: retryAfter)
        case .dropped(let reason, let retryAfter):
            self.admissions.recordAttempt(sender, under: rules.budget, at: now)
            self.numbers.ledger.countDropped(.barrage, reason)
            return MessageOutcome(refused: reason == .share ? .share : .budget, retryAfter: retryAfter)
        case .admitted:
            if message.contains(rules.filter) { return self.reject(.sensitive) }
            self.numbers.statistics.totalMessageCount = self.numbers.statistics.totalMessageCount.saturatingAdd(1)
            self.markSummaryChanged(at: now)
            let position = self.append(message, .barrage, from: sender, to: key, under: rules, at: now, into: &effects)
            return MessageOutcome(at: position)
        }
    }

    /// Appends an item to the feed without a check of the budget, and numbers it.
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
        return MessageOutcome(refused: rejection, retryAfter: retryAfter)
    }

    /// Why `caller` may not act in the live; nil if it may.
    ///
    /// The function is always inlined and reads only the needed fields, because a call with the whole row would copy
    /// the row.
    @inline(__always) func rejection(of caller: Caller) -> Rejection? {
        if self.hasEnded { return .ended }
        guard let error = self.rights.floors.rejection(of: caller) else { return nil }
        return error.code == .notInRoom ? .notInRoom : .staleTicket
    }

    /// The maximum retry hint in milliseconds: a hundred years; longer waits count as permanent.
    private static let maxRetryHint: Int64 = 100 * 366 * 86_400_000
}

extension FeedRights {
    /// Whether `caller` is exempt from the mute of the live.
    fileprivate func exempts(_ caller: Caller) -> Bool {
        caller.role == .server || caller.userID == self.owner || self.admins.contains(caller.userID)
    }
}

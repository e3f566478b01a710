// SPDX-License-Identifier: Apache-2.0
import CoreKit
import PlazaModel

extension FeedRow {
    /// Lets a user's message in and gives it its number, or says why not; counts it either way (I10).
    ///
    /// What costs little is asked first. The words are looked for last, in what would enter: so a live's texts are read
    /// no more often than its budget allows, however many are sent.
    mutating func publish(
        _ message: FeedContent, to key: LiveKey, from caller: Caller, under rules: AppRules, at now: Timestamp,
        into effects: inout [Effect]
    ) -> Fate {
        let counter = caller.counter
        let isMuted = self.rights.isMessageDisable && !self.rights.spares(caller)
        if let refusal = self.refusal(of: caller) ?? message.fault ?? (isMuted ? .roomMuted : nil) {
            return self.refuse(counter, refusal)
        }
        // Who became an admin after having been muted is spared for as long as it is one.
        let user = caller.userID
        if caller.role == .user, let wait = self.rights.mutes.remaining(of: user, at: now),
            !self.rights.spares(caller)
        {
            // A mute for good gives no hint.
            let isForGood = wait.count > Self.longestHint
            return self.refuse(counter, .userMuted, retryAfter: isForGood ? Milliseconds(0) : wait)
        }
        let sender = caller.role == .server ? .nobody : SenderMark(user, isHost: user == self.rights.owner)
        let verdict = self.admissions.verdict(
            on: .barrage, from: sender, rate: rules.messagesPerUser, under: rules.budget, at: now)
        switch verdict {
        case .tooOften(let retryAfter): return self.refuse(counter, .tooOften, retryAfter: retryAfter)
        case .dropped(let reason, let retryAfter):
            self.admissions.note(sender, under: rules.budget, at: now)
            self.numbers.ledger.countDropped(.barrage, reason)
            return Fate(counter, refused: reason == .share ? .share : .budget, retryAfter: retryAfter)
        case .admitted:
            if message.contains(rules.filter) { return self.refuse(counter, .sensitive) }
            self.numbers.statistics.totalMessageCount += 1
            self.summaryChanged(at: now)
            let position = self.enter(message, .barrage, from: sender, to: key, under: rules, at: now, into: &effects)
            return Fate(counter, at: position)
        }
    }

    /// Lets something in whatever the budget says, and gives it its number.
    @discardableResult mutating func enter(
        _ content: FeedContent, _ feedClass: FeedClass, from sender: SenderMark = .nobody, to key: LiveKey,
        under rules: AppRules, at now: Timestamp, into effects: inout [Effect]
    ) -> FeedPosition {
        self.admissions.enter(from: sender, under: rules.budget, at: now)
        self.numbers.ledger.countAdmitted(feedClass)
        self.numbers.lastNumber += 1
        let position = FeedPosition(epoch: self.epoch, number: self.lastNumber)
        effects.append(.feed(FeedItem(key: key, position: position, at: now, content: content)))
        return position
    }

    /// Counts a refusal.
    mutating func refuse(_ counter: Int64, _ refusal: Refusal, retryAfter: Milliseconds = Milliseconds(0)) -> Fate {
        self.numbers.ledger.countRefused(refusal)
        return Fate(counter, refused: refusal, retryAfter: retryAfter)
    }

    /// Why `caller` may do nothing here.
    ///
    /// Part of its callers, and what it asks looks at no more than it must: handed on, a whole row would be copied.
    @inline(__always) func refusal(of caller: Caller) -> Refusal? {
        if self.hasEnded { return .ended }
        guard let error = self.rights.floors.refusal(of: caller) else { return nil }
        return error.code == .notInRoom ? .notInRoom : .staleTicket
    }

    /// A hint beyond a hundred years is none.
    private static let longestHint: Int64 = 100 * 366 * 86_400_000
}

extension FeedRights {
    /// Whether the room mute does not hold for `caller`.
    fileprivate func spares(_ caller: Caller) -> Bool {
        caller.role == .server || caller.userID == self.owner || self.admins.contains(caller.userID)
    }
}

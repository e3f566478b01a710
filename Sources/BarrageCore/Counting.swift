// SPDX-License-Identifier: Apache-2.0
import CoreKit
import PlazaModel

/// Counters, tips, and what waits for its time.
extension FeedRow {
    /// Adds likes to the total; of those that no item has told, the latest are kept.
    mutating func like(_ count: Int64, by sender: UserInfo, at now: Timestamp) {
        self.statistics.totalLikesReceived &+= count
        if self.counters.likes != nil { self.ledger.countDropped(.counter, .merged) }
        self.counters.likes = Boxed(Counters.Likes(sender: sender, count: count))
        self.summaryChanged(at: now)
    }

    /// Takes a user's level.
    mutating func hear(_ level: Int, of user: UserID, at now: Timestamp) {
        let wasWaiting = self.counters.isWaiting(.speaking)
        self.counters.hear(user, level, at: now)
        // Either this one takes the place of one that waits, or it tells nothing new.
        if wasWaiting || !self.counters.isWaiting(.speaking) { self.ledger.countDropped(.counter, .merged) }
    }

    /// The figures are others than the last summary said.
    mutating func summaryChanged(at now: Timestamp) {
        // Asked first: the counters are copied when they change, for undo.
        if self.counters.isWaiting(.summary) { return }
        self.wake(at: self.counters.summaryChanged(at: now))
    }

    /// The live's figures, with its duration: while it runs, until `now`.
    func statistics(at now: Timestamp) -> LiveStatistics {
        var statistics = self.statistics
        if !self.hasEnded { statistics.liveDuration = max(0, (now - self.numbers.openedAt).count) }
        return statistics
    }

    /// Tells the counters that may be told and have room, and finds out when the row is to be looked at again.
    mutating func tellCounters(
        to key: LiveKey, under rules: AppRules, at now: Timestamp, into effects: inout [Effect]
    ) {
        var wakeAt: Timestamp?
        func consider(_ time: Timestamp) { wakeAt = min(wakeAt ?? time, time) }
        for kind in Counters.Kind.allCases where self.counters.isWaiting(kind) {
            let mayTell = self.counters.mayTell(kind)
            if mayTell > now {
                consider(mayTell)
            } else if let wait = self.admissions.wait(for: .counter, under: rules.budget, at: now) {
                consider(now + max(wait, Counters.retryInterval))
            } else if let content = self.counters.take(kind, self.statistics(at: now), at: now) {
                self.enter(content, .counter, to: key, under: rules, at: now, into: &effects)
            }
        }
        for voice in self.counters.voices { consider(voice.until) }
        if let degradedUntil = self.numbers.degradedUntil { consider(degradedUntil) }
        self.numbers.wakeAt = wakeAt
    }

    /// What waited may be due.
    mutating func woke(to key: LiveKey, under rules: AppRules, at now: Timestamp, into effects: inout [Effect]) {
        if let degradedUntil = self.numbers.degradedUntil, degradedUntil <= now {
            self.numbers.degradedUntil = nil
            self.enter(.tips(isDegraded: false), .control, to: key, under: rules, at: now, into: &effects)
        }
        self.counters.keepVoices { $0.until > now }
        self.tellCounters(to: key, under: rules, at: now, into: &effects)
    }

    /// Lets a tip in, or drops it; a stretch of drops is announced (reference 12, level Lowest), and again with the first
    /// drop of each further interval, for those who came meanwhile.
    mutating func tip(
        _ content: FeedContent, to key: LiveKey, under rules: AppRules, at now: Timestamp, into effects: inout [Effect]
    ) {
        let verdict = self.admissions.verdict(
            on: .tip, from: .nobody, rate: .max, under: rules.budget, at: now)
        guard case .dropped(let reason, _) = verdict else {
            self.enter(content, .tip, to: key, under: rules, at: now, into: &effects)
            return
        }
        self.ledger.countDropped(.tip, reason)
        let lifetime = BarrageMachine.degradedLifetime
        let lastDrop = self.numbers.degradedUntil.map { $0.milliseconds - lifetime.count }
        if lastDrop.map({ $0 / lifetime.count }) != now.milliseconds / lifetime.count {
            self.enter(.tips(isDegraded: true), .control, to: key, under: rules, at: now, into: &effects)
        }
        let until = now + lifetime
        self.numbers.degradedUntil = until
        self.wake(at: until)
    }
}

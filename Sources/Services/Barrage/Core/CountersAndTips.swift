// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel

/// Counters (likes, speaking levels, the summary), tips (low-priority notifications), and the wake time, at which the
/// feed's row falls due without an input.
extension FeedRow {
    /// Adds likes to the total.
    ///
    /// The new likes replace likes that are not published yet, because the next item names only the latest sender. It
    /// has the total of all likes.
    mutating func addLikes(_ count: Int64, by sender: UserInfo, at now: Timestamp) {
        self.statistics.totalLikesReceived = self.statistics.totalLikesReceived.saturatingAdd(count)
        if self.counters.likes != nil { self.ledger.countDropped(.counter, .merged) }
        self.counters.likes = CopyOnWrite(Counters.Likes(sender: sender, count: count))
        self.markSummaryChanged(at: now)
    }

    /// Sets the speaking level of a user.
    mutating func setSpeakingLevel(_ level: Int, of user: UserID, at now: Timestamp) {
        let wasPending = self.counters.isPending(.speaking)
        self.counters.setLevel(user, level, at: now)
        // If other levels are already pending, one item will publish all of them. If the level changes nothing, it is
        // not published. In both cases the ledger counts the level as merged; otherwise it counts the level when that
        // is published.
        if wasPending || !self.counters.isPending(.speaking) { self.ledger.countDropped(.counter, .merged) }
    }

    /// Marks the summary as changed, and schedules its publication.
    mutating func markSummaryChanged(at now: Timestamp) {
        // This check avoids a change of the counters, which would copy the feed's details for undo at each message.
        if self.counters.isPending(.summary) { return }
        self.scheduleWake(at: self.counters.markSummaryChanged(at: now))
    }

    /// The live's statistics; the duration of a running live ends at `now`.
    func statistics(at now: Timestamp) -> LiveStatistics {
        var statistics = self.statistics
        if !self.hasEnded { statistics.liveDuration = max(0, (now - self.numbers.openedAt).count) }
        return statistics
    }

    /// Publishes each pending counter whose interval has passed and for which the budget has room; then sets the wake
    /// time to the earliest time at which something remains to do.
    mutating func publishCounters(
        to key: LiveKey, under rules: AppRules, at now: Timestamp, into effects: inout [Effect]
    ) {
        var wakeAt: Timestamp?
        func wakeNoLater(than time: Timestamp) { wakeAt = min(wakeAt ?? time, time) }
        for kind in Counters.Kind.allCases where self.counters.isPending(kind) {
            let nextPublishTime = self.counters.nextPublishTime(kind)
            if nextPublishTime > now {
                wakeNoLater(than: nextPublishTime)
            } else if let wait = self.admissions.wait(for: .counter, under: rules.budget, at: now) {
                wakeNoLater(than: now + max(wait, Counters.retryInterval))
            } else if let content = self.counters.takePendingValue(of: kind, self.statistics(at: now), at: now) {
                self.append(content, .counter, to: key, under: rules, at: now, into: &effects)
            }
        }
        for voice in self.counters.voices { wakeNoLater(than: voice.until) }
        if let degradedUntil = self.numbers.degradedUntil { wakeNoLater(than: degradedUntil) }
        self.numbers.wakeAt = wakeAt
    }

    /// Publishes what is due at the wake time: the end of a period in which tips were dropped, and counters.
    mutating func handleWakeTime(
        to key: LiveKey, under rules: AppRules, at now: Timestamp, into effects: inout [Effect]
    ) {
        if let degradedUntil = self.numbers.degradedUntil, degradedUntil <= now {
            self.numbers.degradedUntil = nil
            self.append(.tips(isDegraded: false), .control, to: key, under: rules, at: now, into: &effects)
        }
        self.counters.retainVoices { $0.until > now }
        self.publishCounters(to: key, under: rules, at: now, into: &effects)
    }

    /// Publishes a tip, or drops it.
    ///
    /// The feed announces the start of a degraded period, in which tips are dropped (R4.20 and R12.3 in docs/RULES.md).
    /// Time is divided into intervals of the length `degradedInterval`. The first dropped tip of each further interval
    /// repeats the announcement for viewers who have joined in the meantime.
    mutating func publishTip(
        _ content: FeedContent, to key: LiveKey, under rules: AppRules, at now: Timestamp, into effects: inout [Effect]
    ) {
        // A tip has no sender, so no rate applies.
        let decision = self.admissions.decide(
            on: .tip, from: .nobody, rate: .max, under: rules.budget, at: now)
        guard case .dropped(let reason, _) = decision else {
            self.append(content, .tip, to: key, under: rules, at: now, into: &effects)
            return
        }
        self.ledger.countDropped(.tip, reason)
        let length = BarrageMachine.degradedInterval
        // The last tip was dropped at `degradedUntil - length`. An interval's number is its time divided by `length`.
        let lastDropInterval = self.numbers.degradedUntil.map { ($0.milliseconds - length.count) / length.count }
        let isFirstDropOfInterval = lastDropInterval != now.milliseconds / length.count
        if isFirstDropOfInterval {
            self.append(.tips(isDegraded: true), .control, to: key, under: rules, at: now, into: &effects)
        }
        let degradedUntil = now + length
        self.numbers.degradedUntil = degradedUntil
        self.scheduleWake(at: degradedUntil)
    }
}

// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel

/// The end of a feed, with the final figures of the live: its statistics, which do not change any more (R3.57 in
/// docs/RULES.md).
extension BarrageMachine {
    /// Ends a feed: appends the last item, replies to the callers, and notifies the directory that the live's id is
    /// free.
    ///
    /// The end of a live passes from machine to machine. The fan-out, the machine of this file, handles it last
    /// (R18.5). If the feed has already ended, nothing happens.
    func endFeed(
        _ key: LiveKey, _ ending: Ending, in rows: inout BarrageRows, at moment: Moment, into effects: inout [Effect]
    ) {
        let rules = self.rules[key.app]
        var statistics = LiveStatistics(
            totalViewers: ending.totalViewers, liveDuration: (ending.endedAt - ending.createdAt).count)
        var callers: [Caller] = []
        if let endingCaller = ending.caller { callers.append(endingCaller) }
        let hadEndedBefore = rows.updateFeed(key) { feed in
            // A feed with a higher epoch belongs to a newer live with the same id.
            guard feed.epoch <= ending.epoch else { return false }
            if feed.hasEnded { return true }
            if let repeatingCaller = feed.callerAwaitingEnd, repeatingCaller != ending.caller {
                callers.append(repeatingCaller)
            }
            feed.end(statistics, to: key, ending.reason, under: rules, at: moment.now, into: &effects)
            statistics = feed.statistics
            return false
        }
        // The directory waits for `closed`. So `closed` is also sent if the feed is missing or belongs to a newer live.
        if hadEndedBefore ?? false { return }
        effects.append(.directory(DirectoryInput(app: key.app, .closed(live: key.live, epoch: ending.epoch))))
        for caller in callers {
            effects.append(.success(.statistics(statistics: statistics), to: caller, app: key.app))
        }
        if rules.hasWebhooks {
            let content = WebhookContent.roomEnded(
                info: ending.info, reason: ending.reason, statistics: statistics)
            effects.append(.webhook(WebhookEvent(key, at: moment.now, content)))
        }
    }

    /// Handles a repeated call to end the live: replies at once if the feed has ended, or else when the feed ends.
    func repeatEnding(
        _ key: LiveKey, _ caller: Caller, in rows: inout BarrageRows, into effects: inout [Effect]
    ) {
        rows.updateFeed(key) { feed in
            if feed.hasEnded {
                effects.append(.success(.statistics(statistics: feed.statistics), to: caller, app: key.app))
            } else {
                feed.callerAwaitingEnd = caller
            }
        }
    }
}

extension FeedRow {
    /// Appends the feed's last item (I1), whose statistics include the pending counters.
    ///
    /// `endStatistics` has only the number of viewers and the duration; the feed has counted the other figures.
    fileprivate mutating func end(
        _ endStatistics: LiveStatistics, to key: LiveKey, _ reason: LiveEndReason, under rules: AppRules,
        at now: Timestamp, into effects: inout [Effect]
    ) {
        // Pending likes and speaking levels came from calls, and the ledger counts each of these calls. A summary came
        // from no call, so a pending summary is not counted; `liveEnded` contains the same statistics.
        for kind in Counters.Kind.allCases where kind != .summary && self.counters.isPending(kind) {
            self.ledger.countDropped(.counter, .merged)
        }
        self.counters = Counters(openedAt: now)
        self.numbers.degradedUntil = nil
        self.callerAwaitingEnd = nil
        self.numbers.wakeAt = nil
        self.statistics.totalViewers = endStatistics.totalViewers
        self.statistics.liveDuration = endStatistics.liveDuration
        let content = FeedContent.liveEnded(reason: reason, statistics: self.statistics)
        self.append(content, .control, to: key, under: rules, at: now, into: &effects)
        self.numbers.removeAt = now + BarrageMachine.endedLifetime
    }
}

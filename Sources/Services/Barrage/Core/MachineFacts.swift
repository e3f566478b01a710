// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel

/// Inputs of other machines for a feed.
extension FeedRow {
    /// Applies an item of another machine, and publishes it if the budget of its class allows.
    mutating func publishFact(
        _ content: FeedContent, to key: LiveKey, under rules: AppRules, at now: Timestamp, into effects: inout [Effect]
    ) {
        if self.hasEnded {
            self.ledger.countRefused(.ended)
            return
        }
        switch content {
        case .audienceJoined:
            // A join is counted even if its tip is dropped.
            self.statistics.totalViewers = self.statistics.totalViewers.saturatingAdd(1)
            self.markSummaryChanged(at: now)
        case .stage(let record, _): self.updateSeated(record)
        case .text, .custom, .audienceLeft, .infoChanged, .metadataChanged, .adminSet, .adminRevoked, .gift, .likes,
            .speaking, .summary, .messageDisabled, .userChanged, .tips, .liveEnded:
            break
        }
        switch content.feedClass {
        case .control, .gift:
            self.append(content, content.feedClass, to: key, under: rules, at: now, into: &effects)
        case .barrage, .tip, .counter: self.publishTip(content, to: key, under: rules, at: now, into: &effects)
        }
    }

    /// Updates the seated users of this live.
    ///
    /// Only seated users may send speaking levels, so the levels of users who left their seats are removed.
    private mutating func updateSeated(_ record: StageRecord) {
        let seated = record.seats.compactMap(\.occupant).filter { $0.live == record.live }.map(\.user.userID)
        guard seated != self.rights.seated else { return }
        self.rights.seated = seated
        let wasPending = self.counters.isPending(.speaking)
        self.counters.retainVoices { seated.contains($0.user) }
        if !wasPending, self.counters.isPending(.speaking) {
            self.scheduleWake(at: self.counters.nextPublishTime(.speaking))
        }
    }

    /// Appends the feed's last item (I1), whose statistics include the pending counters.
    ///
    /// `ending` has the statistics that this machine does not count: the viewers and the duration.
    mutating func end(
        _ ending: LiveStatistics, to key: LiveKey, _ reason: LiveEndReason, under rules: AppRules, at now: Timestamp,
        into effects: inout [Effect]
    ) {
        for kind in Counters.Kind.allCases where kind != .summary && self.counters.isPending(kind) {
            self.ledger.countDropped(.counter, .merged)
        }
        self.counters = Counters(openedAt: now)
        self.numbers.degradedUntil = nil
        self.callerAwaitingEnd = nil
        self.numbers.wakeAt = nil
        self.statistics.totalViewers = ending.totalViewers
        self.statistics.liveDuration = ending.liveDuration
        let content = FeedContent.liveEnded(reason: reason, statistics: self.statistics)
        self.append(content, .control, to: key, under: rules, at: now, into: &effects)
        self.numbers.removeAt = now + BarrageMachine.endedLifetime
    }
}

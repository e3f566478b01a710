// SPDX-License-Identifier: Apache-2.0
import CoreKit
import PlazaModel

/// What other machines tell a feed.
extension FeedRow {
    /// Takes in a fact, and tells the viewers as its class allows.
    mutating func tell(
        _ content: FeedContent, to key: LiveKey, under rules: AppRules, at now: Timestamp, into effects: inout [Effect]
    ) {
        if self.hasEnded {
            self.ledger.countRefused(.ended)
            return
        }
        switch content {
        case .audienceJoined:
            // An entry counts also when nobody is told of it.
            self.statistics.totalViewers += 1
            self.summaryChanged(at: now)
        case .stage(let record, _): self.seats(record)
        case .text, .custom, .audienceLeft, .infoChanged, .metadataChanged, .adminSet, .adminRevoked, .gift, .likes,
            .speaking, .summary, .messageDisabled, .userChanged, .tips, .liveEnded:
            break
        }
        switch content.feedClass {
        case .control, .gift:
            self.enter(content, content.feedClass, to: key, under: rules, at: now, into: &effects)
        case .barrage, .tip, .counter: self.tip(content, to: key, under: rules, at: now, into: &effects)
        }
    }

    /// Who sits in this live may be heard; who left falls silent.
    private mutating func seats(_ record: StageRecord) {
        let seated = record.seats.compactMap(\.occupant).filter { $0.live == record.live }.map(\.user.userID)
        guard seated != self.rights.seated else { return }
        self.rights.seated = seated
        let before = self.counters.isWaiting(.speaking)
        self.counters.keepVoices { seated.contains($0.user) }
        if !before, self.counters.isWaiting(.speaking) { self.wake(at: self.counters.mayTell(.speaking)) }
    }

    /// Writes the feed's last item (I1); what waited is in its figures.
    mutating func end(
        _ known: LiveStatistics, to key: LiveKey, _ reason: LiveEndReason, under rules: AppRules, at now: Timestamp,
        into effects: inout [Effect]
    ) {
        for kind in Counters.Kind.allCases where kind != .summary && self.counters.isWaiting(kind) {
            self.ledger.countDropped(.counter, .merged)
        }
        self.counters = Counters(openedAt: now)
        self.numbers.degradedUntil = nil
        self.waitsForEnd = nil
        self.numbers.wakeAt = nil
        self.statistics.totalViewers = known.totalViewers
        self.statistics.liveDuration = known.liveDuration
        let content = FeedContent.liveEnded(reason: reason, statistics: self.statistics)
        self.enter(content, .control, to: key, under: rules, at: now, into: &effects)
        self.numbers.removeAt = now + BarrageMachine.endedLifetime
    }
}

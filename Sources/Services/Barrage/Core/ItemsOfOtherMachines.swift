// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel

/// Items that other machines publish in a feed.
extension FeedRow {
    /// Applies an item of another machine to the feed's state, and publishes the item.
    ///
    /// The budget may drop a tip (a low-priority item, such as a user's entry). It never drops control items and gifts.
    mutating func publishMachineItem(
        _ content: FeedContent, to key: LiveKey, under rules: AppRules, at now: Timestamp, into effects: inout [Effect]
    ) {
        if self.hasEnded {
            self.ledger.countRefused(.ended)
            return
        }
        switch content {
        // The user came back within a minute, and the visit is already counted (R3.31 in docs/RULES.md).
        case .audienceJoined(_, continuesVisit: true?): break
        case .audienceJoined:
            // A join is counted even if its tip is dropped.
            self.statistics.totalViewers = self.statistics.totalViewers.saturatingAdd(1)
            self.markSummaryChanged(at: now)
        case .stage(let record, _): self.updateSeatedUsers(record)
        case .text, .custom, .audienceLeft, .infoChanged, .metadataChanged, .adminSet, .adminRevoked, .gift, .likes,
            .speaking, .summary, .messageDisabled, .userChanged, .tips, .liveEnded:
            break
        }
        switch content.feedClass {
        case .control, .gift:
            self.append(content, content.feedClass, to: key, under: rules, at: now, into: &effects)
        // Other machines publish no barrage and no counters; such an item would be treated as a tip.
        case .barrage, .tip, .counter: self.publishTip(content, to: key, under: rules, at: now, into: &effects)
        }
    }

    /// Updates the users who sit on seats of this live, and removes the speaking levels (`voices`) of all other users.
    private mutating func updateSeatedUsers(_ record: StageRecord) {
        let seated = record.seats.compactMap(\.occupant).filter { $0.live == record.live }.map(\.user.userID)
        guard seated != self.rights.seated else { return }
        self.rights.seated = seated
        let wasPending = self.counters.isPending(.speaking)
        self.counters.retainVoices { seated.contains($0.user) }
        if !wasPending, self.counters.isPending(.speaking) {
            self.scheduleWake(at: self.counters.nextPublishTime(.speaking))
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
internal import MachineKit
internal import PlazaModel

/// Checks I4 (docs/RULES.md) in the live that lasts as long as a run: joins and leaves show at once, and a silent
/// viewer is shown as having left 90 to 92 s after its last sign of life.
///
/// A user in the live, the watcher, receives the tips: feed items that say that a user joined or left. A viewer has a
/// presence lease, which ends 90 s after its last sign of life.
///
/// Faults excuse lateness, but never an early leave:
/// - A join or leave that is due during a fault, or before the recovery from it, may show until the recovery.
/// - A fault of presence, of Redis or of a broker may stop the leases for a while. Each lease ends that much later.
/// - When Redis may have lost the leases, presence starts again with the viewers who are connected to gateways. A
///   viewer who is not connected leaves the list without a tip.
package enum PresenceChecker {
    /// How soon an answered join or leave must show (PROTOCOL.md, section 9).
    static let showLimit = Milliseconds.seconds(1)
    /// How long a viewer is shown as present, at the least, after its last sign of life.
    static let lease = Milliseconds.seconds(90)
    /// How long after its last sign of life a silent viewer's leave must show at the latest.
    static let leaseLimit = Milliseconds.seconds(92)
    /// How long after a missed item the watcher may record the gap in its feed.
    ///
    /// A gap that is recorded later than that is taken to concern other items.
    private static let gapSpan = Milliseconds.seconds(60)
    /// A run that lasts longer than 90 s must have decided about a join and a leave and have read the list of viewers,
    /// whatever its faults were.
    private static let minVisitSpan = Milliseconds.seconds(90)
    /// A run that lasts longer than 300 s must also have decided about a silence of a viewer.
    ///
    /// The limit is higher because a silence takes 90 s to show, and longer during faults.
    private static let minSilenceSpan = Milliseconds.seconds(300)

    /// Checks the history of a run.
    ///
    /// - Returns: the broken promises with the events that show them, and how much was decided.
    package static func result(of history: PresenceHistory) -> PresenceResult {
        var result = PresenceResult()
        for visit in history.visits {
            let visitCheck = VisitCheck(visit, in: history)
            result.addCounts(of: visitCheck)
            for text in visitCheck.findings {
                result.add(
                    Finding(promise: "I4", text: text),
                    PresenceEvidence.events(of: visit, until: visitCheck.deadline, in: history))
            }
        }
        for tip in history.tips where !tip.isJoin && history.stayers.contains(tip.user) {
            let finding = Finding(
                promise: "I5", text: "the watcher was told that \(tip.user) left \(history.live), who never did")
            result.add(finding, [PresenceEvidence.event(tip, in: history)])
        }
        for finding in Self.missingEvidence(result, history) { result.add(finding, []) }
        return result
    }

    /// One finding for each kind of event about which a run of this length has decided nothing, but should have.
    private static func missingEvidence(_ result: PresenceResult, _ history: PresenceHistory) -> [Finding] {
        guard let begin = history.begin else { return [] }
        let span = history.end - begin
        let kinds: [(name: String, minSpan: Milliseconds, count: Int)] = [
            ("join", Self.minVisitSpan, result.joins), ("leave", Self.minVisitSpan, result.leaves),
            ("read of the list", Self.minVisitSpan, history.pages.count),
            ("silence", Self.minSilenceSpan, result.silences + result.vanished),
        ]
        return kinds.filter { span > $0.minSpan && $0.count == 0 }.map { kind in
            Finding(promise: "coverage", text: "a run of \(span.inSeconds) s has decided no \(kind.name) (I4)")
        }
    }

    /// The check of one visit: what was decided about it, and what was found.
    ///
    /// A join or leave is decided if it showed, or if it was due and did not show although the watcher missed nothing.
    struct VisitCheck {
        let visit: PresenceHistory.Visit
        private(set) var isJoinDecided = false
        private(set) var isLeaveDecided = false
        /// Whether the viewer's leave was due and showed no tip, which is allowed when the leases may have been lost.
        private(set) var hasVanished = false
        /// How long after the last sign of life, or after the acknowledged leave, the leave showed; nil if it did not.
        private(set) var leaveDelay: Milliseconds?
        /// When the leave must have shown; nil if the visit has not ended.
        private(set) var deadline: Timestamp?
        private(set) var findings: [String] = []

        private let history: PresenceHistory
        private let faults: [FaultWindow]

        init(_ visit: PresenceHistory.Visit, in history: PresenceHistory) {
            self.visit = visit
            self.history = history
            self.faults = history.faults.sorted { $0.begin < $1.begin }
            self.checkJoin()
            self.checkLeave()
            self.checkPages()
        }

        /// The tips about the viewer's joins, or about its leaves, in the order of receipt.
        private func tips(isJoin: Bool) -> [PresenceHistory.Tip] {
            self.history.tips.filter { $0.user == self.visit.user && $0.isJoin == isJoin }
        }

        // MARK: Times

        /// The latest time at which an event that is due at `due` may show.
        ///
        /// If a fault has effects at `due`, this is the time of the recovery from the fault.
        private func limit(due: Timestamp) -> Timestamp {
            // The faults are sorted by begin, so the limit of one fault can fall into the next fault.
            self.faults.reduce(due) { limit, fault in
                fault.begin <= limit && fault.recoveredAt >= limit ? fault.recoveredAt : limit
            }
        }

        /// The latest time at which the leave of a viewer whose last sign of life was at `silentSince` may show.
        private func leaveLimit(silentSince: Timestamp) -> Timestamp {
            let due = self.faults.reduce(silentSince + PresenceChecker.leaseLimit) { due, fault in
                fault.begin <= due && fault.recoveredAt >= self.visit.joinSent ? due + fault.leaseStandstill : due
            }
            return self.limit(due: due)
        }

        /// Whether a fault between the join and `time` may have lost the leases.
        private func mayHaveVanished(by time: Timestamp) -> Bool {
            self.faults.contains {
                $0.losesLeases && $0.begin <= time && $0.recoveredAt >= self.visit.joinSent
            }
        }

        /// Whether the watcher may have missed an item that was sent between `begin` and `end`.
        private func mayBeMissed(from begin: Timestamp, to end: Timestamp) -> Bool {
            self.history.gaps.contains { $0 >= begin && $0 <= end + PresenceChecker.gapSpan }
        }

        // MARK: Joins

        private mutating func checkJoin() {
            let limit = self.limit(due: self.visit.joined + PresenceChecker.showLimit)
            let tips = self.tips(isJoin: true)
            if let first = tips.first {
                self.isJoinDecided = true
                if first.seen > limit {
                    let delay = Self.text(first.seen - self.visit.joined)
                    self.findings.append("the join of \(self.visit.user) showed only \(delay) after its answer")
                }
            } else if self.history.end > limit, !self.mayBeMissed(from: self.visit.joinSent, to: limit) {
                self.isJoinDecided = true
                self.findings.append("the join of \(self.visit.user) was acknowledged, and never showed")
            }
            if tips.count > 1, let last = tips.last, !self.mayHaveVanished(by: last.seen) {
                self.findings.append("\(self.visit.user) joined once, and was shown \(tips.count) times")
            }
        }

        // MARK: Leaves

        private mutating func checkLeave() {
            let tips = self.tips(isJoin: false)
            if tips.count > 1 {
                self.findings.append("\(self.visit.user) was shown as having left \(tips.count) times")
            }
            if let first = tips.first { self.checkNotEarly(first) }
            guard let ended = self.visit.ended else { return }
            let limit =
                self.visit.ending == .leave
                ? self.limit(due: ended + PresenceChecker.showLimit) : self.leaveLimit(silentSince: ended)
            self.deadline = limit
            if let first = tips.first {
                self.isLeaveDecided = true
                self.leaveDelay = first.seen - ended
                if first.seen > limit {
                    let delay = Self.text(first.seen - ended)
                    self.findings.append("\(self.leaveInWords) showed only \(delay) after \(self.delayStartInWords)")
                }
            } else if self.history.end > limit {
                if self.mayHaveVanished(by: limit) {
                    self.hasVanished = true
                } else if !self.mayBeMissed(from: self.visit.joinSent, to: limit) {
                    self.isLeaveDecided = true
                    self.findings.append(
                        "\(self.leaveInWords) did not show within \(Self.text(limit - ended)) after "
                            + self.delayStartInWords)
                }
            }
        }

        /// Checks that a leave did not show before the viewer left, or before its lease can have ended.
        private mutating func checkNotEarly(_ tip: PresenceHistory.Tip) {
            switch self.visit.ending {
            case .leave:
                if self.visit.endBegan.map({ tip.seen < $0 }) ?? true {
                    self.findings.append("\(self.visit.user) was shown as having left before it did")
                }
            case .cut, .silence:
                // The lease began at the join at the earliest. Later signs of life, such as heartbeats, only extend it.
                let silence = tip.at - self.visit.joinSent
                if silence < PresenceChecker.lease {
                    self.findings.append(
                        "\(self.visit.user) was shown as having left \(Self.text(silence)) after its join, "
                            + "before its lease of 90 s was over")
                }
            }
        }

        // MARK: The list

        /// Checks that the list has the viewer until its lease can have ended, and does not have it after its leave.
        private mutating func checkPages() {
            let goneAt = [self.tips(isJoin: false).first?.seen, self.deadline].compactMap(\.self).min()
            let user = self.visit.user
            if let goneAt, let page = self.history.pages.first(where: { $0.at > goneAt && $0.users.contains(user) }) {
                let delay = Self.text(page.at - goneAt)
                self.findings.append("the list has \(self.visit.user) \(delay) after it must have been gone")
            }
            guard self.visit.ending != .leave else { return }
            let missing = self.history.pages.first { page in
                page.at > self.visit.joined && page.at - self.visit.joinSent < PresenceChecker.lease
                    && !page.users.contains(self.visit.user) && !self.mayHaveVanished(by: page.at)
            }
            if let missing {
                let silence = Self.text(missing.at - self.visit.joinSent)
                self.findings.append(
                    "the list does not have \(self.visit.user) \(silence) after its join, "
                        + "before its lease of 90 s was over")
            }
        }

        // MARK: Words

        /// The leave, as the subject of a sentence.
        private var leaveInWords: String {
            switch self.visit.ending {
            case .leave: "the leave of \(self.visit.user)"
            case .cut: "the loss of \(self.visit.user), whose connection broke,"
            case .silence: "the loss of \(self.visit.user), of whom nothing arrived any more,"
            }
        }

        /// The event from which the delay of the leave is counted.
        private var delayStartInWords: String {
            self.visit.ending == .leave ? "its answer" : "its last sign of life"
        }

        private static func text(_ span: Milliseconds) -> String { "\(span.inSeconds) s" }
    }
}

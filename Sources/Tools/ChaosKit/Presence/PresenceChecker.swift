// SPDX-License-Identifier: Apache-2.0
internal import MachineKit
internal import PlazaModel

/// Decides I4 from the history of the live that lasts as long as a run: joins and leaves show at once, and a silent
/// viewer leaves 90 to 92 s after its last heartbeat.
///
/// Faults excuse some lateness, and never an early leave:
/// - While a fault lasts and until all must have recovered from it, a join or leave may show late: at the latest then.
/// - A fault of presence, of Redis or of a broker may stop the time of the leases, which all last longer by that.
/// - When Redis may have lost the leases, presence begins anew with those viewers whom the gateways have connected. A
///   viewer who was not among them is gone without a tip. The list must not show it any more.
package enum PresenceChecker {
    /// How soon what users do shows (PROTOCOL.md, section 9).
    static let showLimit = Milliseconds.seconds(1)
    /// How long a viewer may be silent before it counts as gone.
    static let lease = Milliseconds.seconds(90)
    /// How long after its last heartbeat a silent viewer's leave shows at the latest.
    static let leaseLimit = Milliseconds.seconds(92)
    /// How much later than an item that the watcher missed its gap may be found.
    ///
    /// A gateway replays what was missed in the last minute.
    private static let gapSpan = Milliseconds.seconds(60)
    /// After this time some joins, leaves and pages must have been decided, whatever the faults were.
    private static let spanOfVisits = Milliseconds.seconds(90)
    /// After this time also some silences, which last 90 s and longer under faults.
    private static let spanOfSilences = Milliseconds.seconds(300)

    /// All broken promises, each with the events that show it, and what was decided.
    package static func result(of history: PresenceHistory) -> PresenceResult {
        var result = PresenceResult()
        for visit in history.visits {
            let visitCheck = VisitCheck(visit, in: history)
            result.count(visitCheck)
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

    /// One finding for each thing about which a run of this length must have decided something, and has not.
    private static func missingEvidence(_ result: PresenceResult, _ history: PresenceHistory) -> [Finding] {
        guard let begin = history.begin else { return [] }
        let span = history.end - begin
        return [
            ("join", Self.spanOfVisits, result.joins), ("leave", Self.spanOfVisits, result.leaves),
            ("read of the list", Self.spanOfVisits, history.pages.count),
            ("silence", Self.spanOfSilences, result.silences + result.vanished),
        ].filter { span > $0.1 && $0.2 == 0 }.map { name, _, _ in
            Finding(promise: "coverage", text: "a run of \(span.inSeconds) s has decided no \(name) (I4)")
        }
    }

    /// The check of one visit: what was decided about it, and what was found.
    struct VisitCheck {
        let visit: PresenceHistory.Visit
        /// Whether its join was decided.
        private(set) var isJoinDecided = false
        /// Whether its leave was decided.
        private(set) var isLeaveDecided = false
        /// Whether the viewer was gone without a tip, as it may be when the leases were lost.
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

        /// The tips about the viewer of one kind, as they were received.
        private func tips(isJoin: Bool) -> [PresenceHistory.Tip] {
            self.history.tips.filter { $0.user == self.visit.user && $0.isJoin == isJoin }
        }

        // MARK: Times

        /// When something must show at the latest that is due at `due`: while a fault has its effects, when they end.
        private func latest(_ due: Timestamp) -> Timestamp {
            self.faults.reduce(due) { due, fault in
                fault.begin <= due && fault.recoveredAt >= due ? fault.recoveredAt : due
            }
        }

        /// When the lease of a viewer who was silent since `silence` must have ended at the latest.
        private func latestExpiry(_ silence: Timestamp) -> Timestamp {
            self.latest(
                self.faults.reduce(silence + PresenceChecker.leaseLimit) { due, fault in
                    fault.begin <= due && fault.recoveredAt >= self.visit.joinSent ? due + fault.leaseStandstill : due
                })
        }

        /// Whether the leases may have been lost between the join and `time`.
        private func mayHaveVanished(by time: Timestamp) -> Bool {
            self.faults.contains {
                $0.losesLeases && $0.begin <= time && $0.recoveredAt >= self.visit.joinSent
            }
        }

        /// Whether the watcher may have missed an item of this time.
        private func mayBeMissed(from begin: Timestamp, to end: Timestamp) -> Bool {
            self.history.gaps.contains { $0 >= begin && $0 <= end + PresenceChecker.gapSpan }
        }

        // MARK: Joins

        private mutating func checkJoin() {
            let limit = self.latest(self.visit.joined + PresenceChecker.showLimit)
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
            let due =
                self.visit.ending == .leave
                ? self.latest(ended + PresenceChecker.showLimit) : self.latestExpiry(ended)
            self.deadline = due
            if let first = tips.first {
                self.isLeaveDecided = true
                self.leaveDelay = first.seen - ended
                if first.seen > due {
                    let delay = Self.text(first.seen - ended)
                    self.findings.append("\(self.subject) showed only \(delay) after \(self.end)")
                }
            } else if self.history.end > due {
                if self.mayHaveVanished(by: due) {
                    self.hasVanished = true
                } else if !self.mayBeMissed(from: self.visit.joinSent, to: due) {
                    self.isLeaveDecided = true
                    self.findings.append(
                        "\(self.subject) did not show within \(Self.text(due - ended)) after \(self.end)")
                }
            }
        }

        /// Checks that a leave did not show before it could be true.
        private mutating func checkNotEarly(_ tip: PresenceHistory.Tip) {
            switch self.visit.ending {
            case .leave:
                if self.visit.endBegan.map({ tip.seen < $0 }) ?? true {
                    self.findings.append("\(self.visit.user) was shown as having left before it did")
                }
            case .cut, .mute:
                // The join is a sign of life, and later ones would only move the bound.
                let silence = tip.at - self.visit.joinSent
                if silence < PresenceChecker.lease {
                    self.findings.append(
                        "\(self.visit.user) was shown as having left \(Self.text(silence)) after its join, "
                            + "before its lease of 90 s was over")
                }
            }
        }

        // MARK: The list

        /// Checks that the list has the viewer while it may not be gone, and not any more when it must be.
        private mutating func checkPages() {
            let goneAt = [self.tips(isJoin: false).first?.seen, self.deadline].compactMap(\.self).min()
            if let goneAt, let page = self.history.pages.first(where: { self.lists($0, since: goneAt) }) {
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

        private func lists(_ page: PresenceHistory.Page, since time: Timestamp) -> Bool {
            page.at > time && page.users.contains(self.visit.user)
        }

        // MARK: Words

        /// The leave, as the subject of a sentence.
        private var subject: String {
            switch self.visit.ending {
            case .leave: "the leave of \(self.visit.user)"
            case .cut: "the loss of \(self.visit.user), whose connection broke,"
            case .mute: "the loss of \(self.visit.user), of whom nothing arrived any more,"
            }
        }

        private var end: String { self.visit.ending == .leave ? "its answer" : "its last sign of life" }

        private static func text(_ span: Milliseconds) -> String { "\(span.inSeconds) s" }
    }
}

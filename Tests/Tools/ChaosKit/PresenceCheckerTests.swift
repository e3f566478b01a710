// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel
import Testing

@testable import ChaosKit

/// Tests of `PresenceChecker`, which checks that joins and leaves show in time (I4, docs/RULES.md).
///
/// Each test puts a broken promise into a history, or a fault that excuses it. A tip is a feed item that says that a
/// user joined or left. The watcher, a client that stays in the live, receives the tips. A viewer has a presence lease,
/// which ends 90 s after its last sign of life; a silent viewer must be shown as having left at most 2 s later.
struct PresenceCheckerTests {
    private typealias History = PresenceHistory

    /// A time in seconds since the beginning of the run, which is at 01:00:00 (3,600,000 ms).
    private static func at(_ seconds: Double) -> Timestamp {
        Timestamp(milliseconds: 3_600_000 + Int64((seconds * 1000).rounded()))
    }

    /// The tip of a join that presence decided at `seconds`; the watcher received it at `seen`, or 10 ms after it was
    /// decided if `seen` is nil.
    private static func joinTip(_ user: UserID, _ seconds: Double, seen: Double? = nil) -> History.Tip {
        History.Tip(user: user, isJoin: true, at: Self.at(seconds), seen: Self.at(seen ?? seconds + 0.01))
    }

    /// The tip of a leave, with the same times as that of a join.
    private static func leaveTip(_ user: UserID, _ seconds: Double, seen: Double? = nil) -> History.Tip {
        History.Tip(user: user, isJoin: false, at: Self.at(seconds), seen: Self.at(seen ?? seconds + 0.01))
    }

    private static let silent: UserID = "silent"
    private static let leaver: UserID = "leaver"
    private static let watcher: UserID = "watcher"

    /// A history without broken promises, of two viewers who join at 10 s.
    ///
    /// One viewer falls silent at 10.06 s and is shown as gone at 100.5 s; the other leaves at 12 s.
    ///
    /// Tips 0 and 1 are the joins, tip 2 is the leaver's leave, and tip 3 (the last one) that of the silent viewer.
    /// Page 0 of the list has both viewers, page 1 only the silent one, page 2 none. The run lasts 300 s and has no
    /// fault.
    private static func history() -> History {
        var history = History(live: "hall", stayers: [Self.watcher], end: Self.at(300))
        history.visits = [
            .init(
                user: Self.silent, ending: .cut, joinSent: Self.at(10), joined: Self.at(10.05),
                endBegan: Self.at(10.06), ended: Self.at(10.06)),
            .init(
                user: Self.leaver, ending: .leave, joinSent: Self.at(10), joined: Self.at(10.05),
                endBegan: Self.at(12), ended: Self.at(12.05)),
        ]
        history.tips = [
            Self.joinTip(Self.silent, 10.04), Self.joinTip(Self.leaver, 10.04), Self.leaveTip(Self.leaver, 12.04),
            Self.leaveTip(Self.silent, 100.5),
        ]
        history.pages = [
            .init(at: Self.at(11), users: [Self.watcher, Self.silent, Self.leaver]),
            .init(at: Self.at(50), users: [Self.watcher, Self.silent]),
            .init(at: Self.at(120), users: [Self.watcher]),
        ]
        return history
    }

    private static func result(_ change: (inout History) -> Void) -> PresenceResult {
        var history = Self.history()
        change(&history)
        return PresenceChecker.result(of: history)
    }

    /// A fault from `begin` to `end`, after which joins and leaves may show late for 15 s.
    ///
    /// `standstill`: by how many seconds the fault may delay the end of a lease. `losesLeases`: whether Redis may have
    /// lost the leases, so that a viewer who is not connected is gone without a tip.
    private static func fault(
        _ begin: Double, _ end: Double?, standstill: Int64 = 0, losesLeases: Bool = false
    ) -> FaultWindow {
        FaultWindow(
            fault: "kill", begin: Self.at(begin), end: end.map(Self.at), recovery: .seconds(15),
            leaseStandstill: .seconds(standstill), losesLeases: losesLeases)
    }

    @Test func `a run that decides nothing although it was long enough is found`() {
        func findings(_ seconds: Double, _ change: (inout History) -> Void = { _ in }) -> [String] {
            var history = History(live: "hall", stayers: [Self.watcher], end: Self.at(seconds))
            history.begin = Self.at(0)
            change(&history)
            return PresenceChecker.result(of: history).findings
        }
        func finding(_ seconds: Int, _ name: String) -> String {
            "coverage: a run of \(seconds).0 s has decided no \(name) (I4)"
        }
        #expect(findings(90) == [])
        #expect(findings(91) == ["join", "leave", "read of the list"].map { finding(91, $0) })
        #expect(findings(301).last == finding(301, "silence"))
        #expect(Self.result { $0.begin = Self.at(-10) }.findings == [])
    }

    @Test func `joins, leaves and silences that show in time are counted, and nothing is found`() {
        let result = Self.result { _ in }
        #expect(result.findings == [])
        #expect(result.joins == 2 && result.leaves == 1 && result.silences == 1)
        #expect(result.vanished == 0 && result.undecided == 0)
        // From the silence at 10.06 s to the tip, which was received at 100.51 s.
        #expect(result.shortestSilence == 90_450 && result.longestSilence == 90_450)
        #expect(result.lines.count == 1 && result.lines[0].hasSuffix(": held"))
    }

    // MARK: Too early

    @Test(arguments: [0.0, 45, 89.99])
    func `I4 a silent viewer whose leave shows before 90 s is found, whatever fault there was`(seconds: Double) {
        let result = Self.result { history in
            history.tips[3] = Self.leaveTip(Self.silent, 10 + seconds)
            history.pages = []
            history.faults = [Self.fault(5, 60, standstill: 20, losesLeases: true)]
        }
        #expect(result.findings.count == 1)
        #expect(result.findings[0].hasPrefix("I4: silent was shown as having left"))
        #expect(result.findings[0].hasSuffix("after its join, before its lease of 90 s was over"))
    }

    @Test func `I4 the machine's time of a leave counts, also when its delivery was held up`() {
        // The watcher got the tip 91 s after the join, but presence had decided the leave after 89 s already.
        let result = Self.result { $0.tips[3] = Self.leaveTip(Self.silent, 99, seen: 101) }
        #expect(result.findings.count == 1 && result.findings[0].contains("89.0 s after its join"))
    }

    @Test func `I4 a viewer who is missing in the list before 90 s is found, unless Redis may have lost the leases`() {
        let omitFromList: (inout History) -> Void = { $0.pages[1].users = [Self.watcher] }
        let finding = "I4: the list does not have silent 40.0 s after its join, before its lease of 90 s was over"
        #expect(Self.result(omitFromList).findings == [finding])
        #expect(
            Self.result { history in
                omitFromList(&history)
                history.faults = [Self.fault(45, 45, losesLeases: true)]
            }.findings == [])
        // A fault that leaves the leases alone is no excuse.
        #expect(
            Self.result { history in
                omitFromList(&history)
                history.faults = [Self.fault(45, 45, standstill: 5)]
            }.findings == [finding])
    }

    @Test func `I4 a leave that shows before it was sent is found`() {
        let result = Self.result { $0.tips[2] = Self.leaveTip(Self.leaver, 11) }
        #expect(result.findings == ["I4: leaver was shown as having left before it did"])
    }

    // MARK: Too late

    @Test func `I4 a silent viewer whose leave shows after 92 s is found`() {
        #expect(Self.result { $0.tips[3] = Self.leaveTip(Self.silent, 102, seen: 102.06) }.findings == [])
        let result = Self.result { $0.tips[3] = Self.leaveTip(Self.silent, 102, seen: 102.07) }
        #expect(
            result.findings == [
                "I4: the loss of silent, whose connection broke, showed only 92.0 s after its last sign of life"
            ])
    }

    @Test func `I4 a silence without a leave is found, and one whose leave is not due yet is not`() {
        let omitLeave: (inout History) -> Void = { $0.tips.removeLast() }
        #expect(
            Self.result(omitLeave).findings == [
                "I4: the loss of silent, whose connection broke, did not show within 92.0 s after its last sign of life"
            ])
        let result = Self.result { history in
            omitLeave(&history)
            history.end = Self.at(102)
            history.pages.removeLast()
        }
        #expect(result.findings == [] && result.silences == 0 && result.undecided == 1)
    }

    @Test func `I4 a join or leave that shows after a second, or never, is found`() {
        #expect(
            Self.result { $0.tips[0] = Self.joinTip(Self.silent, 11, seen: 11.1) }.findings
                == ["I4: the join of silent showed only 1.0 s after its answer"])
        #expect(
            Self.result { $0.tips.remove(at: 0) }.findings
                == ["I4: the join of silent was acknowledged, and never showed"])
        #expect(
            Self.result { $0.tips[2] = Self.leaveTip(Self.leaver, 13, seen: 13.2) }.findings
                == ["I4: the leave of leaver showed only 1.1 s after its answer"])
        #expect(
            Self.result { $0.tips.remove(at: 2) }.findings
                == ["I4: the leave of leaver did not show within 1.0 s after its answer"])
    }

    @Test func `a fault excuses what shows late until all must have recovered from it, and no longer`() {
        // The fault ends at 100 s, so the leave of the silent viewer may show at 100 + 15 = 115 s at the latest.
        for (seconds, isFound) in [(114.9, false), (115.1, true)] {
            let result = Self.result { history in
                history.tips[3] = Self.leaveTip(Self.silent, 101, seen: seconds)
                history.pages.removeLast()
                history.faults = [Self.fault(99, 100)]
            }
            #expect(result.findings.isEmpty != isFound, "\(seconds): \(result.findings)")
        }
        // The fault ended at 41 s, and its effects end at 41 + 15 = 56 s. The leave shows at 106.01 s, but was due at
        // 10.06 + 92 = 102.06 s. Only a fault that delayed the end of the lease by 5 s excuses this.
        for (standstill, isFound) in [(Int64(0), true), (5, false)] {
            let result = Self.result { history in
                history.tips[3] = Self.leaveTip(Self.silent, 106)
                history.faults = [Self.fault(40, 41, standstill: standstill)]
            }
            #expect(result.findings.isEmpty != isFound, "\(standstill): \(result.findings)")
        }
        // While a fault lasts, nothing is due.
        let running = Self.result { history in
            history.tips.removeLast()
            history.pages.removeLast()
            history.faults = [Self.fault(99, nil)]
        }
        #expect(running.findings == [] && running.undecided == 1)
    }

    // MARK: Lost leases

    @Test func `a viewer who is gone without a tip is excused when Redis may have lost the leases, and counted`() {
        let result = Self.result { history in
            history.tips.removeLast()
            history.faults = [Self.fault(45, 45, standstill: 20, losesLeases: true)]
            history.pages[1].users = [Self.watcher]
            history.pages.append(.init(at: Self.at(200), users: [Self.watcher]))
        }
        #expect(result.findings == [] && result.vanished == 1 && result.silences == 0)
        #expect(result.lines[0].contains("1 gone without a tip when Redis was lost"))
    }

    @Test func `I4 a viewer who stays in the list is found, also when Redis may have lost the leases`() {
        // Whatever Redis lost, the viewer must be gone at 10.06 + 92 + 20 = 122.06 s: the fault may delay the end of
        // leases by 20 s.
        let result = Self.result { history in
            history.tips.removeLast()
            history.faults = [Self.fault(45, 45, standstill: 20, losesLeases: true)]
            history.pages[2] = .init(at: Self.at(125), users: [Self.watcher, Self.silent])
        }
        #expect(result.findings == ["I4: the list has silent 2.9 s after it must have been gone"])
        // Without a fault, the tip says that the viewer is gone.
        let withoutFault = Self.result { $0.pages[2] = .init(at: Self.at(101), users: [Self.watcher, Self.silent]) }
        #expect(withoutFault.findings == ["I4: the list has silent 0.4 s after it must have been gone"])
    }

    // MARK: Twice, and never left

    @Test func `I4 a viewer who is shown twice as joined or left is found`() {
        #expect(
            Self.result { $0.tips.append(Self.joinTip(Self.silent, 60)) }.findings
                == ["I4: silent joined once, and was shown 2 times"])
        #expect(
            Self.result { $0.tips.append(Self.leaveTip(Self.silent, 110)) }.findings
                == ["I4: silent was shown as having left 2 times"])
    }

    @Test func `I5 a leave of the watcher is found`() throws {
        let result = Self.result { $0.tips.append(Self.leaveTip(Self.watcher, 60)) }
        #expect(result.findings == ["I5: the watcher was told that watcher left hall, who never did"])
        #expect(
            try #require(result.evidence.first).lines == ["01:01:00.010 the watcher in hall gets that watcher left"])
    }

    // MARK: Gaps

    @Test func `what the watcher may have missed is not decided`() {
        let result = Self.result { history in
            history.tips.removeLast()
            history.gaps = [Self.at(130)]
        }
        #expect(result.findings == [] && result.undecided == 1 && result.silences == 0)
        // A gap at 200 s is too late to hide the leave, which was due at 102 s.
        #expect(
            Self.result { history in
                history.tips.removeLast()
                history.gaps = [Self.at(200)]
            }.findings.count == 1)
    }

    // MARK: Evidence

    @Test func `the evidence is the viewer's visit with the faults that could excuse it`() throws {
        let result = Self.result { history in
            history.tips[3] = Self.leaveTip(Self.silent, 110)
            history.faults = [Self.fault(5, 6), Self.fault(60, 61), Self.fault(150, 151)]
        }
        let evidence = try #require(result.evidence.first)
        #expect(evidence.finding == result.findings.first && evidence.isShortest)
        #expect(
            evidence.lines == [
                "01:00:05.000 fault kill begins",
                "01:00:06.000 fault kill is over",
                "01:00:10.000 silent in hall sends its join",
                "01:00:10.050 silent in hall has the answer to its join",
                "01:00:10.050 the watcher in hall gets that silent joined",
                "01:00:10.060 silent in hall is silent from here on: its connection broke",
                "01:00:11.000 the list in hall has silent",
                "01:01:00.000 fault kill begins",
                "01:01:01.000 fault kill is over",
                "01:01:42.060 silent in hall must have been gone",
                "01:01:50.010 the watcher in hall gets that silent left",
                "01:02:00.000 the list in hall does not have silent",
            ])
    }

    @Test func `a report has what was decided, fails for a finding, and keeps it as JSON`() throws {
        let held = ChaosReport(presence: [Self.result { _ in }])
        #expect(held.table.contains("I4 in the run of seed 0: 2 joins, 1 leaves and 1 silences of viewers decided"))
        let broken = ChaosReport(presence: [Self.result { $0.tips.removeLast() }])
        #expect(!broken.isPassed)
        #expect(broken.table.contains("    I4: the loss of silent"))
        #expect(broken.table.contains("FAILED: joins or leaves did not show as promised (I4)."))
        // deploy/test.sh does not repeat a failed suite that has printed a line of this form.
        #expect(broken.table.contains(try Regex("BROKEN: (.*; )?[IR][0-9.]+: ")))
        #expect(try ChaosReport(json: broken.json) == broken)
        var combined = held
        combined.append(broken)
        #expect(combined.presence?.count == 2)
    }
}

// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import ScaleKit

/// Tests of which faults are found when the number of instances of a service changes.
struct ScaleChangeTests {
    /// The findings of a change from `from` to `to` instances, in which `setFigures` sets what was measured.
    private static func findings(
        from: Int = 1, to: Int = 2, _ setFigures: (inout ScaleChange) -> Void
    ) -> [ScaleFinding] {
        var change = ScaleChange(from: from, to: to)
        setFigures(&change)
        return change.allFindings
    }

    @Test func `a change without faults has no findings`() { #expect(Self.findings { _ in } == []) }

    @Test func `I8 each kind of fault breaks one promise, whether instances are added, removed or stay`() {
        let promises: [(count: WritableKeyPath<ScaleChange, Int>, promise: ScalePromise)] = [
            (\.lost, .loss), (\.repeated, .repetition), (\.reordered, .order), (\.misplaced, .order),
            (\.orderConflicts, .oneOrder), (\.falseLeaves, .presence),
        ]
        for (count, promise) in promises {
            for (from, to) in [(1, 2), (2, 4), (4, 2), (2, 1), (4, 4)] {
                let findings = Self.findings(from: from, to: to) { $0[keyPath: count] = 3 }
                #expect(findings.map(\.promise) == [promise], "\(from) to \(to)")
            }
        }
    }

    @Test func `a feed may pause for half a second while instances are added; for other changes no limit is checked`() {
        #expect(Self.findings { $0.pauseMilliseconds = 500 } == [])
        #expect(Self.findings { $0.pauseMilliseconds = 500.1 }.map(\.promise) == [.pause])
        #expect(Self.findings(from: 4, to: 2) { $0.pauseMilliseconds = 900 } == [])
    }

    @Test func `messages that end before the change is complete do not prove that no feed paused`() {
        let findings = Self.findings { change in
            change.spreads = [PartitionSpread(machine: "seat", partitions: 2, owned: ["a": 1, "b": 1])]
            change.requireEvidence(of: .seats, isCovered: false)
        }
        #expect(findings.map(\.promise) == [.pause])
    }

    @Test func `a service whose instances name no partitions does not pass, except for gateways, which own none`() {
        let ofSeats = Self.findings { $0.requireEvidence(of: .seats, isCovered: true) }
        #expect(ofSeats.map(\.promise) == [.spread])
        #expect(Self.findings { $0.requireEvidence(of: .gateway, isCovered: true) } == [])
    }

    @Test func `I7 one order is proved only if viewers of a live are on all gateways and compare messages`() {
        func findings(_ gateways: Int, _ messages: Int) -> [ScaleFinding] {
            Self.findings(from: 4, to: 4) { change in
                (change.comparedGateways, change.comparedMessages) = (gateways, messages)
                change.requireEvidence(of: .gateway, isCovered: true)
            }
        }
        #expect(findings(4, 960) == [])
        #expect(findings(3, 960) == [ScaleFinding(.oneOrder, "the viewers of a live were on 3 gateways, not 4")])
        #expect(findings(4, 0).map(\.promise) == [.oneOrder])
    }

    @Test func `an uneven spread of partitions breaks one promise, and needless moves break another`() {
        let findings = Self.findings { change in
            change.moves = [
                PartitionMoves(machine: "seat", newcomer: "b", instances: 2, partitions: 12, moved: 12, taken: 6)
            ]
            change.spreads = [PartitionSpread(machine: "seat", partitions: 12, owned: ["a": 4, "b": 8])]
        }
        #expect(
            findings == [
                ScaleFinding(.spread, "a owns 4 of the 12 partitions of seat, not 6"),
                ScaleFinding(.spread, "b owns 8 of the 12 partitions of seat, not 6"),
                ScaleFinding(
                    .stickiness,
                    "12 of the 12 partitions of seat moved when b was added, of which b took 6; at most 7 may move"),
            ])
    }
}

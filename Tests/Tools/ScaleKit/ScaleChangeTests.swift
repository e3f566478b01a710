// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import ScaleKit

/// Tests of what is a fault while the number of instances changes.
struct ScaleChangeTests {
    /// The findings of a change from `from` to `to` instances.
    private static func findings(
        from: Int = 1, to: Int = 2, _ change: (inout ScaleChange) -> Void
    ) -> [ScaleFinding] {
        var result = ScaleChange(from: from, to: to)
        change(&result)
        return result.allFindings
    }

    @Test func `a change without faults has no findings`() { #expect(Self.findings { _ in } == []) }

    @Test func `I8 each kind of fault breaks its promise, when instances come and when they go`() {
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

    @Test func `a feed may pause for half a second while instances are added, and is not judged otherwise`() {
        #expect(Self.findings { $0.pauseMilliseconds = 500 } == [])
        #expect(Self.findings { $0.pauseMilliseconds = 500.1 }.map(\.promise) == [.pause])
        #expect(Self.findings(from: 4, to: 2) { $0.pauseMilliseconds = 900 } == [])
    }

    @Test func `a pause is not judged by messages that ended before the change was complete`() {
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

    @Test func `I7 one order is only shown by viewers of a live that are on all gateways`() {
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

    @Test func `uneven partitions and needless moves break promises of their own`() {
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
                    "12 of the 12 partitions of seat moved when b was added, which took 6; at most 7 may"),
            ])
    }
}

// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
package import MachineKit

/// When a fault was injected, and how long its effects on joins and leaves may last.
package struct FaultWindow: Hashable, Sendable {
    /// The description of the fault.
    package var fault: String
    package var begin: Timestamp
    /// When the fault was over; nil while it lasts.
    package var end: Timestamp?
    /// How long joins and leaves may still show late after the end of the fault.
    package var recovery: Milliseconds
    /// How much later the presence leases may end because of the fault.
    package var leaseStandstill: Milliseconds
    /// Whether the fault may lose the presence leases.
    package var losesLeases: Bool

    package init(
        fault: String, begin: Timestamp, end: Timestamp?, recovery: Milliseconds,
        leaseStandstill: Milliseconds = Milliseconds(0), losesLeases: Bool = false
    ) {
        self.fault = fault
        self.begin = begin
        self.end = end
        self.recovery = recovery
        self.leaseStandstill = leaseStandstill
        self.losesLeases = losesLeases
    }

    /// From when on joins and leaves must show in time again; `distantFuture` while the fault lasts.
    package var recoveredAt: Timestamp { self.end.map { $0 + self.recovery } ?? .distantFuture }
}

/// The faults of a run, for the checks that span its rounds.
final class FaultLog: Sendable {
    private let entries = Locked<[FaultWindow]>([])

    /// The faults so far, in the order of their beginning.
    var windows: [FaultWindow] { self.entries.withLock { $0 } }

    /// Records when a round's fault begins and ends.
    ///
    /// - Parameters:
    ///   - round: the round.
    ///   - inject: injects the fault; returns when it is over.
    /// - Returns: the result of `inject`.
    func record<R>(_ round: ChaosRound, _ inject: () async -> R) async -> R {
        let window = FaultWindow(
            fault: round.fault.description, begin: .ofThisMachine, end: nil,
            recovery: Milliseconds(round.limits.recovery),
            leaseStandstill: Milliseconds(round.limits.leaseStandstill), losesLeases: round.limits.losesLeases)
        let index = self.entries.withLock { entries in
            entries.append(window)
            return entries.count - 1
        }
        let result = await inject()
        self.entries.withLock { $0[index].end = .ofThisMachine }
        return result
    }
}

// SPDX-License-Identifier: Apache-2.0
internal import StageCore

/// Rows of the seat machine's state topic, then inputs that use them, as a `RowScript`.
public enum SeatRowsFuzz: FuzzTarget {
    /// Handles one input.
    public static func run(_ input: [UInt8]) { MachineScript.run(input, Self.machine) }

    private static let machine = SeatMachine(policies: MachineScript.policies)
}

// SPDX-License-Identifier: Apache-2.0
internal import BarrageCore

/// Rows of the fan-out's state topic, then inputs that use them, as a `RowScript`.
public enum BarrageRowsFuzz: FuzzTarget {
    /// Handles one input.
    public static func run(_ input: [UInt8]) { MachineScript.run(input, Self.machine) }

    private static let machine = BarrageMachine(policies: MachineScript.policies)
}

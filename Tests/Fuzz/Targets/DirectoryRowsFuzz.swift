// SPDX-License-Identifier: Apache-2.0
internal import DirectoryCore

/// Rows of the directory's state topic, then inputs that use them, as a `RowScript`.
public enum DirectoryRowsFuzz: FuzzTarget {
    /// Handles one input.
    public static func run(_ input: [UInt8]) { MachineScript.run(input, Self.machine) }

    private static let machine = DirectoryMachine(policies: MachineScript.policies)
}

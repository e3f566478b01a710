// SPDX-License-Identifier: Apache-2.0
import MachineKit
package import PlazaModel

/// The hash of a message's sender, which is cheaper to store and compare than the user's id.
package struct SenderHash: Hashable, Sendable {
    /// The `StableHash` of the user's id; 0 for `nobody`, whose messages count towards no sender's share.
    package let hash: UInt64
    /// Whether the sender's messages may fill the whole budget and are not limited by a share (R12.3 in docs/RULES.md).
    ///
    /// True for the live's owner and for `nobody`.
    package let mayFillBudget: Bool

    /// The sender of items of other machines, of gifts, and of messages of an app's server: no user.
    package static let nobody = SenderHash(hash: 0, mayFillBudget: true)

    /// The hash of a user.
    package init(_ user: UserID, mayFillBudget: Bool = false) {
        self.init(hash: StableHash.of(user.text), mayFillBudget: mayFillBudget)
    }

    private init(hash: UInt64, mayFillBudget: Bool) {
        self.hash = hash
        self.mayFillBudget = mayFillBudget
    }
}

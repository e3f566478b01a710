// SPDX-License-Identifier: Apache-2.0
package import MachineKit
package import PlazaModel

/// An open request of one live to connect with another; it ends exactly once (I13, docs/RULES.md).
package struct CoHostRequest: Equatable, Sendable, Codable {
    package var inviter: LiveID
    package var invitee: LiveID
    /// The layout template of the connection, if accepting the request creates one.
    package var templateID: Int
    package var expiresAt: Timestamp
    /// The inviter's text for the invitee; nil if there is none, and in rows of earlier versions.
    package var extensionInfo: String?
}

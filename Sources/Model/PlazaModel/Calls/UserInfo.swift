// SPDX-License-Identifier: Apache-2.0
import MachineKit

/// A user's public profile (R1.4).
///
/// Stored by reference, because every message and most rows contain one.
package struct UserInfo: Hashable, Sendable, Codable {
    private struct Fields: Hashable, Sendable, Codable {
        var userID: UserID
        var userName: String
        var avatarURL: String
    }

    private var fields: Reference<Fields>

    package init(userID: UserID, userName: String = "", avatarURL: String = "") {
        self.fields = Reference(Fields(userID: userID, userName: userName, avatarURL: avatarURL))
    }

    package init(from decoder: any Decoder) throws { self.fields = try Reference(from: decoder) }
    package func encode(to encoder: any Encoder) throws { try self.fields.encode(to: encoder) }

    package var userID: UserID { self.fields.value.userID }
    package var userName: String {
        get { self.fields.value.userName }
        set { self.fields.value.userName = newValue }
    }
    package var avatarURL: String {
        get { self.fields.value.avatarURL }
        set { self.fields.value.avatarURL = newValue }
    }
}

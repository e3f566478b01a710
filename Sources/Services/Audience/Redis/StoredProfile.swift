// SPDX-License-Identifier: Apache-2.0
internal import MachineKit
internal import PlazaModel

/// A user's profile as stored in Redis: the length of the name in bytes, a space, the name, the avatar's URL.
///
/// The scripts do not read it.
enum StoredProfile {
    /// The stored text for a user.
    static func text(_ user: UserInfo) -> String { "\(user.userName.utf8.count) \(user.userName)\(user.avatarURL)" }

    /// Reads an entry of the viewer list: the time of the join, a space, the profile.
    static func entry(_ text: String) -> (joinedAt: Timestamp, profile: Substring)? {
        guard let blank = text.firstIndex(of: " "), let joinedAt = Int64(text[..<blank]) else { return nil }
        return (Timestamp(milliseconds: joinedAt), text[text.index(after: blank)...])
    }

    /// Reads a profile; for a malformed text, returns the user without name and avatar.
    static func user(_ id: UserID, _ text: some StringProtocol) -> UserInfo {
        let bytes = Array(text.utf8)
        guard let blank = bytes.firstIndex(of: UInt8(ascii: " ")),
            let length = Int(String(decoding: bytes[..<blank], as: UTF8.self)), length >= 0,
            length <= bytes.count - blank - 1
        else { return UserInfo(userID: id) }
        let name = bytes[(blank + 1)..<(blank + 1 + length)]
        return UserInfo(
            userID: id, userName: String(decoding: name, as: UTF8.self),
            avatarURL: String(decoding: bytes[(blank + 1 + length)...], as: UTF8.self))
    }
}

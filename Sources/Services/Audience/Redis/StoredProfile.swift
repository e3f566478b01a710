// SPDX-License-Identifier: Apache-2.0
internal import MachineKit
internal import PlazaModel

/// A user's profile as stored in Redis: the length of the name in bytes, a space, the name, the avatar's URL.
///
/// The scripts do not parse profiles, but contain the text `empty`, the profile of a user without name and avatar.
enum StoredProfile {
    /// The profile without name and avatar.
    static let empty = "0 "

    /// The stored text for a user.
    static func text(_ user: UserInfo) -> String { "\(user.userName.utf8.count) \(user.userName)\(user.avatarURL)" }

    /// Reads an entry of the audience list: the time of the join, a space, the profile.
    static func entry(_ text: String) -> (joinedAt: Timestamp, profile: Substring)? {
        guard let space = text.firstIndex(of: " "), let joinedAt = Int64(text[..<space]) else { return nil }
        return (Timestamp(milliseconds: joinedAt), text[text.index(after: space)...])
    }

    /// Reads a profile; for a malformed text, returns the user without name and avatar.
    static func user(_ id: UserID, _ text: some StringProtocol) -> UserInfo {
        let bytes = Array(text.utf8)
        guard let space = bytes.firstIndex(of: UInt8(ascii: " ")),
            let nameLength = Int(String(decoding: bytes[..<space], as: UTF8.self)), nameLength >= 0,
            nameLength <= bytes.count - space - 1
        else { return UserInfo(userID: id) }
        let name = bytes[(space + 1)..<(space + 1 + nameLength)]
        return UserInfo(
            userID: id, userName: String(decoding: name, as: UTF8.self),
            avatarURL: String(decoding: bytes[(space + 1 + nameLength)...], as: UTF8.self))
    }
}

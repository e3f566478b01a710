// SPDX-License-Identifier: Apache-2.0

extension UserInfo {
    /// Checks the texts of a profile, which are plain (R17.4).
    ///
    /// - Parameters:
    ///   - name: up to 100 bytes.
    ///   - avatarURL: up to 200 bytes.
    ///   - field: the prefix of the two parameters' names in the call; nil: none.
    /// - Returns: the error, which names the field and its limit; nil when both are valid.
    package static func validationError(name: String?, avatarURL: String?, of field: String? = nil) -> ReplyError? {
        if let name, !TextRule.isPlain(name, maxBytes: Limits.userNameBytes) {
            return .notPlain(field.map { $0 + "Name" } ?? "name", maxBytes: Limits.userNameBytes)
        }
        if let avatarURL, !TextRule.isPlain(avatarURL, maxBytes: Limits.urlBytes) {
            return .notPlain(field.map { $0 + "AvatarURL" } ?? "avatarURL", maxBytes: Limits.urlBytes)
        }
        return nil
    }
}

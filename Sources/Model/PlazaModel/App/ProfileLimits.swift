// SPDX-License-Identifier: Apache-2.0

extension UserInfo {
    /// Checks the texts of a profile, which must be plain (R17.4).
    ///
    /// - Parameters:
    ///   - name: up to 100 bytes.
    ///   - avatarURL: up to 200 bytes.
    ///   - prefix: the prefix of the two parameters' names in the call, such as `owner` for `ownerName`; nil for no
    ///     prefix.
    /// - Returns: the error, which names the parameter and its limit; nil when both texts are valid.
    package static func validationError(
        name: String?, avatarURL: String?, parameterPrefix prefix: String? = nil
    ) -> ReplyError? {
        if let name, !TextRule.isPlain(name, maxBytes: Limits.userNameBytes) {
            return .notPlain(prefix.map { $0 + "Name" } ?? "name", maxBytes: Limits.userNameBytes)
        }
        if let avatarURL, !TextRule.isPlain(avatarURL, maxBytes: Limits.urlBytes) {
            return .notPlain(prefix.map { $0 + "AvatarURL" } ?? "avatarURL", maxBytes: Limits.urlBytes)
        }
        return nil
    }
}

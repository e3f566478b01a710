// SPDX-License-Identifier: Apache-2.0

extension UserInfo {
    /// What is too long of what others see of a user.
    ///
    /// - Parameters:
    ///   - name: up to 100 bytes.
    ///   - avatarURL: up to 200 bytes.
    ///   - field: what a call's fields for them begin with; nil when they stand alone.
    /// - Returns: the refusal, which names the field and its limit; nil when both may be shown.
    package static func fault(name: String?, avatarURL: String?, of field: String? = nil) -> ReplyError? {
        if let name, name.utf8.count > Limits.userNameBytes {
            let field = field.map { $0 + "Name" } ?? "name"
            return ReplyError(.badParameter, "\(field) is over \(Limits.userNameBytes) bytes")
        }
        if let avatarURL, avatarURL.utf8.count > Limits.urlBytes {
            let field = field.map { $0 + "AvatarURL" } ?? "avatarURL"
            return ReplyError(.badParameter, "\(field) is over \(Limits.urlBytes) bytes")
        }
        return nil
    }
}

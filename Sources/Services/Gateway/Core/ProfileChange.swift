// SPDX-License-Identifier: Apache-2.0
package import PlazaModel

extension Caller {
    /// Applies a profile change to the caller; nil keeps the present name or avatar (R2.10).
    ///
    /// - Parameters:
    ///   - name: The new name.
    ///   - avatarURL: The address of the new avatar.
    ///   - hasFixedName: Whether the user's token sets the name.
    ///   - hasFixedAvatar: Whether the user's token sets the avatar.
    /// - Returns: The caller with the new name and avatar.
    /// - Throws: `noPermission` if the change is about what the token sets.
    package func changingProfile(
        name: String?, avatarURL: String?, hasFixedName: Bool, hasFixedAvatar: Bool
    ) throws(ReplyError) -> Caller {
        if (name != nil && hasFixedName) || (avatarURL != nil && hasFixedAvatar) {
            throw ReplyError(.noPermission, "the token says how you are shown; log in with another one")
        }
        var caller = self
        caller.user.userName = name ?? caller.user.userName
        caller.user.avatarURL = avatarURL ?? caller.user.avatarURL
        return caller
    }
}

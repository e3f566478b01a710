// SPDX-License-Identifier: Apache-2.0
package import PlazaModel

extension Caller {
    /// Applies a profile change to the caller; nil keeps the present name or avatar (R2.10).
    ///
    /// - Parameters:
    ///   - name: The new name, or nil.
    ///   - avatarURL: The address of the new avatar, or nil.
    ///   - hasFixedName: Whether the user's token sets the name.
    ///   - hasFixedAvatar: Whether the user's token sets the avatar.
    /// - Returns: The caller with the new name and avatar.
    /// - Throws: `noPermission` if the token sets the name or avatar that the change replaces.
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

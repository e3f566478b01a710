// SPDX-License-Identifier: Apache-2.0
package import PlazaModel

/// Properties of a command that say how presence handles it.
extension AudienceCommand {
    /// The caller to whom presence replies; nil if presence sends no reply.
    ///
    /// The caller of `banned` gets the reply from the directory.
    package var caller: Caller? {
        switch self {
        case .join(let caller), .leave(let caller), .kick(_, _, let caller), .list(_, _, let caller),
            .verifyAdminMembership(_, let caller), .verifyGuestMembership(_, _, let caller), .profile(let caller):
            caller
        case .opened, .ended, .heartbeats, .assert, .confirm, .banned, .unbanned, .announceMute, .rights, .signOff: nil
        }
    }

    /// Whether the command is a call whose outcome is recorded for retries, because it changes something.
    var isRecorded: Bool {
        switch self {
        case .join, .leave, .kick, .profile: true
        case .opened, .ended, .heartbeats, .assert, .list, .verifyAdminMembership, .verifyGuestMembership, .confirm,
            .banned, .unbanned, .announceMute, .rights, .signOff:
            false
        }
    }

    /// Whether a new presence epoch must begin after presence has decided this command without Redis.
    ///
    /// In a new epoch, gateways assert all their sessions again. True for a change that later heartbeats would not
    /// correct, and for `confirm`, because the machine that sent it repeats it only when a new epoch has settled.
    var needsEpochIfDecidedWithoutRedis: Bool {
        switch self {
        case .join, .leave, .kick, .assert, .ended, .banned, .signOff, .confirm: true
        case .opened, .heartbeats, .list, .verifyAdminMembership, .verifyGuestMembership, .unbanned, .announceMute,
            .rights, .profile:
            false
        }
    }

    /// Whether the caller must be in the live.
    ///
    /// The directory has already checked the callers of the commands that it forwards to presence.
    var requiresMembership: Bool {
        switch self {
        case .leave, .list, .profile: true
        case .opened, .ended, .join, .heartbeats, .assert, .kick, .verifyAdminMembership, .verifyGuestMembership,
            .confirm, .banned, .unbanned, .announceMute, .rights, .signOff:
            false
        }
    }
}

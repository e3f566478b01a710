// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel

/// Webhook events for changes of lives (R14.15 to R14.19).
extension DirectoryMachine {
    /// Appends the webhook event of a call that changed a live.
    ///
    /// - Parameters:
    ///   - call: the call, which was executed.
    ///   - before: the live's info before the call.
    ///   - info: the live's info after the call.
    ///   - now: the time of the call.
    ///   - effects: the effects to which the event is appended.
    func notifyBackend(
        _ call: LiveCall, _ before: LiveInfo, _ info: LiveInfo, at now: Timestamp, into effects: inout [Effect]
    ) {
        guard self.policies[call.key.app].hasWebhooks, info != before else { return }
        let by = call.caller.userID
        let content: WebhookContent
        switch call.command {
        case .updateInfo: content = .roomUpdated(info: info, by: by)
        case .setMetadata(_, let values, _): content = .metadataSet(values: values, by: by)
        case .deleteMetadata:
            let keys = before.metaData.keys.filter { info.metaData[$0] == nil }
            content = .metadataDeleted(keys: keys.sorted(), by: by)
        case .adminMembershipVerified(_, let user, _), .revokeAdmin(_, let user, _):
            content = .adminChanged(user: user, isAdmin: info.admins.contains(user), admins: info.admins, by: by)
        case .setAdmin, .kick, .ban, .unban, .mute, .end, .create, .open, .enter, .repeatOpen, .release, .closed,
            .occupancy, .profile, .bans, .mutes, .floor, .appSettings:
            return
        }
        effects.append(.webhook(WebhookEvent(call.key, at: now, content)))
    }
}

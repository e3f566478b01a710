// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel

/// Webhook events about the creation and the changes of lives (R14.15, R14.17, R14.18, R14.19).
extension DirectoryMachine {
    /// Sends an event about a new live to the app's backend.
    func sendCreationEvent(
        _ info: LiveInfo, _ key: LiveKey, by caller: UserID, at now: Timestamp, into effects: inout [Effect]
    ) {
        guard self.policies[key.app].hasWebhooks else { return }
        effects.append(.webhook(WebhookEvent(key, at: now, .roomCreated(info: info, by: caller))))
    }

    /// Sends an event about an executed call to the app's backend, if the call changed the live's info.
    ///
    /// - Parameters:
    ///   - call: the executed call.
    ///   - oldInfo: the live's info before the call.
    ///   - info: the live's info after the call.
    ///   - now: the time of the call.
    ///   - effects: the event is appended to this array.
    func sendChangeEvent(
        _ call: LiveCall, from oldInfo: LiveInfo, to info: LiveInfo, at now: Timestamp, into effects: inout [Effect]
    ) {
        guard self.policies[call.key.app].hasWebhooks, info != oldInfo else { return }
        let callerID = call.caller.userID
        let content: WebhookContent
        switch call.command {
        case .updateInfo: content = .roomUpdated(info: info, by: callerID)
        case .setMetadata(_, let values, _): content = .metadataSet(values: values, by: callerID)
        case .deleteMetadata:
            let keys = oldInfo.metaData.keys.filter { info.metaData[$0] == nil }
            content = .metadataDeleted(keys: keys.sorted(), by: callerID)
        // The verification is the second step of making a user an admin. The first step, `setAdmin`, changes no info.
        case .adminMembershipVerified(_, let user, _), .revokeAdmin(_, let user, _):
            content = .adminChanged(
                user: user, isAdmin: info.admins.contains(user), admins: info.admins, by: callerID)
        case .setAdmin, .kick, .ban, .unban, .mute, .end, .create, .open, .enter, .repeatOpen, .release, .closed,
            .occupancy, .profile, .bans, .mutes, .floor, .appSettings:
            // None of these commands is a call that changes the info of an existing live.
            return
        }
        effects.append(.webhook(WebhookEvent(call.key, at: now, content)))
    }
}

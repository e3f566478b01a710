// SPDX-License-Identifier: Apache-2.0
import CoreKit
import PlazaModel

/// What an app's backend hears of changes of its lives (reference 14, the After commands).
extension DirectoryMachine {
    /// Tells of a call that changed a live.
    ///
    /// - Parameters:
    ///   - call: the call, which was allowed.
    ///   - before: what the live was.
    ///   - info: what it is now.
    ///   - now: the time.
    ///   - effects: what is told is appended here.
    func tellBackend(
        _ call: RoomCall, _ before: LiveInfo, _ info: LiveInfo, at now: Timestamp, into effects: inout [Effect]
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
        case .setAdminVouched(_, let user, _), .revokeAdmin(_, let user, _):
            content = .adminChanged(user: user, isAdmin: info.admins.contains(user), admins: info.admins, by: by)
        case .setAdmin, .kick, .ban, .unban, .mute, .end, .create, .open, .enter, .repeatOpen, .release, .closed,
            .occupancy, .profile, .bans, .mutes, .floor, .appSettings:
            return
        }
        effects.append(.webhook(WebhookEvent(call.key, at: now, content)))
    }
}

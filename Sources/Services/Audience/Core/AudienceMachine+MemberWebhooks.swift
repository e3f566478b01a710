// SPDX-License-Identifier: Apache-2.0
internal import MachineKit
internal import PlazaModel

// MARK: - Webhook events about members

extension AudienceMachine {
    /// Sends the app's backend an event about users who joined or left, or several events if there are more than
    /// `Limits.audiencePage` users (R14.13 and R14.14 in docs/RULES.md).
    func sendMemberEvent(
        _ key: LiveKey, _ cause: MemberCause, _ users: [UserInfo], at now: Timestamp, into effects: inout [Effect]
    ) {
        guard self.policies[key.app].hasWebhooks else { return }
        let isOnline =
            switch cause {
            case .enter, .heartbeatRecover: true
            case .leave, .heartbeatInterrupt: false
            }
        for start in stride(from: 0, to: users.count, by: Limits.audiencePage) {
            let page = Array(users[start..<min(users.count, start + Limits.audiencePage)])
            effects.append(
                .webhook(WebhookEvent(key, at: now, .memberState(isOnline: isOnline, cause: cause, users: page))))
        }
    }
}

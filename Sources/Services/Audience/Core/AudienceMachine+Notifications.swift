// SPDX-License-Identifier: Apache-2.0
internal import MachineKit
internal import PlazaModel

// MARK: - Notifications to other machines

extension AudienceMachine {
    /// Notifies the seat machine, and for the owner the connection machine, that the user has left.
    func notifyUserGone(_ user: UserID, _ key: LiveKey, _ row: LiveRow, into effects: inout [Effect]) {
        effects.append(.seat(SeatInput(key, .userGone(user: user))))
        if user == row.owner {
            effects.append(.connection(ConnectionInput(app: key.app, .userGone(live: key.live, user: user))))
        }
    }

    /// Notifies the same machines that the user's first session has joined.
    func notifyUserPresent(_ user: UserInfo, _ key: LiveKey, _ row: LiveRow, into effects: inout [Effect]) {
        effects.append(.seat(SeatInput(key, .userBack(user: user))))
        if user.userID == row.owner {
            effects.append(.connection(ConnectionInput(app: key.app, .userBack(live: key.live, user: user))))
            // The name in the directory may be missing or old: an app's server may have created the live, or the owner
            // may have changed the name since. If the owner has no name now, the directory keeps its name.
            if !user.userName.isEmpty { self.updateOwnerInDirectory(user, key, into: &effects) }
        }
    }

    /// Passes the user's new profile on to the machines and viewers that show it.
    func publishProfile(_ user: UserInfo, _ key: LiveKey, _ row: LiveRow, into effects: inout [Effect]) {
        effects.append(.seat(SeatInput(key, .profile(user: user))))
        if user.userID == row.owner {
            self.updateOwnerInDirectory(user, key, into: &effects)
            effects.append(.connection(ConnectionInput(app: key.app, .profile(live: key.live, user: user))))
        }
        self.publish(.userChanged(user: user), to: key, into: &effects)
    }

    /// Passes the owner's profile on to the directory, which shows it in the list of lives and in look-ups.
    private func updateOwnerInDirectory(_ owner: UserInfo, _ key: LiveKey, into effects: inout [Effect]) {
        effects.append(.directory(DirectoryInput(app: key.app, .profile(live: key.live, user: owner))))
    }

    /// Publishes an item to the live's feed.
    func publish(_ content: FeedContent, to key: LiveKey, into effects: inout [Effect]) {
        effects.append(.barrage(BarrageInput(key, .publish(content: content))))
    }

    /// Notifies an app's backend of the users who joined or left, in events of limited size.
    func notifyBackend(
        _ key: LiveKey, _ cause: MemberCause, _ users: [UserInfo], at now: Timestamp, into effects: inout [Effect]
    ) {
        guard self.policies[key.app].hasWebhooks else { return }
        let isOnline =
            switch cause {
            case .enter, .heartbeatRecover: true
            case .leave, .heartbeatInterrupt: false
            }
        for start in stride(from: 0, to: users.count, by: Limits.audiencePage) {
            let part = Array(users[start..<min(users.count, start + Limits.audiencePage)])
            effects.append(
                .webhook(WebhookEvent(key, at: now, .memberState(isOnline: isOnline, cause: cause, users: part))))
        }
    }
}

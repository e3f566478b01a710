// SPDX-License-Identifier: Apache-2.0
internal import MachineKit
internal import PlazaModel

// MARK: - Changes of a user's name or picture

extension AudienceMachine {
    /// Handles the change of a user's name or picture.
    func handleProfileChange(
        _ caller: Caller, _ input: AudienceInput, _ planned: PlannedInput, _ result: LeaseResult, in rows: inout Rows,
        into effects: inout [Effect]
    ) {
        guard case .changed(let changes) = result, let row = rows.live(input.key) else {
            return effects.append(
                .reply(Reply(to: caller, app: input.key.app, .failure(error: Self.redisUnavailableError))))
        }
        // A user whose leases have expired is not in the live; the new name is published when the user returns. Stale
        // leases do not say whether the user is in the live, so the new name is published at once.
        if row.isStale || changes.contains(.renamed) {
            self.publishProfile(caller.user, input.key, row, into: &effects)
        }
        self.replyAndRecord(caller, .success(result: .done), input, planned.moment, in: &rows, into: &effects)
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
    func updateOwnerInDirectory(_ owner: UserInfo, _ key: LiveKey, into effects: inout [Effect]) {
        effects.append(.directory(DirectoryInput(app: key.app, .profile(live: key.live, user: owner))))
    }
}

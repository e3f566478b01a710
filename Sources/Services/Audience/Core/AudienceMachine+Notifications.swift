// SPDX-License-Identifier: Apache-2.0
internal import MachineKit
internal import PlazaModel

// MARK: - Inputs for other machines

extension AudienceMachine {
    /// Notifies the seat machine that the user has left; if the user is the owner, notifies the connection machine too.
    func notifyOfLeave(_ user: UserID, _ key: LiveKey, _ row: LiveRow, into effects: inout [Effect]) {
        effects.append(.seat(SeatInput(key, .userGone(user: user))))
        if user == row.owner {
            effects.append(.connection(ConnectionInput(app: key.app, .userGone(live: key.live, user: user))))
        }
    }

    /// Notifies the seat machine that the user is in the live; if the user is the owner, notifies the connection
    /// machine and the directory too.
    func notifyOfJoin(_ user: UserInfo, _ key: LiveKey, _ row: LiveRow, into effects: inout [Effect]) {
        effects.append(.seat(SeatInput(key, .userBack(user: user))))
        if user.userID == row.owner {
            effects.append(.connection(ConnectionInput(app: key.app, .userBack(live: key.live, user: user))))
            // The directory may have an old name of the owner, or no name if an app's server created the live. An
            // owner who joins without a name keeps the name in the directory.
            if !user.userName.isEmpty { self.updateOwnerInDirectory(user, key, into: &effects) }
        }
    }

    /// Publishes an item to the live's feed.
    func publish(_ content: FeedContent, to key: LiveKey, into effects: inout [Effect]) {
        effects.append(.barrage(BarrageInput(key, .publish(content: content))))
    }
}

// SPDX-License-Identifier: Apache-2.0
internal import CoreKit
internal import PlazaModel

// MARK: - Whether anybody is there

extension AudienceMachine {
    /// Tells the directory where the owner is and whether anybody is in the live, when that has changed; lives are
    /// suspended and dismissed by it.
    ///
    /// At most once a second, and the last value always. While nobody knows who is here, only that somebody came is
    /// told: a loss of the leases must suspend and end no live (I5).
    func tellOccupancy(_ key: LiveKey, at now: Timestamp, in rows: inout Rows, into effects: inout [Effect]) {
        guard var row = rows.live(key) else { return }
        var owner = row.ownerPresence
        var isEmpty = row.count == 0 && owner != .present && !row.hasUnwritten
        if row.isStale || row.awaitsOwner {
            if owner != .present { owner = row.toldOwner }
            isEmpty = isEmpty && row.toldEmpty
        }
        row.occupancyDue = nil
        if owner != row.toldOwner || isEmpty != row.toldEmpty {
            let next = row.occupancyToldAt + Self.countInterval
            if now < next {
                row.occupancyDue = next
            } else {
                (row.toldOwner, row.toldEmpty, row.occupancyToldAt) = (owner, isEmpty, now)
                let told = DirectoryCommand.occupancy(live: key.live, owner: owner, isEmpty: isEmpty)
                effects.append(.directory(DirectoryInput(app: key.app, told)))
            }
        }
        rows[.live(key)] = .live(row: row)
    }

    /// Tells an app's backend who came or went, in parts that a broker takes.
    func tellBackend(
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

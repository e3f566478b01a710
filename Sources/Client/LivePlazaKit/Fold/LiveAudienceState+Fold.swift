// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel

extension LiveAudienceState {
    /// The maximum number of viewers in the list (R4.21).
    static let maxListedViewers = 200

    /// Applies an input to the state, and adds the resulting events to `context`.
    mutating func reduce(_ input: FoldInput, _ context: inout FoldContext) {
        switch input {
        case .snapshot(let snapshot): self.reduce(snapshot)
        case .counts(let counts): self.show(counts)
        case .item(let entry): self.reduce(entry.content, &context)
        // A client that does not know yet that its user is muted learns it when the server rejects a message.
        case .local(.selfMuted): self.addMute(of: self.knownUser(context.selfID))
        default: break
        }
        self.showAdmins(context.states.live.info.admins)
    }

    private mutating func reduce(_ snapshot: Snapshot) {
        switch snapshot {
        case .details(let details): self.show(details.audience)
        case .audience(let page):
            self.audienceList = page.members.prefix(Self.maxListedViewers).map { LiveUserInfo($0.user) }
        case .mutes(let page):
            self.messageBannedUserList = page.items.map { self.knownUser($0.user, $0.userInfo) }
            // The page may be cut off before this user's own mute, which `own` always contains.
            if let own = page.own { self.addMute(of: self.knownUser(own.user, own.userInfo)) }
        default: break
        }
    }

    /// The user's entry in the list of viewers; otherwise the user from `info`; without `info`, a user with only an id.
    private func knownUser(_ user: UserID, _ info: UserInfo? = nil) -> LiveUserInfo {
        self.audienceList.first { $0.userID == user.text } ?? info.map { LiveUserInfo($0) }
            ?? LiveUserInfo(userID: user.text)
    }

    /// Adds the event of a feed item, and changes the lists.
    ///
    /// A list stays as it is if a snapshot that contains the item's change already (a covering snapshot) has set it.
    private mutating func reduce(_ content: FeedContent, _ context: inout FoldContext) {
        let owner = context.states.live.info.liveOwner.userID
        switch content {
        // The owner is never among the audience.
        case .audienceJoined(let user, _) where user.userID.text != owner:
            let viewer = LiveUserInfo(user)
            context.events.append(.audience(.onAudienceJoined(audience: viewer)))
            if context.coveringSnapshots.contains(.audience) { return }
            if self.audienceList.contains(where: { $0.userID == viewer.userID }) {
                self.audienceList = self.audienceList.replacing(viewer)
            } else if self.audienceList.count < Self.maxListedViewers {
                self.audienceList.append(viewer)
            }
        case .audienceLeft(let user) where user.userID.text != owner:
            context.events.append(.audience(.onAudienceLeft(audience: LiveUserInfo(user))))
            if context.coveringSnapshots.contains(.audience) { return }
            self.audienceList = self.audienceList.without(user.userID.text)
        case .userChanged(let user):
            if !context.coveringSnapshots.contains(.audience) {
                self.audienceList = self.audienceList.replacing(LiveUserInfo(user))
            }
            self.messageBannedUserList = self.messageBannedUserList.replacing(LiveUserInfo(user))
        case .messageDisabled(let user, let isDisable, _):
            let viewer = LiveUserInfo(user)
            context.events.append(.audience(.onAudienceMessageDisabled(audience: viewer, isDisable: isDisable)))
            if context.coveringSnapshots.contains(.mutes) { return }
            if isDisable { self.addMute(of: viewer) } else { self.removeMute(of: viewer) }
        default: break
        }
    }

    private mutating func addMute(of user: LiveUserInfo) {
        self.messageBannedUserList = self.messageBannedUserList.without(user.userID) + [user]
    }

    private mutating func removeMute(of user: LiveUserInfo) {
        self.messageBannedUserList = self.messageBannedUserList.without(user.userID)
    }

    private mutating func show(_ counts: LiveCount) {
        self.audienceCount = UInt(clamping: counts.count)
        self.isAudienceCountStale = counts.stale
    }

    private mutating func showAdmins(_ admins: [String]) {
        if admins.isEmpty && self.adminList.isEmpty { return }
        self.adminList = admins.map { admin in
            self.audienceList.first { $0.userID == admin } ?? LiveUserInfo(userID: admin)
        }
    }
}

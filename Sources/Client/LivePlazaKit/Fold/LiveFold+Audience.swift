// SPDX-License-Identifier: Apache-2.0
internal import MachineKit
internal import PlazaModel

/// The maximum number of viewers in the list that a client keeps (R4.21).
let maxAudience = 200
/// The maximum number of messages that a client keeps; the oldest are dropped.
let maxMessages = 1000

extension LiveAudienceState {
    mutating func reduce(_ input: FoldInput, _ context: inout FoldContext) {
        switch input {
        case .snapshot(let snapshot): self.reduce(snapshot, context.selfID)
        case .counts(let counts): self.show(counts)
        case .item(let entry): self.reduce(entry.content, &context)
        // A client that does not know yet that its user is muted learns it when the server refuses a message.
        case .local(.selfMuted): self.addMute(of: self.knownUser(context.selfID))
        default: break
        }
        self.showAdmins(context.states.live.info.admins)
    }

    private mutating func reduce(_ snapshot: Snapshot, _ selfID: UserID) {
        switch snapshot {
        case .details(let details): self.show(details.audience)
        case .audience(let page): self.audienceList = page.members.prefix(maxAudience).map { LiveUserInfo($0.user) }
        case .mutes(let page):
            self.messageBannedUserList = page.items.map { self.knownUser($0.user, $0.userInfo) }
            if let own = page.own { self.addMute(of: self.knownUser(own.user, own.userInfo)) }
        case .ownMute(let page):
            self.removeMute(of: LiveUserInfo(userID: selfID.text))
            if let own = page.own { self.addMute(of: self.knownUser(own.user, own.userInfo)) }
        default: break
        }
    }

    /// The user's entry in the list of viewers; otherwise the user from `info`; without `info`, a user with only an id.
    private func knownUser(_ user: UserID, _ info: UserInfo? = nil) -> LiveUserInfo {
        self.audienceList.first { $0.userID == user.text } ?? info.map { LiveUserInfo($0) }
            ?? LiveUserInfo(userID: user.text)
    }

    private mutating func reduce(_ content: FeedContent, _ context: inout FoldContext) {
        let owner = context.states.live.info.liveOwner.userID
        switch content {
        // The owner is never among the audience.
        case .audienceJoined(let user, _) where user.userID.text != owner:
            let audience = LiveUserInfo(user)
            context.events.append(.audience(.onAudienceJoined(audience: audience)))
            if context.coveringSnapshots.contains(.audience) { return }
            if self.audienceList.contains(where: { $0.userID == audience.userID }) {
                self.audienceList = self.audienceList.replacing(audience)
            } else if self.audienceList.count < maxAudience {
                self.audienceList.append(audience)
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
            let audience = LiveUserInfo(user)
            context.events.append(.audience(.onAudienceMessageDisabled(audience: audience, isDisable: isDisable)))
            let isCovered = user.userID == context.selfID && context.coveringSnapshots.contains(.ownMute)
            if isCovered || context.coveringSnapshots.contains(.mutes) { return }
            if isDisable { self.addMute(of: audience) } else { self.removeMute(of: audience) }
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

extension BarrageState {
    mutating func reduce(_ input: FoldInput, _ context: inout FoldContext) {
        self.allowSendMessage = Self.maySend(context)
        guard let message = Self.message(input, in: context.liveID) else { return }
        var index = self.messageList.count
        // A message of the history is inserted before the later messages. A local tip has no number and keeps its place.
        if !message.isLocal {
            while index > 0, !self.messageList[index - 1].isLocal,
                self.messageList[index - 1].sequence > message.sequence
            { index -= 1 }
        }
        self.messageList.insert(message, at: index)
        if self.messageList.count > maxMessages { self.messageList.removeFirst() }
    }

    private static func message(_ input: FoldInput, in live: LiveID) -> Barrage? {
        switch input {
        case .item(let entry):
            var message = Barrage()
            message.liveID = live.text
            message.sequence = Int(clamping: entry.n)
            message.timestampInSecond = Double(entry.at.milliseconds) / 1000
            switch entry.content {
            case .text(let sender, let text, let extensionInfo):
                message.sender = LiveUserInfo(sender)
                (message.textContent, message.extensionInfo) = (text, extensionInfo)
            case .custom(let sender, let businessID, let data):
                message.sender = LiveUserInfo(sender)
                (message.messageType, message.businessID, message.data) = (.custom, businessID, data)
            default: return nil
            }
            return message
        case .local(.tip(var message)):
            message.liveID = live.text
            message.isLocal = true
            return message
        default: return nil
        }
    }

    /// Whether the server would accept a message of this user.
    ///
    /// A host may always send. Other users may send if neither the whole live nor the user is muted.
    private static func maySend(_ context: FoldContext) -> Bool {
        let info = context.states.live.info
        let user = context.selfID.text
        if user == info.liveOwner.userID || info.admins.contains(user) { return true }
        return !info.isMessageDisable
            && !context.states.audience.messageBannedUserList.contains { $0.userID == user }
    }
}

extension GiftState {
    mutating func reduce(_ input: FoldInput, _ context: inout FoldContext) {
        if case .item(let entry) = input, case .gift(let sender, let gift, let count, _) = entry.content {
            context.events.append(
                .gift(
                    .onReceiveGift(
                        liveID: context.liveID.text, gift: Gift(gift), count: UInt8(clamping: count),
                        sender: LiveUserInfo(sender))))
        }
        if case .snapshot(.gifts(let categories)) = input { self.usableGifts = categories.map { GiftCategory($0) } }
        self.isGiftEnabled = context.states.live.info.isGiftEnabled
    }
}

extension LikeState {
    mutating func reduce(_ input: FoldInput, _ context: inout FoldContext) {
        switch input {
        case .item(let entry):
            switch entry.content {
            case .likes(let total, let sender, _):
                self.raiseTotal(to: total)
                context.events.append(
                    .like(
                        .onReceiveLikesMessage(
                            liveID: context.liveID.text, totalLikesReceived: UInt(clamping: total),
                            sender: LiveUserInfo(sender))))
            case .summary(let figures): self.raiseTotal(to: figures.totalLikesReceived)
            default: break
            }
        case .snapshot(.statistics(let figures, _)): self.raiseTotal(to: figures.totalLikesReceived)
        default: break
        }
    }

    /// Raises the total, but never lowers it, because an item of the feed may be older than the snapshot.
    private mutating func raiseTotal(to total: Int64) {
        self.totalLikeCount = max(self.totalLikeCount, UInt(clamping: total))
    }
}

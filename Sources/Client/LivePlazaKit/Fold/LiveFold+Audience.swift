// SPDX-License-Identifier: Apache-2.0
internal import MachineKit
internal import PlazaModel

/// The maximum number of viewers that a client keeps (R4.21).
let maxAudience = 200
/// The maximum number of messages that a client keeps; the oldest are dropped.
let maxMessages = 1000

extension LiveAudienceState {
    mutating func reduce(_ input: FoldInput, _ context: inout FoldContext) {
        switch input {
        case .snapshot(let snapshot): self.reduce(snapshot)
        case .counts(let counts): self.show(counts)
        case .item(let entry): self.reduce(entry.content, &context)
        // A client that does not know of its own mute learns of it when a message is refused.
        case .local(.selfMuted): self.ban(LiveUserInfo(userID: context.selfID.text))
        default: break
        }
        self.showAdmins(context.states.live.info.admins)
    }

    private mutating func reduce(_ snapshot: Snapshot) {
        switch snapshot {
        case .details(let details): self.show(details.audience)
        case .audience(let page): self.audienceList = page.members.prefix(maxAudience).map { LiveUserInfo($0.user) }
        case .mutes(let mutes):
            self.messageBannedUserList = mutes.map { mute in
                self.audienceList.first { $0.userID == mute.user.text } ?? LiveUserInfo(userID: mute.user.text)
            }
        default: break
        }
    }

    private mutating func reduce(_ content: FeedContent, _ context: inout FoldContext) {
        let owner = context.states.live.info.liveOwner.userID
        switch content {
        // The owner is never among the audience.
        case .audienceJoined(let user) where user.userID.text != owner:
            let audience = LiveUserInfo(user)
            context.events.append(.audience(.onAudienceJoined(audience: audience)))
            if self.audienceList.contains(where: { $0.userID == audience.userID }) {
                self.audienceList = self.audienceList.replacing(audience)
            } else if self.audienceList.count < maxAudience {
                self.audienceList.append(audience)
            }
        case .audienceLeft(let user) where user.userID.text != owner:
            context.events.append(.audience(.onAudienceLeft(audience: LiveUserInfo(user))))
            self.audienceList = self.audienceList.without(user.userID.text)
        case .userChanged(let user):
            self.audienceList = self.audienceList.replacing(LiveUserInfo(user))
            self.messageBannedUserList = self.messageBannedUserList.replacing(LiveUserInfo(user))
        case .messageDisabled(let user, let isDisable, _):
            let audience = LiveUserInfo(user)
            context.events.append(.audience(.onAudienceMessageDisabled(audience: audience, isDisable: isDisable)))
            if isDisable { self.ban(audience) } else { self.messageBannedUserList = self.banned(without: audience) }
        default: break
        }
    }

    private mutating func ban(_ user: LiveUserInfo) {
        self.messageBannedUserList = self.banned(without: user) + [user]
    }

    private func banned(without user: LiveUserInfo) -> [LiveUserInfo] {
        self.messageBannedUserList.without(user.userID)
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
        // Earlier messages are inserted before the known ones. A local tip has no number and keeps its place.
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

    /// Whether the server would accept a message of this user: neither the live nor the user is muted, or the user is a
    /// host.
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
                self.raise(to: total)
                context.events.append(
                    .like(
                        .onReceiveLikesMessage(
                            liveID: context.liveID.text, totalLikesReceived: UInt(clamping: total),
                            sender: LiveUserInfo(sender))))
            case .summary(let figures): self.raise(to: figures.totalLikesReceived)
            default: break
            }
        case .snapshot(.statistics(let figures)): self.raise(to: figures.totalLikesReceived)
        default: break
        }
    }

    /// Raises the total, but never lowers it: an item of the feed may be older than the snapshot.
    private mutating func raise(to total: Int64) {
        self.totalLikeCount = max(self.totalLikeCount, UInt(clamping: total))
    }
}

// SPDX-License-Identifier: Apache-2.0
import PlazaModel

/// Calls that change what a live is.
extension DirectoryMachine {
    func updateInfo(_ changes: LiveChanges, _ key: LiveKey, _ room: inout RoomRow) throws(ReplyError) -> RoomAnswer {
        let before = room.info
        var info = before
        try LiveRules.apply(changes, to: &info, self.policies[key.app])
        try self.checkWords(changes, key.app)
        room.info = info
        let result = CallResult.live(info: info, epoch: room.epoch)
        guard info != before else { return .done(result, told: []) }
        return .done(result, told: self.told(.infoChanged(info: info), before, info, key))
    }

    func setMetadata(
        _ values: [String: String], _ key: LiveKey, _ room: inout RoomRow
    ) throws(ReplyError) -> RoomAnswer {
        let merged = try MetadataRules.merge(values, into: room.info.metaData)
        guard merged != room.info.metaData else { return .done(.done, told: []) }
        room.info.metaData = merged
        let content = FeedContent.metadataChanged(set: values, removed: [])
        return .done(.done, told: [.barrage(BarrageInput(key, .tell(content: content)))])
    }

    func deleteMetadata(_ keys: [String], _ key: LiveKey, _ room: inout RoomRow) throws(ReplyError) -> RoomAnswer {
        let removed = try MetadataRules.removable(keys, from: room.info.metaData)
        for name in removed { room.info.metaData[name] = nil }
        let content = FeedContent.metadataChanged(set: [:], removed: removed)
        return .done(.done, told: [.barrage(BarrageInput(key, .tell(content: content)))])
    }

    /// What follows from a change of a live's info: the viewers hear, and each machine what it needs to know of it.
    func told(_ content: FeedContent, _ before: LiveInfo, _ info: LiveInfo, _ key: LiveKey) -> [Effect] {
        var told = [Effect.barrage(BarrageInput(key, .tell(content: content)))]
        let hasNewAdmins = info.admins != before.admins
        if hasNewAdmins || info.isMessageDisable != before.isMessageDisable
            || info.isGiftEnabled != before.isGiftEnabled
        {
            told.append(.rights(key, info))
        }
        if hasNewAdmins || info.maxMemberCount != before.maxMemberCount { told.append(.limits(key, info)) }
        told.append(.seat(SeatInput(key, .infoChanged(info: info))))
        if hasNewAdmins {
            told.append(.connection(ConnectionInput(app: key.app, .rights(live: key.live, admins: info.admins))))
        }
        return told
    }
}

extension Effect {
    /// Tells the fan-out who may speak while the room is muted, and whether gifts may be sent.
    static func rights(_ key: LiveKey, _ info: LiveInfo) -> Effect {
        let rights = BarrageCommand.rights(
            isMessageDisable: info.isMessageDisable, admins: info.admins, isGiftEnabled: info.isGiftEnabled)
        return .barrage(BarrageInput(key, rights))
    }

    /// Tells presence who is shown as admin, and how many the live takes.
    static func limits(_ key: LiveKey, _ info: LiveInfo) -> Effect {
        .audience(AudienceInput(key, .rights(admins: info.admins, maxMembers: info.maxMemberCount)))
    }
}

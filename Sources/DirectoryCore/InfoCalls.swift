// SPDX-License-Identifier: Apache-2.0
import PlazaModel

/// Calls that change what a live is.
extension DirectoryMachine {
    func updateInfo(_ changes: LiveChanges, _ key: LiveKey, _ room: inout RoomRow) throws(ReplyError) -> RoomAnswer {
        let before = room.info
        var info = before
        try LiveRules.apply(changes, to: &info)
        room.info = info
        let result = CallResult.live(info: info, epoch: room.epoch)
        guard info != before else { return .done(result, told: []) }
        var told = [Effect.barrage(BarrageInput(key, .tell(content: .infoChanged(info: info))))]
        if info.isMessageDisable != before.isMessageDisable || info.isGiftEnabled != before.isGiftEnabled {
            told.append(.rights(key, info))
        }
        told.append(.seat(SeatInput(key, .infoChanged(info: info))))
        return .done(result, told: told)
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
}

extension Effect {
    /// Tells the fan-out whether the room is muted, who may speak all the same, and whether gifts are on.
    static func rights(_ key: LiveKey, _ info: LiveInfo) -> Effect {
        let rights = BarrageCommand.rights(
            isMessageDisable: info.isMessageDisable, admins: info.admins, isGiftEnabled: info.isGiftEnabled)
        return .barrage(BarrageInput(key, rights))
    }
}

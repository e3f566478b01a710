// SPDX-License-Identifier: Apache-2.0
import PlazaModel

/// Calls that change a live's info.
extension DirectoryMachine {
    /// Changes the fields that the call contains; replies with the whole info.
    ///
    /// `revision` becomes the live's revision if the call changes the info.
    func updateInfo(
        _ changes: LiveChanges, _ key: LiveKey, _ row: inout LiveRow, revision: Int64
    ) throws(ReplyError) -> CallDecision {
        let oldInfo = row.info
        var newInfo = oldInfo
        try LiveInfoRules.apply(changes, to: &newInfo, self.policies[key.app])
        try self.checkFilteredWords(changes, key.app)
        row.info = newInfo
        guard newInfo != oldInfo else {
            return .executed(.live(info: newInfo, epoch: row.epoch, revision: row.revision), effects: [])
        }
        let result = CallResult.live(info: newInfo, epoch: row.epoch, revision: revision)
        let content = FeedContent.infoChanged(info: newInfo, revision: revision)
        return .executed(result, effects: self.effectsOfInfoChange(content, from: oldInfo, to: newInfo, key))
    }

    /// The effects of a changed info: the feed item `content` for the viewers, and inputs for the machines that store
    /// parts of the info.
    func effectsOfInfoChange(
        _ content: FeedContent, from oldInfo: LiveInfo, to info: LiveInfo, _ key: LiveKey
    ) -> [Effect] {
        var effects = [Effect.barrage(BarrageInput(key, .publish(content: content)))]
        let didAdminsChange = info.admins != oldInfo.admins
        if didAdminsChange || info.isMessageDisable != oldInfo.isMessageDisable
            || info.isGiftEnabled != oldInfo.isGiftEnabled
        {
            effects.append(.rightsForFanOut(key, info))
        }
        if didAdminsChange || info.maxMemberCount != oldInfo.maxMemberCount {
            effects.append(.rightsForPresence(key, info))
        }
        effects.append(.seat(SeatInput(key, .infoChanged(info: info))))
        if didAdminsChange {
            effects.append(.connection(ConnectionInput(app: key.app, .rights(live: key.live, admins: info.admins))))
        }
        return effects
    }
}

extension Effect {
    /// The effect that tells the fan-out (the machine that writes the feed) whether all viewers of the live are muted,
    /// which admins this mute does not affect, and whether gifts are enabled.
    static func rightsForFanOut(_ key: LiveKey, _ info: LiveInfo) -> Effect {
        let rights = BarrageCommand.rights(
            isMessageDisable: info.isMessageDisable, admins: info.admins, isGiftEnabled: info.isGiftEnabled)
        return .barrage(BarrageInput(key, rights))
    }

    /// The effect that tells presence (the machine that knows who is in a live) the admins and the maximum number of
    /// users of the live.
    static func rightsForPresence(_ key: LiveKey, _ info: LiveInfo) -> Effect {
        .audience(AudienceInput(key, .rights(admins: info.admins, maxMembers: info.maxMemberCount)))
    }
}

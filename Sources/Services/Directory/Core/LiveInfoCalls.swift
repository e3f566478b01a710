// SPDX-License-Identifier: Apache-2.0
import PlazaModel

/// Calls that change a live's info and metadata.
extension DirectoryMachine {
    /// Changes the fields that the call contains; replies with the whole info.
    func updateInfo(_ changes: LiveChanges, _ key: LiveKey, _ row: inout LiveRow) throws(ReplyError) -> CallDecision {
        let before = row.info
        var info = before
        try LiveInfoRules.apply(changes, to: &info, self.policies[key.app])
        try self.checkWords(changes, key.app)
        row.info = info
        let result = CallResult.live(info: info, epoch: row.epoch)
        guard info != before else { return .done(result, facts: []) }
        return .done(result, facts: self.infoChangeEffects(.infoChanged(info: info), before, info, key))
    }

    /// Sets metadata; keys that the call does not contain stay as they are.
    func setMetadata(
        _ values: [String: String], _ key: LiveKey, _ row: inout LiveRow
    ) throws(ReplyError) -> CallDecision {
        let merged = try MetadataRules.merge(values, into: row.info.metaData)
        guard merged != row.info.metaData else { return .done(.done, facts: []) }
        row.info.metaData = merged
        let content = FeedContent.metadataChanged(set: values, removed: [])
        return .done(.done, facts: [.barrage(BarrageInput(key, .publish(content: content)))])
    }

    /// Removes the given keys; unknown keys are ignored if at least one key exists.
    func deleteMetadata(_ keys: [String], _ key: LiveKey, _ row: inout LiveRow) throws(ReplyError) -> CallDecision {
        let removed = try MetadataRules.existing(keys, in: row.info.metaData)
        for name in removed { row.info.metaData[name] = nil }
        let content = FeedContent.metadataChanged(set: [:], removed: removed)
        return .done(.done, facts: [.barrage(BarrageInput(key, .publish(content: content)))])
    }

    /// The effects of a changed info: the feed item `content` for the viewers, and inputs for the machines that store
    /// parts of the info.
    func infoChangeEffects(_ content: FeedContent, _ before: LiveInfo, _ info: LiveInfo, _ key: LiveKey) -> [Effect] {
        var facts = [Effect.barrage(BarrageInput(key, .publish(content: content)))]
        let hasNewAdmins = info.admins != before.admins
        if hasNewAdmins || info.isMessageDisable != before.isMessageDisable
            || info.isGiftEnabled != before.isGiftEnabled
        {
            facts.append(.rights(key, info))
        }
        if hasNewAdmins || info.maxMemberCount != before.maxMemberCount { facts.append(.limits(key, info)) }
        facts.append(.seat(SeatInput(key, .infoChanged(info: info))))
        if hasNewAdmins {
            facts.append(.connection(ConnectionInput(app: key.app, .rights(live: key.live, admins: info.admins))))
        }
        return facts
    }
}

extension Effect {
    /// The input for the fan-out: whether the live is muted, its admins, who are exempt from the mute, and whether
    /// gifts are enabled.
    static func rights(_ key: LiveKey, _ info: LiveInfo) -> Effect {
        let rights = BarrageCommand.rights(
            isMessageDisable: info.isMessageDisable, admins: info.admins, isGiftEnabled: info.isGiftEnabled)
        return .barrage(BarrageInput(key, rights))
    }

    /// The input for presence: the admins, and the maximum number of users in the live.
    static func limits(_ key: LiveKey, _ info: LiveInfo) -> Effect {
        .audience(AudienceInput(key, .rights(admins: info.admins, maxMembers: info.maxMemberCount)))
    }
}

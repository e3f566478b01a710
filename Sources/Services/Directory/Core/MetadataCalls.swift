// SPDX-License-Identifier: Apache-2.0
import PlazaModel

/// Calls that change a live's metadata.
extension DirectoryMachine {
    /// Sets metadata; keys that the call does not contain stay as they are.
    func setMetadata(
        _ values: [String: String], _ live: LiveKey, _ row: inout LiveRow, revision: Int64
    ) throws(ReplyError) -> CallDecision {
        let merged = try MetadataRules.merge(values, into: row.info.metaData)
        guard merged != row.info.metaData else { return .executed(.done, effects: []) }
        row.info.metaData = merged
        let content = FeedContent.metadataChanged(set: values, removed: [], revision: revision)
        return .executed(.done, effects: [.barrage(BarrageInput(live, .publish(content: content)))])
    }

    /// Removes the given keys; unknown keys are ignored if at least one key exists.
    func deleteMetadata(
        _ keys: [String], _ live: LiveKey, _ row: inout LiveRow, revision: Int64
    ) throws(ReplyError) -> CallDecision {
        let removed = try MetadataRules.existingKeys(among: keys, in: row.info.metaData)
        for removedKey in removed { row.info.metaData[removedKey] = nil }
        let content = FeedContent.metadataChanged(set: [:], removed: removed, revision: revision)
        return .executed(.done, effects: [.barrage(BarrageInput(live, .publish(content: content)))])
    }
}

// SPDX-License-Identifier: Apache-2.0
import PlazaModel

/// The limits of a live's metadata (I2).
///
/// The merged metadata are checked before they are stored, so that a rejected call changes nothing.
enum MetadataRules {
    /// Returns `old` with `values` set; the last write of a key wins.
    ///
    /// - Throws: `metadataKeyTooLong`, `metadataValueTooLong`, `tooManyMetadataKeys` or `metadataTooLong`;
    ///   `badParameter` when `values` is empty, or when a key is empty or has a control character (R17.4).
    static func merge(_ values: [String: String], into old: [String: String]) throws(ReplyError) -> [String: String] {
        guard !values.isEmpty, values[""] == nil else {
            throw ReplyError(.badParameter, "give 1 to \(Limits.metadataKeys) keys, none of which is empty")
        }
        guard values.keys.allSatisfy({ $0.utf8.count <= Limits.metadataKeyBytes }) else {
            throw ReplyError(.metadataKeyTooLong, "a key has at most \(Limits.metadataKeyBytes) bytes")
        }
        guard !values.keys.contains(where: { TextRule.hasControlCharacter($0) }) else {
            throw ReplyError(.badParameter, "a key has no control characters")
        }
        guard values.values.allSatisfy({ TextRule.isBounded($0, maxBytes: Limits.metadataValueBytes) }) else {
            throw .tooLong("a value", maxBytes: Limits.metadataValueBytes, .metadataValueTooLong)
        }
        let merged = old.merging(values) { _, new in new }
        guard merged.count <= Limits.metadataKeys else {
            throw ReplyError(.tooManyMetadataKeys, "a live has at most \(Limits.metadataKeys) keys")
        }
        guard merged.values.reduce(0, { $0 + $1.utf8.count }) <= Limits.metadataTotalBytes else {
            throw ReplyError(.metadataTooLong, "all values have at most \(Limits.metadataTotalBytes) bytes")
        }
        return merged
    }

    /// Returns the existing keys among `keys`, sorted and without duplicates.
    ///
    /// - Throws: `noSuchMetadataKey` when no key exists.
    static func existing(_ keys: [String], in old: [String: String]) throws(ReplyError) -> [String] {
        let existing = Set(keys).filter { old[$0] != nil }.sorted()
        guard !existing.isEmpty else { throw ReplyError(.noSuchMetadataKey, "the live has none of these keys") }
        return existing
    }
}

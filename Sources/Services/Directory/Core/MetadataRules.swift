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
        try MetadataValidation.check(values)
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

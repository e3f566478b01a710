// SPDX-License-Identifier: Apache-2.0
import PlazaModel

/// The limits of a live's metadata (I2, docs/RULES.md).
///
/// The merged metadata are checked before they are stored, so that a rejected call changes nothing.
enum MetadataRules {
    /// Returns `metadata` with `values` added; a value replaces an earlier value of its key.
    ///
    /// - Throws: `metadataKeyTooLong`, `metadataValueTooLong`, `tooManyMetadataKeys` or `metadataTooLong`;
    ///   `badParameter` when `values` is empty, or when a key is empty or has a control character (R17.4).
    static func merge(
        _ values: [String: String], into metadata: [String: String]
    ) throws(ReplyError) -> [String: String] {
        try MetadataValidation.check(values)
        let merged = metadata.merging(values) { _, new in new }
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
    static func existingKeys(among keys: [String], in metadata: [String: String]) throws(ReplyError) -> [String] {
        let existingKeys = Set(keys).filter { metadata[$0] != nil }.sorted()
        guard !existingKeys.isEmpty else { throw ReplyError(.noSuchMetadataKey, "the live has none of these keys") }
        return existingKeys
    }
}

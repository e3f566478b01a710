// SPDX-License-Identifier: Apache-2.0
import PlazaModel

/// What a live's metadata may hold (I2): the limits are counted on the result, so a refused call changes nothing.
enum MetadataRules {
    /// `old` with `values` set; the last write of a key wins.
    ///
    /// - Throws: `metadataKeyTooLong`, `metadataValueTooLong`, `tooManyMetadataKeys` or `metadataTooLong`;
    ///   `badParameter` when there is nothing to set or a key is empty.
    static func merge(_ values: [String: String], into old: [String: String]) throws(ReplyError) -> [String: String] {
        guard !values.isEmpty, values[""] == nil else {
            throw ReplyError(.badParameter, "name 1 to \(Limits.metadataKeys) keys, none of them empty")
        }
        guard values.keys.allSatisfy({ $0.utf8.count <= Limits.metadataKeyBytes }) else {
            throw ReplyError(.metadataKeyTooLong, "a key has at most \(Limits.metadataKeyBytes) bytes")
        }
        guard values.values.allSatisfy({ $0.utf8.count <= Limits.metadataValueBytes }) else {
            throw ReplyError(.metadataValueTooLong, "a value has at most \(Limits.metadataValueBytes) bytes")
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

    /// Which of `keys` are there to be removed, each once, in their order.
    ///
    /// - Throws: `noSuchMetadataKey` when none is.
    static func removable(_ keys: [String], from old: [String: String]) throws(ReplyError) -> [String] {
        let found = Set(keys).filter { old[$0] != nil }.sorted()
        guard !found.isEmpty else { throw ReplyError(.noSuchMetadataKey, "the live has none of these keys") }
        return found
    }
}

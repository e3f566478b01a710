// SPDX-License-Identifier: Apache-2.0

/// The limits of the keys and values that one call sets (R3.43).
///
/// The gateway checks the limits before it forwards a call, so that a large invalid call costs no record. The directory
/// checks them again, together with the limits of all metadata of the live.
package enum MetadataValidation {
    /// Checks keys and values.
    ///
    /// - Throws: `badParameter` when `values` is empty, or when a key is empty or has a control character (R17.4);
    ///   `metadataKeyTooLong` or `metadataValueTooLong`.
    package static func check(_ values: [String: String]) throws(ReplyError) {
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
    }
}

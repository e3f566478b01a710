// SPDX-License-Identifier: Apache-2.0

/// The text form of record and row keys: parts that slashes separate; no part contains a slash.
package enum RecordKey {
    /// The byte between two parts.
    package static let separator = UInt8(ascii: "/")

    /// The parts of a key's text, empty parts included.
    ///
    /// The text is split at bytes: a slash and a combining mark after it are one `Character`, which is not a slash.
    package static func parts(of text: String) -> [String] {
        text.utf8.split(separator: Self.separator, omittingEmptySubsequences: false).map { String(Substring($0)) }
    }
}

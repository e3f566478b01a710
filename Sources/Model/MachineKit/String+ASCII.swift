// SPDX-License-Identifier: Apache-2.0

extension String {
    /// Creates a text with `replacement` in place of each byte that is not ASCII.
    ///
    /// Used for a peer's texts whose valid values are all ASCII, before they are compared or hashed. Swift normalises
    /// other texts to compare or hash them, which takes quadratic time for a long run of combining marks.
    ///
    /// - Parameters:
    ///   - bytes: the text's UTF-8 bytes, of any length.
    ///   - replacement: an ASCII byte. Choose one that no valid value of the field has.
    package init(ascii bytes: some Collection<UInt8>, replacing replacement: UInt8 = UInt8(ascii: "?")) {
        self.init(decoding: bytes.lazy.map { $0 < 0x80 ? $0 : replacement }, as: UTF8.self)
    }
}

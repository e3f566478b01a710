// SPDX-License-Identifier: Apache-2.0

extension String {
    /// Calls `body` with the UTF-8 bytes of the text.
    ///
    /// Apps also run this code on Apple systems that are too old for `utf8.span`.
    @inlinable package func withUTF8Bytes<Result>(_ body: (Span<UInt8>) -> Result) -> Result {
        #if canImport(Darwin)
        var text = self
        return text.withUTF8 { unsafe body($0.span) }
        #else
        return body(self.utf8.span)
        #endif
    }
}

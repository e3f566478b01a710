// SPDX-License-Identifier: Apache-2.0

extension Milliseconds {
    /// The whole milliseconds of a duration; a fraction is cut off.
    ///
    /// A duration that is longer than the longest span becomes the longest span.
    @inlinable package init(_ duration: Duration) {
        // A millisecond has 10^15 attoseconds.
        let (seconds, attoseconds) = duration.components
        self.init(Self.seconds(seconds).count + attoseconds / 1_000_000_000_000_000)
    }
}

extension Duration {
    /// A duration as long as `span`.
    @inlinable package init(_ span: Milliseconds) { self = .milliseconds(span.count) }
}

// SPDX-License-Identifier: Apache-2.0

extension Milliseconds {
    /// The whole milliseconds of a duration; a fraction is cut off.
    ///
    /// A longer duration than a span can be gives the longest span.
    @inlinable package init(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        self.init(Self.seconds(seconds).count + attoseconds / 1_000_000_000_000_000)
    }
}

extension Duration {
    /// The same span as a duration.
    @inlinable package init(_ span: Milliseconds) { self = .milliseconds(span.count) }
}

// SPDX-License-Identifier: Apache-2.0
#if !canImport(Combine)

/// The subscriptions of an operator, such as `merge`, to its sources.
///
/// This type has no lock; the operator accesses it only while it holds its own lock.
struct SourceSubscriptions {
    private var subscriptions: [(any Subscription)?]
    /// Whether each source has ended.
    private var hasEnded: [Bool]

    init(count: Int) {
        self.subscriptions = Array(repeating: nil, count: count)
        self.hasEnded = Array(repeating: false, count: count)
    }

    /// Whether the operator has no sources at all.
    var isEmpty: Bool { self.hasEnded.isEmpty }
    var haveAllEnded: Bool { self.hasEnded.allSatisfy { $0 } }
    /// The subscriptions to the sources that have not ended.
    var open: [any Subscription] { self.subscriptions.compactMap { $0 } }

    /// The subscription to a source; nil before the source has sent it, and after the source has ended.
    subscript(source: Int) -> (any Subscription)? { self.subscriptions[source] }

    /// Stores the subscription to a source.
    ///
    /// - Returns: False if it was not stored, because the source has a subscription already or has ended.
    mutating func attach(_ subscription: any Subscription, source: Int) -> Bool {
        if self.subscriptions[source] != nil || self.hasEnded[source] { return false }
        self.subscriptions[source] = subscription
        return true
    }

    /// Records the end of a source.
    ///
    /// - Returns: False if the source had ended before.
    @discardableResult mutating func recordEnd(of source: Int) -> Bool {
        defer { (self.hasEnded[source], self.subscriptions[source]) = (true, nil) }
        return !self.hasEnded[source]
    }

    /// Removes and returns all subscriptions.
    mutating func takeAll() -> [any Subscription] {
        defer { for source in self.subscriptions.indices { self.subscriptions[source] = nil } }
        return self.open
    }
}
#endif

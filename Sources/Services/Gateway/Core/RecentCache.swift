// SPDX-License-Identifier: Apache-2.0

/// A bounded cache that keeps the most recently used entries.
///
/// It has two generations of entries. When the younger one is full, it replaces the older one, whose entries are
/// dropped. A look-up moves an entry to the younger generation. So every operation takes constant time, and an entry in
/// steady use is never dropped.
package struct RecentCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// The largest number of entries of one generation.
    private let generationCapacity: Int
    private var younger: [Key: Value] = [:]
    private var older: [Key: Value] = [:]

    /// Creates a cache without entries.
    ///
    /// - Parameter capacity: The largest number of entries; less than 2 counts as 2.
    package init(capacity: Int) { self.generationCapacity = max(1, capacity / 2) }

    /// Returns the value of a key; nil if the cache has none.
    package mutating func value(of key: Key) -> Value? {
        if let value = self.younger[key] { return value }
        guard let value = self.older.removeValue(forKey: key) else { return nil }
        self.store(value, for: key)
        return value
    }

    /// Adds or replaces the value of a key.
    package mutating func store(_ value: Value, for key: Key) {
        if self.younger.count >= self.generationCapacity, self.younger[key] == nil {
            self.older = self.younger
            self.younger = [:]
        }
        self.older[key] = nil
        self.younger[key] = value
    }
}

// SPDX-License-Identifier: Apache-2.0

/// A value that stands apart from what holds it: a copy shares it until one of the two changes it.
///
/// For large parts that change seldom, and for rows, so that moving and copying the holder costs a word.
@usableFromInline package struct Boxed<Value: Sendable>: Sendable {
    /// Exactly one: an array is the shared, mutable, checked storage that the language has.
    @usableFromInline var storage: ContiguousArray<Value>

    /// A box that holds `value`.
    @inlinable package init(_ value: Value) { self.storage = [value] }

    /// What the box holds; changed in place when no other box shares it.
    @inlinable package var value: Value {
        @inline(__always) _read { yield self.storage[0] }
        @inline(__always) _modify { yield &self.storage[0] }
    }
}

extension Boxed: Equatable where Value: Equatable {
    @inlinable package static func == (a: Boxed, b: Boxed) -> Bool { a.storage == b.storage }
}

extension Boxed: Hashable where Value: Hashable {}

extension Boxed: Codable where Value: Codable {
    @inlinable package init(from decoder: any Decoder) throws { self.init(try Value(from: decoder)) }
    @inlinable package func encode(to encoder: any Encoder) throws { try self.value.encode(to: encoder) }
}

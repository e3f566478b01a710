// SPDX-License-Identifier: Apache-2.0

/// A value that stands apart from what holds it, and never changes there: a copy is a word, a change a new place.
///
/// For what is passed on far more often than it is made; where changes are frequent, `Boxed` makes them in place.
@usableFromInline package struct Shared<Value: Sendable>: Sendable {
    @usableFromInline final class Place: Sendable {
        @usableFromInline let value: Value

        @inlinable init(_ value: Value) { self.value = value }
    }

    @usableFromInline var place: Place

    /// A place of its own for `value`.
    @inlinable package init(_ value: Value) { self.place = Place(value) }

    /// What stands there; setting it moves this holder to a new place and leaves all others where they are.
    @inlinable package var value: Value {
        @inline(__always) _read { yield self.place.value }
        set { self.place = Place(newValue) }
    }
}

extension Shared: Equatable where Value: Equatable {
    @inlinable package static func == (a: Shared, b: Shared) -> Bool { a.place === b.place || a.value == b.value }
}

extension Shared: Hashable where Value: Hashable {
    @inlinable package func hash(into hasher: inout Hasher) { hasher.combine(self.value) }
}

extension Shared: Codable where Value: Codable {
    @inlinable package init(from decoder: any Decoder) throws { self.init(try Value(from: decoder)) }
    @inlinable package func encode(to encoder: any Encoder) throws { try self.value.encode(to: encoder) }
}

// SPDX-License-Identifier: Apache-2.0

/// A reference to an immutable value: a copy of the reference is one word, and a change allocates a new value.
///
/// Use it for values that are passed on far more often than they are created. For values that change often, use
/// `CopyOnWrite`, which changes them in place.
@usableFromInline package struct Reference<Value: Sendable>: Sendable {
    /// The heap object that all copies of a reference share.
    @usableFromInline final class Box: Sendable {
        @usableFromInline let value: Value

        @inlinable init(_ value: Value) { self.value = value }
    }

    @usableFromInline var box: Box

    /// A reference to `value`.
    @inlinable package init(_ value: Value) { self.box = Box(value) }

    /// The value; setting it changes only this reference, not its copies.
    @inlinable package var value: Value {
        @inline(__always) _read { yield self.box.value }
        set { self.box = Box(newValue) }
    }
}

extension Reference: Equatable where Value: Equatable {
    @inlinable package static func == (a: Reference, b: Reference) -> Bool { a.box === b.box || a.value == b.value }
}

extension Reference: Hashable where Value: Hashable {
    @inlinable package func hash(into hasher: inout Hasher) { hasher.combine(self.value) }
}

extension Reference: Codable where Value: Codable {
    @inlinable package init(from decoder: any Decoder) throws { self.init(try Value(from: decoder)) }
    @inlinable package func encode(to encoder: any Encoder) throws { try self.value.encode(to: encoder) }
}

// SPDX-License-Identifier: Apache-2.0

/// A copy-on-write value: copies share it until one of them changes it.
///
/// Used for rows and for large values that change seldom: moving or copying the type that contains
/// them then moves one word.
@usableFromInline package struct CopyOnWrite<Value: Sendable>: Sendable {
    /// The value, as the only element of an array, because arrays have copy-on-write built in.
    @usableFromInline var storage: ContiguousArray<Value>

    /// Makes a copy-on-write value from `value`.
    @inlinable package init(_ value: Value) { self.storage = [value] }

    /// The value; changed in place when no other copy shares it.
    @inlinable package var value: Value {
        @inline(__always) _read { yield self.storage[0] }
        @inline(__always) _modify { yield &self.storage[0] }
    }
}

extension CopyOnWrite: Equatable where Value: Equatable {
    @inlinable package static func == (a: CopyOnWrite, b: CopyOnWrite) -> Bool { a.storage == b.storage }
}

extension CopyOnWrite: Hashable where Value: Hashable {}

extension CopyOnWrite: Codable where Value: Codable {
    @inlinable package init(from decoder: any Decoder) throws { self.init(try Value(from: decoder)) }
    @inlinable package func encode(to encoder: any Encoder) throws { try self.value.encode(to: encoder) }
}

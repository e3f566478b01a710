// SPDX-License-Identifier: Apache-2.0
#if !canImport(Combine)
internal import Foundation

/// An activity that can be ended early.
public protocol Cancellable {
    /// Ends the activity.
    ///
    /// A second call has no effect.
    func cancel()
}

extension Cancellable {
    /// Stores this object in a collection, so that it is cancelled when the collection is released.
    ///
    /// - Parameter collection: The collection to which it is appended.
    public func store<C: RangeReplaceableCollection>(in collection: inout C) where C.Element == AnyCancellable {
        AnyCancellable(self).store(in: &collection)
    }

    /// Stores this object in a set, so that it is cancelled when the set is released.
    ///
    /// - Parameter set: The set into which it is inserted.
    public func store(in set: inout Set<AnyCancellable>) { AnyCancellable(self).store(in: &set) }
}

/// Ends an activity when it is cancelled or released.
public final class AnyCancellable: Cancellable, Hashable {
    private let lock = NSLock()
    private var action: (() -> Void)?

    /// Creates a value that runs a closure once, when it is cancelled or released.
    ///
    /// - Parameter cancel: The closure that ends the activity.
    public init(_ cancel: @escaping () -> Void) { self.action = cancel }

    /// Creates a value that cancels another one.
    ///
    /// - Parameter canceller: The value to cancel.
    public init<C: Cancellable>(_ canceller: C) { self.action = { canceller.cancel() } }

    deinit { self.action?() }

    /// Ends the activity, unless it was ended already.
    public func cancel() {
        let action = self.lock.withLock {
            defer { self.action = nil }
            return self.action
        }
        action?()
    }

    /// Stores this object in a collection, so that it is cancelled when the collection is released.
    ///
    /// - Parameter collection: The collection to which it is appended.
    public func store<C: RangeReplaceableCollection>(in collection: inout C) where C.Element == AnyCancellable {
        collection.append(self)
    }

    /// Stores this object in a set, so that it is cancelled when the set is released.
    ///
    /// - Parameter set: The set into which it is inserted.
    public func store(in set: inout Set<AnyCancellable>) { set.insert(self) }

    /// Whether both are the same object.
    public static func == (lhs: AnyCancellable, rhs: AnyCancellable) -> Bool { lhs === rhs }

    /// Adds the object's identity to a hasher.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
#endif

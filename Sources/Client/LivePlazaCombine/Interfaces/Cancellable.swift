// SPDX-License-Identifier: Apache-2.0
#if !canImport(Combine)
internal import Foundation

/// An activity that can be ended early.
public protocol Cancellable {
    /// Ends the activity.
    ///
    /// A second call changes nothing.
    func cancel()
}

extension Cancellable {
    /// Keeps this in a collection, so that it is cancelled when the collection is released.
    ///
    /// - Parameter collection: Where it is appended.
    public func store<C: RangeReplaceableCollection>(in collection: inout C) where C.Element == AnyCancellable {
        AnyCancellable(self).store(in: &collection)
    }

    /// Keeps this in a set, so that it is cancelled when the set is released.
    ///
    /// - Parameter set: Where it is inserted.
    public func store(in set: inout Set<AnyCancellable>) { AnyCancellable(self).store(in: &set) }
}

/// Ends an activity when it is cancelled or released.
public final class AnyCancellable: Cancellable, Hashable {
    private let lock = NSLock()
    private var action: (() -> Void)?

    /// Makes one that runs a closure once.
    ///
    /// - Parameter cancel: What ends the activity.
    public init(_ cancel: @escaping () -> Void) { self.action = cancel }

    /// Makes one that cancels another.
    ///
    /// - Parameter canceller: What is cancelled.
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

    /// Keeps this in a collection, so that it is cancelled when the collection is released.
    ///
    /// - Parameter collection: Where it is appended.
    public func store<C: RangeReplaceableCollection>(in collection: inout C) where C.Element == AnyCancellable {
        collection.append(self)
    }

    /// Keeps this in a set, so that it is cancelled when the set is released.
    ///
    /// - Parameter set: Where it is inserted.
    public func store(in set: inout Set<AnyCancellable>) { set.insert(self) }

    /// Whether both are the same object.
    public static func == (lhs: AnyCancellable, rhs: AnyCancellable) -> Bool { lhs === rhs }

    /// Feeds the object's identity to a hasher.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
#endif

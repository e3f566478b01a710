// SPDX-License-Identifier: Apache-2.0
#if !canImport(Combine)
internal import Foundation

/// A publisher with which an object announces that it is about to change.
public final class ObservableObjectPublisher: Publisher {
    /// The values have no content.
    public typealias Output = Void

    /// The publisher never fails.
    public typealias Failure = Never

    private let subject = PassthroughSubject<Void, Never>()

    /// Makes a publisher without subscribers.
    public init() {}

    /// Attaches a subscriber.
    ///
    /// - Parameter subscriber: The subscriber, which is notified of each change.
    public func receive<S: Subscriber>(subscriber: S) where S.Input == Void, S.Failure == Never {
        self.subject.subscribe(subscriber)
    }

    /// Notifies the subscribers.
    public func send() { self.subject.send() }
}

/// An object that notifies subscribers before it changes.
public protocol ObservableObject: AnyObject {
    /// The type of its publisher.
    associatedtype ObjectWillChangePublisher: Publisher = ObservableObjectPublisher
    where ObjectWillChangePublisher.Failure == Never

    /// A publisher that emits before the object changes.
    var objectWillChange: ObjectWillChangePublisher { get }
}

extension ObservableObject where ObjectWillChangePublisher == ObservableObjectPublisher {
    /// A publisher that emits before a property declared with `@Published` changes.
    ///
    /// The `@Published` properties store the publisher. An object without such a property has no place for a publisher,
    /// and would get a new publisher at each access. Therefore it must declare `objectWillChange` itself.
    public var objectWillChange: ObservableObjectPublisher {
        var fields: [any PublishedField] = []
        var mirror: Mirror? = Mirror(reflecting: self)
        while let current = mirror {
            fields += current.children.compactMap { $0.value as? any PublishedField }
            mirror = current.superclassMirror
        }
        // The lock prevents two threads from making two publishers for the same object.
        return ObservationLock.shared.withLock {
            let publisher = fields.lazy.compactMap(\.objectWillChange).first ?? ObservableObjectPublisher()
            for field in fields { field.setObjectWillChange(publisher) }
            return publisher
        }
    }
}

/// A property declared with `@Published`, which stores its object's `objectWillChange` and announces changes by it.
protocol PublishedField {
    var objectWillChange: ObservableObjectPublisher? { get }
    func setObjectWillChange(_ publisher: ObservableObjectPublisher)
}

private enum ObservationLock {
    static let shared = NSLock()
}
#endif

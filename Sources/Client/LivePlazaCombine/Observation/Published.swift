// SPDX-License-Identifier: Apache-2.0
#if !canImport(Combine)
internal import Foundation

/// A property that publishes its values.
///
/// Subscribers get the current value first, and then each new one before the property changes: in a subscriber's
/// closure the property still has the earlier value. If the property's object is an `ObservableObject`, a change also
/// notifies the subscribers of its `objectWillChange`.
@propertyWrapper
public struct Published<Value> {
    private let storage: PublishedStorage<Value>

    /// Makes a property.
    ///
    /// - Parameter initialValue: Its first value.
    public init(initialValue: Value) { self.storage = PublishedStorage(initialValue) }

    /// Makes a property.
    ///
    /// - Parameter wrappedValue: Its first value.
    public init(wrappedValue: Value) { self.storage = PublishedStorage(wrappedValue) }

    /// Unavailable: only properties of classes can publish their values.
    @available(*, unavailable, message: "@Published is only available on properties of classes")
    public var wrappedValue: Value {
        get { self.storage.value }
        nonmutating set { self.storage.value = newValue }
    }

    /// The value of the property in an object; the compiler calls it for each access to the property.
    public static subscript<EnclosingSelf: AnyObject>(
        _enclosingInstance object: EnclosingSelf,
        wrapped wrappedKeyPath: ReferenceWritableKeyPath<EnclosingSelf, Value>,
        storage storageKeyPath: ReferenceWritableKeyPath<EnclosingSelf, Published<Value>>
    ) -> Value {
        get { object[keyPath: storageKeyPath].storage.value }
        set { object[keyPath: storageKeyPath].storage.value = newValue }
    }

    /// The publisher of the property, to be written `$name`.
    ///
    /// An assignment makes this property follow another one: it is set to each value of the assigned publisher.
    public var projectedValue: Publisher {
        mutating get { Publisher(self.storage) }
        set { newValue.storage.forward(to: self.storage) }
    }

    /// The publisher of a property.
    public struct Publisher: LivePlazaCombine.Publisher {
        /// The kind of values of the property.
        public typealias Output = Value

        /// The sequence cannot fail.
        public typealias Failure = Never

        fileprivate let storage: PublishedStorage<Value>

        fileprivate init(_ storage: PublishedStorage<Value>) { self.storage = storage }

        /// Attaches a subscriber.
        ///
        /// - Parameter subscriber: The subscriber, which gets the current value, and then each new one before the
        ///   property has it.
        public func receive<S: Subscriber>(subscriber: S) where S.Input == Value, S.Failure == Never {
            self.storage.subject.subscribe(subscriber)
        }
    }
}

extension Published: PublishedField {
    var objectWillChange: ObservableObjectPublisher? { self.storage.objectWillChange.value }

    func setObjectWillChange(_ publisher: ObservableObjectPublisher) { self.storage.objectWillChange.value = publisher }
}

extension Publisher where Failure == Never {
    /// Sets a property that is declared with `@Published` to each value, as long as the property's object exists.
    ///
    /// - Parameter published: The property's publisher, to be written `&$name`.
    public func assign(to published: inout Published<Output>.Publisher) {
        published.storage.retain(self.sink { [weak target = published.storage] in target?.value = $0 })
    }
}

/// The value of a property and its subscribers.
private final class PublishedStorage<Value> {
    /// Publishes the values; while its subscribers receive a new value, `value` is still the earlier value.
    let subject: CurrentValueSubject<Value, Never>
    let objectWillChange = ValueBox<ObservableObjectPublisher?>(nil)
    private let stored: ValueBox<Value>
    /// The subscriptions that set this property.
    private let assignments = ValueBox<[AnyCancellable]>([])

    init(_ value: Value) {
        self.subject = CurrentValueSubject(value)
        self.stored = ValueBox(value)
    }

    var value: Value {
        get { self.stored.value }
        set {
            self.objectWillChange.value?.send()
            self.subject.send(newValue)
            self.stored.value = newValue
        }
    }

    /// Retains a subscription as long as the property's object exists.
    func retain(_ assignment: AnyCancellable) { self.assignments.value.append(assignment) }

    /// Sets the value of another property to each value of this property.
    func forward(to other: PublishedStorage) {
        if other !== self { other.retain(self.subject.sink { [weak other] in other?.value = $0 }) }
    }
}
#endif

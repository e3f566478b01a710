// SPDX-License-Identifier: Apache-2.0
public import LivePlazaCombine

/// A property of a class that publishes its values and can be read and set on any thread.
///
/// `$name` is a publisher of the current value and of each new value. Unlike with `Published`, the property already has
/// the new value when its subscribers receive it.
@propertyWrapper
public struct PublishedState<Value> {
    let storage: StateStorage<Value>

    /// Makes a property with its first value.
    public init(wrappedValue: Value) { self.storage = StateStorage(wrappedValue) }

    /// Makes a property of a value that another property may share.
    init(_ storage: StateStorage<Value>) { self.storage = storage }

    /// The present value.
    public var wrappedValue: Value {
        get { self.storage.subject.value }
        nonmutating set {
            self.storage.objectWillChange.send()
            self.storage.subject.send(newValue)
        }
    }

    /// Publishes the present value, and each new one.
    public var projectedValue: AnyPublisher<Value, Never> { self.storage.publisher { $0 } }
}

/// The value of a `PublishedState` and its subscribers.
///
/// Each subscription retains the storage until the subscription ends. Therefore a weak reference to the storage, such
/// as that of `StoreRegistry`, stays valid as long as anybody receives the values.
final class StateStorage<Value> {
    let subject: CurrentValueSubject<Value, Never>
    let objectWillChange = ObservableObjectPublisher()

    init(_ value: Value) { self.subject = CurrentValueSubject(value) }

    /// Publishes a part of the present value, and of each new one.
    func publisher<Part>(_ part: @escaping (Value) -> Part) -> AnyPublisher<Part, Never> {
        // The closure is the subscription's reference to the storage.
        self.subject.map { value in withExtendedLifetime(self) { part(value) } }.eraseToAnyPublisher()
    }
}

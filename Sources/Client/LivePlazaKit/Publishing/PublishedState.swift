// SPDX-License-Identifier: Apache-2.0
public import LivePlazaCombine

/// A property of a class that publishes its values and can be read and set on any thread.
///
/// `$name` is a publisher of the current value and of each new value. Unlike with `Published`, the property already has
/// the new value when its subscribers receive it.
@propertyWrapper
public struct PublishedState<Value> {
    let subject: CurrentValueSubject<Value, Never>
    let objectWillChange = ObservableObjectPublisher()

    /// Makes a property with its first value.
    public init(wrappedValue: Value) { self.subject = CurrentValueSubject(wrappedValue) }

    /// The present value.
    public var wrappedValue: Value {
        get { self.subject.value }
        nonmutating set {
            self.objectWillChange.send()
            self.subject.send(newValue)
        }
    }

    /// Publishes the present value, and each new one.
    public var projectedValue: AnyPublisher<Value, Never> { self.subject.eraseToAnyPublisher() }
}

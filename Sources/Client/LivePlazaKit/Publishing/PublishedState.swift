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
        get { self.storage.value }
        nonmutating set {
            self.storage.objectWillChange.send()
            self.storage.show(newValue)
            self.storage.publishShown()
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
    fileprivate let subject: CurrentValueSubject<Value, Never>
    /// The value that is shown, but not published yet.
    private let shown = Locked(Shown())
    let objectWillChange = ObservableObjectPublisher()

    private struct Shown {
        /// Nil if the subject has published the present value.
        var value: Value?
        /// Counts the values.
        var number = 0
    }

    init(_ value: Value) { self.subject = CurrentValueSubject(value) }

    /// The present value.
    var value: Value { self.numberedValue.value }

    /// The present value and its number; a later value has a higher number.
    fileprivate var numberedValue: (value: Value, number: Int) {
        let shown = self.shown.withLock { $0 }
        return (shown.value ?? self.subject.value, shown.number)
    }

    /// Sets the value, which `publishShown` publishes.
    func show(_ value: Value) {
        self.shown.withLock { shown in
            shown.value = value
            shown.number += 1
        }
    }

    /// Publishes the value that was last set; does nothing if it is published already.
    func publishShown() {
        let shown = self.shown.withLock { $0 }
        guard let value = shown.value else { return }
        self.subject.send(value)
        // A subscriber may have set a further value. Until the subject has this value, readers get it from `shown`.
        self.shown.withLock { if $0.number == shown.number { $0.value = nil } }
    }

    /// Publishes a part of the present value, and of each new one.
    func publisher<Part>(_ part: @escaping (Value) -> Part) -> AnyPublisher<Part, Never> {
        StateParts(storage: self, part: part).eraseToAnyPublisher()
    }
}

/// Publishes a part of a storage's present value, and of each new one.
///
/// A subscription that is made after a value is shown and before it is published begins with this value, and does not
/// get it a second time.
private struct StateParts<Value, Part>: Publisher {
    typealias Output = Part
    typealias Failure = Never

    let storage: StateStorage<Value>
    let part: (Value) -> Part

    func receive<S: Subscriber>(subscriber: S) where S.Input == Part, S.Failure == Never {
        // The closure is the subscription's reference to the storage.
        let (storage, part) = (self.storage, self.part)
        // The number of the value that the subscriber has received last.
        let lastNumber = Locked<Int?>(nil)
        let parts = storage.subject.compactMap { _ -> Part? in
            let (value, number) = storage.numberedValue
            let isNew = lastNumber.withLock { last in
                defer { last = number }
                return last != number
            }
            return isNew ? part(value) : nil
        }
        parts.subscribe(subscriber)
    }
}

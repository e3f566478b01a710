// SPDX-License-Identifier: Apache-2.0
public import LivePlazaCombine

/// A store's state, which apps read and subscribe to.
///
/// The state changes on the delivery queue (the main queue, unless the app's configuration names another), at most once
/// for each frame that the server sends. It can be read on any thread.
public final class StatePublisher<State>: ObservableObject, @unchecked Sendable {
    /// The present state.
    @PublishedState public var value: State

    /// Creates a publisher with its initial state.
    public init(initialState: State) { self._value = PublishedState(wrappedValue: initialState) }

    /// Creates a publisher of a state that other publishers may share.
    init(_ storage: StateStorage<State>) { self._value = PublishedState(storage) }

    /// The state and its subscribers.
    var storage: StateStorage<State> { self._value.storage }

    /// Publishes before the state changes.
    public var objectWillChange: ObservableObjectPublisher { self.storage.objectWillChange }

    /// Publishes the present state, and each new one.
    public func subscribe() -> AnyPublisher<State, Never> { self._value.projectedValue }

    /// Publishes a part of the state, now and with each new state.
    ///
    /// The compiler chooses this method only for parts that are not `Equatable`.
    ///
    /// - Parameter selector: selects the part of the state.
    /// - Returns: a publisher, which cannot fail.
    @_disfavoredOverload
    public func subscribe<Value>(_ selector: StatePublisherSelector<State, Value>) -> AnyPublisher<Value, Never> {
        self.storage.publisher { selector.map($0) }
    }

    /// Publishes a part of the state, now and whenever it changes.
    ///
    /// - Parameter selector: selects the part of the state.
    /// - Returns: a publisher, which cannot fail.
    public func subscribe<Value: Equatable>(
        _ selector: StatePublisherSelector<State, Value>
    ) -> AnyPublisher<Value, Never> {
        self.storage.publisher { selector.map($0) }.removeDuplicates().eraseToAnyPublisher()
    }
}

/// Selects a part of a store's state.
public final class StatePublisherSelector<State, Value> {
    private let projector: (State) -> Value

    /// Selects the result of a function of the state.
    public init(projector: @escaping (State) -> Value) { self.projector = projector }

    /// Selects the value at a key path.
    public convenience init(keyPath: KeyPath<State, Value>) {
        self.init(projector: { $0[keyPath: keyPath] })
    }

    /// The part of a state.
    public func map(_ state: State) -> Value { self.projector(state) }
}

// SPDX-License-Identifier: Apache-2.0
internal import LivePlazaCombine
public import Observation

/// A store's state for views that observe it: each field of the state is a property of the model.
///
///     let barrage = store.state.model()
///     Text("\(barrage.messageList.count)")
///
/// A view is drawn again only when a field that it has read changes. Like the state, the model changes on the delivery
/// queue, at most once for each frame that the server sends, and can be read on any thread.
@dynamicMemberLookup
public final class StoreModel<State: Sendable>: Observable, @unchecked Sendable {
    /// A field that a view has read, so that changes of the field must be announced.
    private struct Field {
        var isChanged: (_ old: State, _ new: State) -> Bool
        var willSet: (StoreModel<State>) -> Void
        var didSet: (StoreModel<State>) -> Void
    }

    /// The state, and the fields that were read.
    private struct Content {
        var state: State
        var fields: [PartialKeyPath<State>: Field] = [:]
    }

    private let registrar = ObservationRegistrar()
    private let content: Locked<Content>
    private let subscription = Locked<AnyCancellable?>(nil)

    /// Creates a model that shows the publisher's state as long as the model lives.
    init(_ publisher: StatePublisher<State>) {
        self.content = Locked(Content(state: publisher.value))
        let subscription = publisher.subscribe().sink { [weak self] state in self?.show(state) }
        self.subscription.withLock { $0 = subscription }
    }

    /// The value of a field of the state.
    public subscript<Value: Equatable>(dynamicMember field: KeyPath<State, Value>) -> Value {
        let property = \StoreModel<State>.[dynamicMember: field]
        // The field is registered before it is observed. Otherwise a change between the two would be missed.
        self.content.withLock { content in
            if content.fields[field] != nil { return }
            content.fields[field] = Field(
                isChanged: { $0[keyPath: field] != $1[keyPath: field] },
                willSet: { $0.registrar.willSet($0, keyPath: property) },
                didSet: { $0.registrar.didSet($0, keyPath: property) })
        }
        self.registrar.access(self, keyPath: property)
        return self.content.withLock { $0.state[keyPath: field] }
    }

    private func show(_ state: State) {
        let changedFields = self.content.withLock { content in
            content.fields.values.filter { $0.isChanged(content.state, state) }
        }
        for field in changedFields { field.willSet(self) }
        self.content.withLock { $0.state = state }
        for field in changedFields { field.didSet(self) }
    }
}

extension StatePublisher where State: Sendable {
    /// Creates a model of the state for views that observe it; it is kept up to date as long as it lives.
    public func model() -> StoreModel<State> { StoreModel(self) }
}

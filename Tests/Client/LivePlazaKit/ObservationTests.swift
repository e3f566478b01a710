// SPDX-License-Identifier: Apache-2.0
import LivePlazaCombine
import Observation
import Testing

@testable import LivePlazaKit

/// Models of states that views observe, and states and events as asynchronous sequences.
@Suite struct ObservationTests {
    private let publisher = StatePublisher(initialState: BarrageState())

    @Test func `a model notifies the readers of a field only when that field changes`() {
        let model = self.publisher.model()
        let changes = Locked(0)
        withObservationTracking {
            _ = model.messageList
        } onChange: {
            changes.withLock { $0 += 1 }
        }
        self.publisher.value.allowSendMessage = false
        #expect(changes.withLock { $0 } == 0)
        #expect(!model.allowSendMessage)
        self.publisher.value.messageList = [Barrage()]
        #expect(changes.withLock { $0 } == 1)
        #expect(model.messageList.count == 1)
    }

    @Test func `a model is released with its last reference, and its subscription ends`() {
        weak var weakModel: StoreModel<BarrageState>?
        do {
            let model = self.publisher.model()
            weakModel = model
            self.publisher.value.messageList = [Barrage()]
            #expect(model.messageList.count == 1)
        }
        #expect(weakModel == nil)
        // Without the model a change is still safe.
        self.publisher.value.messageList = []
    }

    @Test func `a slow reader of a state gets only the newest state`() async {
        var states = self.publisher.values.makeAsyncIterator()
        self.publisher.value.allowSendMessage = false
        self.publisher.value.messageList = [Barrage()]
        let state = await states.next()
        #expect(state?.messageList.count == 1 && state?.allowSendMessage == false)
        self.publisher.value.messageList = []
        #expect(await states.next()?.messageList.isEmpty == true)
    }

    @Test func `events wait for a slow reader up to a limit, beyond which the oldest are dropped`() async {
        let subject = PassthroughSubject<Int, Never>()
        let events = subject.events(bufferingNewest: 3)
        for number in 1...5 { subject.send(number) }
        subject.send(completion: .finished)
        var received: [Int] = []
        for await number in events { received.append(number) }
        #expect(received == [3, 4, 5])
    }

    @Test func `a cancelled reader ends its subscription`() async {
        final class Token: Sendable {}
        weak var weakToken: Token?
        let subject = PassthroughSubject<Int, Never>()
        do {
            let token = Token()
            weakToken = token
            let events = subject.map { [token] number in
                _ = token
                return number
            }.events()
            let reader = Task { for await _ in events {} }
            reader.cancel()
            await reader.value
        }
        #expect(weakToken == nil, "the subscription still retains its publisher")
    }
}

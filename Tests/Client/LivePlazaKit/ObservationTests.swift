// SPDX-License-Identifier: Apache-2.0
import LivePlazaCombine
import Observation
import Testing

@testable import LivePlazaKit

/// Models, which are states that views observe, and asynchronous sequences of states and events.
@Suite struct ObservationTests {
    private let publisher = StatePublisher(initialState: BarrageState())

    @Test func `a model notifies the reader of a field when this field changes, and not when another one changes`() {
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
        // A change after the release of the model must not trap.
        self.publisher.value.messageList = []
    }

    @Test func `a reader that is slower than the changes of a state gets only the newest state`() async {
        var states = self.publisher.values.makeAsyncIterator()
        self.publisher.value.allowSendMessage = false
        self.publisher.value.messageList = [Barrage()]
        let state = await states.next()
        #expect(state?.messageList.count == 1 && state?.allowSendMessage == false)
        self.publisher.value.messageList = []
        #expect(await states.next()?.messageList.isEmpty == true)
    }

    @Test func `only the newest events, up to a limit, wait for a slow reader`() async {
        let subject = PassthroughSubject<Int, Never>()
        let events = subject.events(bufferingNewest: 3)
        for number in 1...5 { subject.send(number) }
        subject.send(completion: .finished)
        var received: [Int] = []
        for await number in events { received.append(number) }
        #expect(received == [3, 4, 5])
    }

    @Test func `the subscription of a sequence ends when the reader is cancelled`() async {
        // The publisher retains this object, so the object tells whether the publisher was released.
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
        #expect(weakToken == nil, "expected that the ended subscription has released its publisher")
    }
}

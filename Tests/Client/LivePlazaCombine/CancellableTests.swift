// SPDX-License-Identifier: Apache-2.0
import LivePlazaCombine
import Testing

/// When a subscription ends, and what it then releases.
@Suite struct CancellableTests {
    @Test func `a cancellable runs its action once, when it is cancelled or released`() {
        var count = 0
        do {
            let cancellable = AnyCancellable { count += 1 }
            cancellable.cancel()
            cancellable.cancel()
            #expect(count == 1)
        }
        #expect(count == 1)
        do { _ = AnyCancellable { count += 1 } }
        #expect(count == 2)
    }

    @Test func `subscriptions in a set or an array last until the set or array is emptied`() {
        let subject = PassthroughSubject<Int, Never>()
        var set: Set<AnyCancellable> = []
        var array: [AnyCancellable] = []
        var values: [Int] = []
        subject.sink { values.append($0) }.store(in: &set)
        subject.sink { values.append(-$0) }.store(in: &array)
        subject.send(1)
        set.removeAll()
        subject.send(2)
        array.removeAll()
        subject.send(3)
        #expect(values == [1, -1, -2])
    }

    @Test func `a cancel releases what the closures of a subscription capture, even if the subject still exists`() {
        final class Screen { let isShown = true }
        let subject = PassthroughSubject<Int, Never>()
        weak var weakScreen: Screen?
        var cancellables: [AnyCancellable] = []
        do {
            let screen = Screen()
            weakScreen = screen
            // The closures of the first two publishers capture the screen, and so do the closures of all four sinks.
            for publisher in [
                subject.map { ($0, screen).0 }.eraseToAnyPublisher(),
                subject.filter { _ in screen.isShown }.eraseToAnyPublisher(),
                subject.merge(with: subject).eraseToAnyPublisher(),
                subject.combineLatest(subject) { $0 + $1 }.eraseToAnyPublisher(),
            ] {
                publisher.sink { _ in _ = screen }.store(in: &cancellables)
            }
        }
        subject.send(1)
        #expect(weakScreen != nil)
        for cancellable in cancellables { cancellable.cancel() }
        #expect(weakScreen == nil)
    }

    @Test func `the completion releases what the closures capture, even while the cancellable exists`() {
        final class Screen {}
        let subject = PassthroughSubject<Int, Never>()
        weak var weakScreen: Screen?
        let cancellable: AnyCancellable
        do {
            let screen = Screen()
            weakScreen = screen
            cancellable = subject.combineLatest(subject.dropFirst()).map { $0.0 }.sink { _ in _ = screen }
        }
        subject.send(1)
        #expect(weakScreen != nil)
        subject.send(completion: .finished)
        #expect(weakScreen == nil)
        cancellable.cancel()
    }

    @Test func `a subscription retains its subject until the subscription is cancelled, released or completed`() {
        weak var passthrough: PassthroughSubject<Int, Never>?
        weak var current: CurrentValueSubject<Int, Never>?
        func subscribe() -> [AnyCancellable] {
            let (events, values) = (PassthroughSubject<Int, Never>(), CurrentValueSubject<Int, Never>(1))
            (passthrough, current) = (events, values)
            return [events.filter { $0 > 0 }.sink { _ in }, values.map { $0 }.sink { _ in }]
        }
        let cancelled = subscribe()
        #expect(passthrough != nil && current != nil)
        for cancellable in cancelled { cancellable.cancel() }
        #expect(passthrough == nil && current == nil)
        // The second pair of subscriptions is released, and the third one is completed.
        var released = subscribe()
        #expect(passthrough != nil && current != nil)
        released = []
        #expect(passthrough == nil && current == nil)
        let completed = subscribe()
        passthrough?.send(completion: .finished)
        current?.send(completion: .finished)
        #expect(passthrough == nil && current == nil)
        // The cancellables of the completed subscriptions exist until here.
        #expect(completed.count == 2 && released.isEmpty)
    }

    @Test func `two cancellables whose actions cancel each other run their actions once`() {
        var second: AnyCancellable?
        var count = 0
        let first = AnyCancellable {
            count += 1
            second?.cancel()
        }
        second = AnyCancellable {
            count += 1
            first.cancel()
        }
        first.cancel()
        #expect(count == 2)
    }
}

// SPDX-License-Identifier: Apache-2.0
import LivePlazaCombine
import Testing

/// A subject that has a current value, which each new subscriber gets.
///
/// A `ManualSubscriber` requests demand when the test says, and records values. `_ = cancellable` keeps a subscription
/// until the end of a test.
@Suite struct CurrentValueSubjectTests {
    @Test func `a subscriber gets the latest value first`() {
        let subject = CurrentValueSubject<Int, Never>(1)
        subject.send(2)
        var values: [Int] = []
        let cancellable = subject.sink { values.append($0) }
        subject.value = 3
        #expect(values == [2, 3])
        #expect(subject.value == 3)
        _ = cancellable
    }

    @Test func `a value that is changed in place is sent`() {
        let subject = CurrentValueSubject<[Int], Never>([])
        var values: [[Int]] = []
        let cancellable = subject.sink { values.append($0) }
        subject.value.append(1)
        #expect(values == [[], [1]])
        _ = cancellable
    }

    @Test func `a subscriber gets only the latest value when it requests a value late`() {
        let subject = CurrentValueSubject<Int, Never>(1)
        let subscriber = ManualSubscriber<Int, Never>()
        subject.subscribe(subscriber)
        subject.send(2)
        subject.send(3)
        #expect(subscriber.values == [])
        subscriber.request(.max(1))
        #expect(subscriber.values == [3])
        subscriber.request(.max(1))
        // The subscriber has the latest value, 3, already. So this request waits for the next value.
        #expect(subscriber.values == [3])
        subject.send(4)
        subject.send(5)
        #expect(subscriber.values == [3, 4])
        subscriber.request(.max(2))
        // Two values are requested: the latest one, 5, comes at once, and the next one, 6, when it is sent.
        #expect(subscriber.values == [3, 4, 5])
        subject.send(6)
        subject.send(7)
        #expect(subscriber.values == [3, 4, 5, 6])
    }

    @Test func `a value that is sent during a delivery is delivered next`() {
        let subject = CurrentValueSubject<Int, Never>(0)
        var values: [Int] = []
        let cancellable = subject.sink { value in
            values.append(value)
            if value < 3 { subject.send(value + 1) }
        }
        #expect(values == [0, 1, 2, 3])
        #expect(subject.value == 3)
        _ = cancellable
    }

    @Test func `after the completion the value cannot change, and a new subscriber gets only the completion`() {
        let subject = CurrentValueSubject<Int, TestError>(1)
        subject.send(completion: .failure(TestError()))
        subject.send(2)
        subject.value = 3
        #expect(subject.value == 1)
        let subscriber = ManualSubscriber<Int, TestError>(asking: .unlimited)
        subject.subscribe(subscriber)
        #expect(subscriber.values == [])
        #expect(subscriber.completions == [.failure(TestError())])
    }

    @Test func `a subject of an optional type sends nil as a value`() {
        let subject = CurrentValueSubject<Int?, Never>(nil)
        var values: [Int?] = []
        let cancellable = subject.sink { values.append($0) }
        subject.send(1)
        subject.send(nil)
        #expect(values == [nil, 1, nil])
        #expect(subject.value == nil)
        _ = cancellable
    }

    @Test func `an earlier value is released while no lock is held`() {
        final class DeinitObserver {
            let onDeinit: () -> Void
            init(_ onDeinit: @escaping () -> Void) { self.onDeinit = onDeinit }
            deinit { self.onDeinit() }
        }
        let subject = CurrentValueSubject<DeinitObserver?, Never>(nil)
        // `deinit` reads the subject's value, which would not return if the subject's lock were held.
        var wasNilAtDeinit: Bool?
        subject.value = DeinitObserver { wasNilAtDeinit = subject.value == nil }
        subject.value = nil
        #expect(wasNilAtDeinit == true)
    }
}

// SPDX-License-Identifier: Apache-2.0
import LivePlazaCombine
import Testing

/// `@Published` properties and observable objects.
///
/// `_ = cancellable` keeps a subscription until the end of a test.
@Suite struct PublishedTests {
    private final class Model: ObservableObject {
        @Published var count = 0
        @Published var name: String?
    }

    /// A class that is not an observable object.
    private final class PlainModel { @Published var count = 1 }

    @Test func `a subscriber gets the current value, and each new value before the property has that value`() {
        let model = Model()
        // For each delivery: the new value, and the value that the property has at this moment.
        var newAndCurrent: [[Int]] = []
        let cancellable = model.$count.sink { newAndCurrent.append([$0, model.count]) }
        model.count = 1
        model.count += 1
        #expect(newAndCurrent == [[0, 0], [1, 0], [2, 1]])
        #expect(model.count == 2)
        _ = cancellable
    }

    @Test func `an observable object announces each change of a property before the change`() {
        let model = Model()
        var countsBeforeChange: [Int] = []
        let cancellable = model.objectWillChange.sink { countsBeforeChange.append(model.count) }
        model.count = 5
        model.name = "ann"
        model.count = 6
        #expect(countsBeforeChange == [0, 5, 5])
        #expect(model.objectWillChange === model.objectWillChange)
        _ = cancellable
    }

    @Test func `properties of a class that is not an observable object publish too`() {
        let model = PlainModel()
        var values: [Int] = []
        let cancellable = model.$count.map { $0 * 10 }.sink { values.append($0) }
        model.count = 2
        #expect(values == [10, 20])
        _ = cancellable
    }

    @Test func `an assignment to a published property lasts as long as the object of the property`() {
        let subject = CurrentValueSubject<String?, Never>("a")
        weak var weakModel: Model?
        do {
            let model = Model()
            weakModel = model
            subject.assign(to: &model.$name)
            #expect(model.name == "a")
            subject.send("b")
            #expect(model.name == "b")
        }
        #expect(weakModel == nil)
        // A value that is sent after the release of the object must not trap.
        subject.send("c")
    }

    @Test func `an observable object without published properties may declare its own publisher`() {
        final class CustomModel: ObservableObject { let objectWillChange = ObservableObjectPublisher() }
        let model = CustomModel()
        var count = 0
        let cancellable = model.objectWillChange.sink { count += 1 }
        model.objectWillChange.send()
        #expect(count == 1)
        _ = cancellable
    }
}

// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import LivePlazaKit

/// By which calls the renderers of a stage learn what they must draw.
@Suite struct SeatVideoTests {
    /// A view or a renderer.
    private final class Object {
        let name: String
        init(_ name: String) { self.name = name }
    }

    private typealias Model = SeatVideoModel<Object>

    private static let seat0 = Model.SeatKey(liveID: "ann-live", index: 0)
    private static let seat1 = Model.SeatKey(liveID: "cem-live", index: 1)
    private let view0 = Object("view 0")
    private let view1 = Object("view 1")

    private func describe(_ call: Model.RenderCall?) -> String? {
        call.map { "\($0.userID ?? "nobody") of \($0.liveID) in \($0.view.name)" }
    }

    @Test func `a renderer gets each change once`() {
        var model = Model()
        let renderer = Object("renderer")
        #expect(model.use(renderer).isEmpty)
        #expect(self.describe(model.show("ann", Self.seat0, in: self.view0)) == "ann of ann-live in view 0")
        #expect(model.use(renderer).isEmpty)
        #expect(self.describe(model.show("ann", Self.seat0, in: self.view0)) == nil)
        #expect(self.describe(model.show("bob", Self.seat0, in: self.view0)) == "bob of ann-live in view 0")
        #expect(self.describe(model.show(nil, Self.seat0, in: self.view0)) == "nobody of ann-live in view 0")
        #expect(self.describe(model.show(nil, Self.seat0, in: self.view0)) == nil)
        #expect(self.describe(model.remove(Self.seat0)) == nil, "expected no call, because nothing is drawn")
        _ = model.show("cem", Self.seat1, in: self.view1)
        #expect(self.describe(model.remove(Self.seat1)) == "nobody of cem-live in view 1")
        withExtendedLifetime(renderer) {}
    }

    @Test func `a renderer that is set after the seats are shown draws them`() {
        var model = Model()
        #expect(model.use(nil).isEmpty)
        #expect(self.describe(model.show("ann", Self.seat0, in: self.view0)) == nil)
        let renderer = Object("renderer")
        #expect(model.use(renderer).isEmpty)
        #expect(self.describe(model.show("ann", Self.seat0, in: self.view0)) == "ann of ann-live in view 0")
        withExtendedLifetime(renderer) {}
    }

    @Test func `another renderer draws all seats, and the former one ends them`() {
        var model = Model()
        let (first, second) = (Object("first"), Object("second"))
        _ = model.use(first)
        _ = model.show("ann", Self.seat0, in: self.view0)
        _ = model.show("cem", Self.seat1, in: self.view1)
        let ended = model.use(second).map { self.describe($0) ?? "" }
        #expect(Set(ended) == ["nobody of ann-live in view 0", "nobody of cem-live in view 1"])
        #expect(self.describe(model.show("ann", Self.seat0, in: self.view0)) == "ann of ann-live in view 0")
        #expect(model.use(nil).count == 1)
        #expect(self.describe(model.show("ann", Self.seat0, in: self.view0)) == nil)
        withExtendedLifetime((first, second)) {}
    }

    @Test func `a renderer that takes the place of a released one draws all seats`() {
        var model = Model()
        var renderer: Object? = Object("first")
        _ = model.use(renderer)
        _ = model.show("ann", Self.seat0, in: self.view0)
        _ = model.show("cem", Self.seat1, in: self.view1)
        renderer = nil
        #expect(self.describe(model.remove(Self.seat1)) == nil, "expected no call, because there is no renderer")
        let second = Object("second")
        _ = model.use(second)
        #expect(self.describe(model.show("ann", Self.seat0, in: self.view0)) == "ann of ann-live in view 0")
        withExtendedLifetime(second) {}
    }
}

// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import MachineKit
import Testing

/// References to immutable values: a change through one reference makes a new value for this reference.
@Suite struct ReferenceTests {
    @Test func `a change through one reference does not change the value of another reference`() {
        let first = Reference([1, 2])
        var second = first
        #expect(first == second)
        second.value.append(3)
        #expect(first.value == [1, 2])
        #expect(second.value == [1, 2, 3])
        #expect(first != second)
    }

    @Test func `references to equal values are equal`() {
        #expect(Reference("a") == Reference("a"))
        #expect(Reference("a").hashValue == Reference("a").hashValue)
        #expect(Set([Reference("a"), Reference("a"), Reference("b")]).count == 2)
    }

    @Test func `a reference is encoded as its value`() throws {
        let data = try JSONEncoder().encode(Reference(["a": 1]))
        #expect(String(decoding: data, as: UTF8.self) == #"{"a":1}"#)
        #expect(try JSONDecoder().decode(Reference<[String: Int]>.self, from: data) == Reference(["a": 1]))
    }
}

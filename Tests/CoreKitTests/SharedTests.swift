// SPDX-License-Identifier: Apache-2.0
import CoreKit
import FoundationEssentials
import Testing

@Suite struct SharedTests {
    @Test func `a change of one holder is seen by no other`() {
        let first = Shared([1, 2])
        var second = first
        #expect(first == second)
        second.value.append(3)
        #expect(first.value == [1, 2])
        #expect(second.value == [1, 2, 3])
        #expect(first != second)
    }

    @Test func `holders of equal values are equal wherever the values stand`() {
        #expect(Shared("a") == Shared("a"))
        #expect(Shared("a").hashValue == Shared("a").hashValue)
        #expect(Set([Shared("a"), Shared("a"), Shared("b")]).count == 2)
    }

    @Test func `it is written as its value alone`() throws {
        let data = try JSONEncoder().encode(Shared(["a": 1]))
        #expect(String(decoding: data, as: UTF8.self) == #"{"a":1}"#)
        #expect(try JSONDecoder().decode(Shared<[String: Int]>.self, from: data) == Shared(["a": 1]))
    }
}

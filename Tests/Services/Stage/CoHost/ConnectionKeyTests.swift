// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import MachineTestSupport
import PlazaModel
import StageCore
import Testing

/// The keys of the connection machine's rows, which are stored in its state topic.
@Suite struct ConnectionKeyTests {
    @Test func `row keys survive a round trip through their text, and are sorted by kind, then by name`() {
        let sortedKeys: [ConnectionKey] = [
            .live(LiveKey("a", "y")), .live(LiveKey("demo", "a:b")),
            .request(inviter: LiveKey("demo", "x"), invitee: "a"),
            .request(inviter: LiveKey("demo", "x"), invitee: "b"), .connection("demo", "c-1"), .battle("demo", "b-1"),
            .fence(LiveKey("demo", "x")), .idempotencyWindow("demo", "s_1"),
        ]
        for key in sortedKeys { #expect(ConnectionKey(text: key.text) == key) }
        #expect(ConnectionKey.request(inviter: LiveKey("demo", "x"), invitee: "a").text == "request/demo/x/a")
        #expect(ConnectionKey.idempotencyWindow("demo", "s_1").text == "outcomes/demo/s_1")
        #expect(sortedKeys.sorted() == sortedKeys && sortedKeys.reversed().sorted() == sortedKeys)
        #expect(Set(sortedKeys).count == sortedKeys.count)
        for malformed in ["", "live", "live/demo", "live/a/b/c", "request/a/b", "seat/a/b"] {
            #expect(ConnectionKey(text: malformed) == nil)
        }
    }

    @Test func `the JSON and the key of a stored revocation fence do not change`() throws {
        // From outside to inside: the name of the row's case, of the case's value, and of the fence's list.
        let seats = try JSONEncoder().encode(SeatRow.fence(fence: RevocationFence()))
        #expect(String(decoding: seats, as: UTF8.self) == #"{"floors":{"floors":{"floors":[]}}}"#)
        let connections = try JSONEncoder().encode(ConnectionRow.fence(fence: RevocationFence()))
        #expect(connections == seats)
        #expect(SeatKey.fence(LiveKey("demo", "x")).text == "floors/demo/x")
        #expect(ConnectionKey.fence(LiveKey("demo", "x")).text == "floors/demo/x")
    }
}

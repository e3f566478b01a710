// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import PlazaModel
import StageCore
import Testing

@Suite struct ConnectionKeyTests {
    @Test func `row keys survive a round trip through their text, and are sorted by kind, then by name`() {
        let keys: [ConnectionKey] = [
            .live(LiveKey("a", "y")), .live(LiveKey("demo", "a:b")),
            .request(inviter: LiveKey("demo", "x"), invitee: "a"),
            .request(inviter: LiveKey("demo", "x"), invitee: "b"), .connection("demo", "c-1"), .battle("demo", "b-1"),
            .fence(LiveKey("demo", "x")), .idempotencyWindow("demo", "s_1"),
        ]
        for key in keys { #expect(ConnectionKey(text: key.text) == key) }
        #expect(keys[2].text == "request/demo/x/a" && keys[7].text == "outcomes/demo/s_1")
        #expect(keys.sorted() == keys && keys.reversed().sorted() == keys)
        #expect(Set(keys).count == keys.count)
        for text in ["", "live", "live/demo", "live/a/b/c", "request/a/b", "seat/a/b"] {
            #expect(ConnectionKey(text: text) == nil)
        }
    }

    @Test func `a stored revocation fence keeps its name`() throws {
        // The outer name is that of the case, the next one that of its value, the inner one that of the fence's list.
        let seats = try JSONEncoder().encode(SeatRow.fence(fence: RevocationFence()))
        #expect(String(decoding: seats, as: UTF8.self) == #"{"floors":{"floors":{"floors":[]}}}"#)
        let connections = try JSONEncoder().encode(ConnectionRow.fence(fence: RevocationFence()))
        #expect(connections == seats)
        #expect(SeatKey.fence(LiveKey("demo", "x")).text == "floors/demo/x")
        #expect(ConnectionKey.fence(LiveKey("demo", "x")).text == "floors/demo/x")
    }
}

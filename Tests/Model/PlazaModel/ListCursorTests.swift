// SPDX-License-Identifier: Apache-2.0
import PlazaModel
import Testing

/// The cursor between the pages of a list of lives.
@Suite struct ListCursorTests {
    @Test(
        arguments: [
            ("gateway-1.17.50", ListCursor(gateway: "gateway-1", snapshot: 17, rank: 50)),
            ("gateway-1.17.a0", ListCursor(gateway: "gateway-1", snapshot: 17, rank: 0, isAscending: true)),
            // An operator may choose a host's name as the gateway's id.
            ("eu.example.com.-3.2", ListCursor(gateway: "eu.example.com", snapshot: -3, rank: 2)),
            ("g.1.9223372036854775807", ListCursor(gateway: "g", snapshot: 1, rank: .max)),
        ])
    func `a cursor's text has the gateway, the snapshot and the rank, and is parsed back`(
        text: String, cursor: ListCursor
    ) {
        #expect(cursor.text == text)
        #expect(ListCursor(text: text) == cursor)
        #expect(text.hasPrefix(cursor.textBeforeRank))
    }

    @Test(
        arguments: [
            "", ".", "..", "7", "1.2", "g.1.", "g.1.b2", "g.1.-1", "g.1.a-1", "g.x.1", "g..1", "g.1.aa1",
            "g.9223372036854775808.1", "g.1.9223372036854775808", "g.1.0.5 ",
        ])
    func `a text that is not a cursor is not parsed`(text: String) { #expect(ListCursor(text: text) == nil) }
}

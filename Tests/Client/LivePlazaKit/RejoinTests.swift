// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel
import PlazaWire
import Testing

@testable import LivePlazaKit

/// A join whose connection is lost between the reply and the first frame of the feed, with which the history comes.
@Suite struct RejoinTests {
    /// Makes a core that has the reply to its join, call 2, and no frame of the feed.
    private static func joined(token: String) throws -> CoreHarness {
        var harness = try CoreHarness.loggedIn()
        _ = harness.call("live.join", live: "concert")
        try harness.receive(Self.reply(2, token: token))
        (harness.sent, harness.events) = ([], [])
        return harness
    }

    private static func reply(_ id: Int, token: String, ticket: Int = 421) -> String {
        #"{"reply":{"id":\#(id),"result":{"joined":{"ticket":\#(ticket),"epoch":77,"confirmed":true,"token":"\#(token)"}}}}"#
    }

    /// A frame with the messages of these numbers from before the join.
    private static func history(_ numbers: [Int], token: String) -> String {
        let items = numbers.map { number in
            #"{"n":\#(number),"at":1,"content":{"text":{"sender":{"avatarURL":"","userID":"bob","userName":"B"},"#
                + #""text":"m"}}}"#
        }
        return
            #"{"feed":{"live":"concert","epoch":77,"history":true,"token":"\#(token)","items":[\#(items.joined(separator: ","))]}}"#
    }

    /// Loses the connection, and logs in over another one after `seconds`.
    private static func reconnect(_ harness: inout CoreHarness, after seconds: Int64, loginID: Int) throws {
        harness.perform(harness.core.connectionClosed(code: ClientCloseCode.lost, at: .seconds(0)))
        harness.perform(harness.core.tick(at: .seconds(seconds)))
        harness.perform(harness.core.connectionOpened(at: .seconds(seconds)))
        try harness.receive(
            #"{"reply":{"id":\#(loginID),"result":{"loggedIn":{"gateway":"g","notices":"3-10","session":"s","#
                + #""user":{"avatarURL":"","userID":"carol","userName":"C"}}}}}"#, at: .seconds(seconds))
    }

    /// The numbers of all items that the core has reported.
    private static func numbers(_ harness: CoreHarness) -> [Int64] {
        harness.events.flatMap { event -> [Int64] in
            guard case .feed(_, let items, _, _) = event else { return [] }
            return items.map(\.n)
        }
    }

    private static func count(_ harness: CoreHarness, where isMatch: (ClientEvent) -> Bool) -> Int {
        harness.events.filter(isMatch).count
    }

    /// Rules: R5.19.
    @Test func `the join is repeated with its id, and the history comes once`() throws {
        var harness = try Self.joined(token: "77.11.500")
        try Self.reconnect(&harness, after: 1, loginID: 3)
        #expect(harness.sent.first?.contains("resume") == false)
        #expect(harness.sent.last == #"{"age":1000,"id":2,"method":"live.join","params":{}}"#)
        try harness.receive(Self.reply(2, token: "77.11.500"), at: .seconds(1))
        try harness.receive(Self.history([4, 7], token: "77.11.500"), at: .seconds(1))
        #expect(Self.numbers(harness) == [4, 7])
        #expect(Self.count(harness) { if case .resumed(_, replayed: true) = $0 { true } else { false } } == 1)
        #expect(Self.count(harness) { if case .joined = $0 { true } else { false } } == 0, "the app joined once")
        // The next loss is followed by a resume.
        harness.perform(harness.core.connectionClosed(code: ClientCloseCode.lost, at: .seconds(2)))
        harness.perform(harness.core.tick(at: .seconds(3)))
        harness.perform(harness.core.connectionOpened(at: .seconds(3)))
        #expect(harness.sent.last?.contains(#""resume":{"live":"concert""#) == true)
    }

    /// Rules: R5.19.
    @Test func `a join that is repeated when the feed has more items is followed by a resume where it began`() throws {
        var harness = try Self.joined(token: "77.11.500")
        try Self.reconnect(&harness, after: 1, loginID: 3)
        try harness.receive(Self.reply(2, token: "77.14.700", ticket: 422), at: .seconds(1))
        try harness.receive(Self.history([4, 7], token: "77.14.700"), at: .seconds(1))
        #expect(harness.sent.last == #"{"id":4,"method":"ping","params":{}}"#)
        // The second part of the history has an item that the resume brings.
        try harness.receive(Self.history([9, 12], token: "77.14.700"), at: .seconds(1))
        #expect(Self.numbers(harness) == [4, 7, 9])
        try harness.receive(#"{"reply":{"id":4,"result":{"done":{}}}}"#, at: .seconds(1))
        #expect(harness.core.state == .waiting)
        harness.perform(harness.core.tick(at: .seconds(2)))
        harness.perform(harness.core.connectionOpened(at: .seconds(2)))
        #expect(harness.sent.last?.contains(#""position":{"epoch":77,"number":11}"#) == true)
        #expect(harness.sent.last?.contains(#""ticket":422,"token":"77.11.500""#) == true)
    }

    @Test func `a repeated join that fails is followed by a resume`() throws {
        var harness = try Self.joined(token: "77.11.500")
        try Self.reconnect(&harness, after: 1, loginID: 3)
        try harness.receive(#"{"reply":{"id":2,"error":{"code":60107,"message":"stale"}}}"#, at: .seconds(1))
        #expect(harness.core.state == .waiting)
        harness.perform(harness.core.tick(at: .seconds(2)))
        harness.perform(harness.core.connectionOpened(at: .seconds(2)))
        #expect(harness.sent.last?.contains(#""ticket":421,"token":"77.11.500""#) == true)
    }

    @Test(arguments: [("77.0.500", Int64(1)), ("77.11.500", 31)])
    func `a join is not repeated if its feed has no item, or after half a minute`(token: String, seconds: Int64) throws
    {
        var harness = try Self.joined(token: token)
        harness.perform(harness.core.connectionClosed(code: ClientCloseCode.lost, at: .seconds(0)))
        harness.perform(harness.core.tick(at: .seconds(seconds)))
        harness.perform(harness.core.connectionOpened(at: .seconds(seconds)))
        #expect(harness.sent.last?.contains(#""token":"\#(token)""#) == true)
    }
}

// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel
import PlazaWire
import Testing

@testable import LivePlazaKit

/// Passes events to a client's core, and records its actions.
struct CoreHarness {
    var core: ClientCore
    /// The frames that the core sends.
    var sent: [String] = []
    var events: [ClientEvent] = []
    /// The outcomes of calls by their handles.
    var outcomes: [Int: Result<CallResult, ErrorInfo>] = [:]
    /// For each attempt to connect, whether the core asked for the next address (instead of the present one).
    var attemptsAtNextAddress: [Bool] = []

    /// A token that remains valid for longer than any test.
    static let token = TokenValue(text: "t", remainingTime: .seconds(1_000_000))

    /// Makes a core whose random numbers are all 0.5.
    init(hasTokenProvider: Bool = false) {
        let options = ClientCore.Options(session: SessionID("s"), hasTokenProvider: hasTokenProvider)
        self.core = ClientCore(options, random: { 0.5 })
    }

    /// Records what the core asks the client to do.
    mutating func perform(_ actions: [ClientAction]) {
        for action in actions {
            switch action {
            case .connect(let toNextAddress): self.attemptsAtNextAddress.append(toNextAddress)
            case .send(let bytes): self.sent.append(String(decoding: bytes, as: UTF8.self))
            // No test of this harness checks these actions.
            case .disconnect, .fetchToken: break
            case .callEnded(let handle, let result): self.outcomes[handle] = result
            case .event(let event): self.events.append(event)
            }
        }
    }

    /// Receives a frame from the server.
    mutating func receive(_ text: String, at now: MonotonicTime = .seconds(0)) throws {
        self.perform(self.core.frameReceived(try IncomingFrame(Array(text.utf8)), at: now))
    }

    /// Makes a core that is logged in; the login was call 1.
    static func loggedIn() throws -> CoreHarness {
        var harness = CoreHarness()
        harness.perform(harness.core.start(CoreHarness.token, at: .seconds(0)))
        harness.perform(harness.core.connectionOpened(at: .seconds(0)))
        try harness.receive(
            #"{"reply":{"id":1,"result":{"loggedIn":{"gateway":"g","notices":"3-10","session":"s","#
                + #""user":{"avatarURL":"","userID":"carol","userName":"C"}}}}}"#)
        harness.sent = []
        return harness
    }

    /// Makes a core that is in the live `concert`; the join was call 2.
    ///
    /// The feed is at item 11 of the epoch 77. In the token, 500 is the offset of the item's record.
    static func joined() throws -> CoreHarness {
        var harness = try CoreHarness.loggedIn()
        _ = harness.call("live.join", live: "concert")
        try harness.receive(
            #"{"reply":{"id":2,"result":{"joined":{"ticket":421,"epoch":77,"confirmed":true,"token":"77.11.500"}}}}"#)
        try harness.receive(#"{"feed":{"live":"concert","epoch":77,"token":"77.11.500","items":[]}}"#)
        harness.sent = []
        harness.events = []
        return harness
    }

    /// Makes a call, and returns its handle.
    mutating func call(_ method: String, live: LiveID? = nil, at now: MonotonicTime = .seconds(0)) -> Int {
        let (handle, actions) = self.core.call(method, params: Array("{}".utf8), live: live, at: now)
        self.perform(actions)
        return handle
    }
}

/// How a client's core logs in, makes calls, reconnects and resumes, without a network.
struct ClientCoreTests {
    @Test func `a login carries the token and the session`() throws {
        var harness = CoreHarness()
        harness.perform(harness.core.start(CoreHarness.token, at: .seconds(0)))
        #expect(harness.attemptsAtNextAddress == [false])
        harness.perform(harness.core.connectionOpened(at: .seconds(0)))
        #expect(harness.sent == [#"{"id":1,"method":"login","params":{"session":"s","token":"t"}}"#])
    }

    @Test func `a token that arrives while a login is being answered is sent after the login's reply`() throws {
        var harness = CoreHarness(hasTokenProvider: true)
        harness.perform(harness.core.start(CoreHarness.token, at: .seconds(0)))
        harness.perform(harness.core.connectionOpened(at: .seconds(0)))
        let newerToken = TokenValue(text: "newer", remainingTime: .seconds(1_000_000))
        harness.perform(harness.core.tokenFetched(newerToken, at: .seconds(0)))
        #expect(harness.sent.count == 1, "the connection is not logged in yet")
        try harness.receive(
            #"{"reply":{"id":1,"result":{"loggedIn":{"gateway":"g","notices":"","session":"s","#
                + #""user":{"avatarURL":"","userID":"carol","userName":"C"}}}}}"#)
        #expect(harness.sent.last == #"{"id":2,"method":"login","params":{"token":"newer"}}"#)
        #expect(harness.sent.count == 2)
    }

    @Test func `a call is sent again with its id and age`() throws {
        var harness = try CoreHarness.loggedIn()
        let handle = harness.call("like.send")
        #expect(harness.sent == [#"{"id":2,"method":"like.send","params":{}}"#])
        harness.perform(harness.core.connectionClosed(code: ClientCloseCode.lost, at: .seconds(1)))
        // The pause before the reconnect is at most 100 ms; with the random number 0.5 it is 50 ms.
        harness.perform(harness.core.tick(at: .milliseconds(1100)))
        #expect(harness.attemptsAtNextAddress == [false, true])
        harness.perform(harness.core.connectionOpened(at: .milliseconds(1200)))
        try harness.receive(
            #"{"reply":{"id":3,"result":{"loggedIn":{"gateway":"g","notices":"","session":"s","#
                + #""user":{"avatarURL":"","userID":"carol","userName":"C"}}}}}"#, at: .milliseconds(1250))
        // The age is 1250 ms: the call was first sent at 0, and is sent again after the reply to the second login.
        #expect(harness.sent.last == #"{"age":1250,"id":2,"method":"like.send","params":{}}"#)
        try harness.receive(#"{"reply":{"id":2,"result":{"done":{}}}}"#, at: .milliseconds(1300))
        #expect(try harness.outcomes[handle]?.get() == .done)
    }

    @Test func `calls that are made after a join wait for the join's reply`() throws {
        var harness = try CoreHarness.loggedIn()
        _ = harness.call("live.join", live: "concert")
        _ = harness.call("barrage.sendText", live: "concert")
        #expect(harness.sent.count == 1, "expected that only the join is sent")
        try harness.receive(#"{"reply":{"id":2,"result":{"joined":{"ticket":421,"epoch":77,"confirmed":true}}}}"#)
        #expect(harness.sent.count == 2)
    }

    @Test func `a notice that arrives during a join is delivered after the reply, although the join fails`() throws {
        var harness = try CoreHarness.loggedIn()
        _ = harness.call("live.join", live: "concert")
        harness.events = []
        try harness.receive(
            #"{"notice":{"at":1700000000000,"content":{"applicationCancelled":{"guest":{"avatarURL":"","#
                + #""userID":"bob","userName":"B"}}},"id":"3-17","live":"concert","to":"carol"}}"#)
        try harness.receive(
            #"{"counts":{"at":1700000000000,"count":3,"live":"concert","stale":false,"totalViewers":8}}"#)
        #expect(harness.events.isEmpty, "expected that frames of the live wait for the reply to the join")
        try harness.receive(#"{"reply":{"id":2,"error":{"code":-2100,"message":"no such live"}}}"#)
        guard case .notice(let notice)? = harness.events.first, case .applicationCancelled = notice.content else {
            Issue.record("expected the notice first, and not \(harness.events)")
            return
        }
        // The counts are not delivered, because the client is not in the live.
        #expect(harness.events.count == 1)
    }

    @Test func `a reconnect resumes the live at the token of the first frame`() throws {
        var harness = try CoreHarness.joined()
        harness.perform(harness.core.connectionClosed(code: ClientCloseCode.lost, at: .seconds(0)))
        // The pause before the reconnect, 50 ms, is over.
        harness.perform(harness.core.tick(at: .milliseconds(100)))
        harness.perform(harness.core.connectionOpened(at: .milliseconds(100)))
        #expect(harness.sent.last?.contains(#""resume":{"live":"concert""#) == true)
        #expect(harness.sent.last?.contains(#""ticket":421,"token":"77.11.500""#) == true)
        #expect(harness.sent.last?.contains(#""notices":"3-10""#) == true)
    }

    @Test func `items that cannot be read are left out of a frame, and the others are kept`() throws {
        var harness = try CoreHarness.joined()
        try harness.receive(
            #"{"feed":{"live":"concert","epoch":77,"token":"77.14","items":[{"n":12,"content":{"text":{"sender":5}}},"#
                + #"{"n":13,"content":{"fromTheFuture":{"x":1}}},{"n":14,"content":{"adminSet":{"user":"bob"}}}]}}"#)
        // Item 12, a text whose sender is not a user, is reported as a fault. Item 13, whose content is unknown, is
        // not.
        #expect(harness.events.count == 2)
        guard case .badFrame = harness.events[0], case .feed(_, let items, _, let hasGap) = harness.events[1] else {
            Issue.record("expected a fault and a feed event, and not \(harness.events)")
            return
        }
        #expect(items.map(\.n) == [14])
        #expect(!hasGap)
    }

    @Test(arguments: [
        "[]", "null", #"{"feed":"#,
        // The token does not name the last item.
        #"{"feed":{"live":"a","epoch":77,"token":"77.9","items":[{"n":8,"content":{}}]}}"#,
        // The token has another epoch.
        #"{"feed":{"live":"a","epoch":78,"token":"77.9","items":[]}}"#,
        // The items have a gap.
        #"{"feed":{"live":"a","epoch":77,"token":"77.9","items":[{"n":7,"content":{}},{"n":9,"content":{}}]}}"#,
        // The reply has no id.
        #"{"reply":{"result":{}}}"#,
    ])
    func `a frame that violates the protocol cannot be read`(text: String) {
        #expect { try IncomingFrame(Array(text.utf8)) } throws: { ($0 as? ErrorInfo)?.code == ReplyCode.badFrame.code }
    }

    @Test func `a frame of an unknown kind is read as unknown`() throws {
        guard case .unknown = try IncomingFrame(Array(#"{"fromTheFuture":{}}"#.utf8)) else {
            Issue.record("expected that the frame is read as unknown")
            return
        }
    }

    @Test func `a silent connection is pinged after 20 s, and counts as lost after 10 s more`() throws {
        var harness = try CoreHarness.loggedIn()
        #expect(harness.core.dueAt == .seconds(20))
        harness.perform(harness.core.tick(at: .seconds(20)))
        #expect(harness.sent == [#"{"id":2,"method":"ping","params":{}}"#])
        harness.perform(harness.core.tick(at: .seconds(30)))
        guard case .disconnected(code: ClientCloseCode.lost)? = harness.events.last else {
            Issue.record("expected that the connection counts as lost: \(harness.events)")
            return
        }
        #expect(harness.core.state == .waiting)
    }
}

/// When a client renews its token.
struct TokenKeeperTests {
    @Test func `the expiry of a token is read from its claims`() {
        // {"exp":1700000100}
        #expect(TokenValue.expiry(of: "h.eyJleHAiOjE3MDAwMDAxMDB9.s") == .seconds(1_700_000_100))
        #expect(TokenValue.expiry(of: "t.o.ken") == nil)
        #expect(TokenValue.expiry(of: "") == nil)
    }

    @Test func `a token is renewed a minute before it expires, or a fifth of its validity if that is less`() {
        // With the random number 0 the token is renewed exactly this margin before it expires: 3600 - 60 = 3540 s.
        #expect(TokenKeeper.renewalDelay(remainingTime: .seconds(3600), random: 0) == .seconds(3540))
        // A random part of another margin, here 0.5 · 60 s, is subtracted, so that clients do not all renew at once.
        #expect(TokenKeeper.renewalDelay(remainingTime: .seconds(3600), random: 0.5) == .seconds(3510))
        // A fifth of 100 s is 20 s, and 100 - 20 = 80 s.
        #expect(TokenKeeper.renewalDelay(remainingTime: .seconds(100), random: 0) == .seconds(80))
        // A token that has expired is renewed at once.
        #expect(TokenKeeper.renewalDelay(remainingTime: Milliseconds(-5), random: 0.5) == Milliseconds(0))
    }

    @Test func `no other token is tried after a second rejection, unless a login succeeded in between`() {
        // `recordRejection` returns whether the client may try a login with another token.
        var keeper = TokenKeeper(hasProvider: true, random: { 0 })
        keeper.use(TokenValue(text: "a", remainingTime: .seconds(1)), at: .seconds(0))
        let mayRetryAfterFirst = keeper.recordRejection()
        #expect(mayRetryAfterFirst && keeper.token == nil)
        keeper.use(TokenValue(text: "b", remainingTime: .seconds(1)), at: .seconds(0))
        let mayRetryAfterSecond = keeper.recordRejection()
        #expect(!mayRetryAfterSecond)
        keeper.recordAcceptance()
        let mayRetryAfterLogin = keeper.recordRejection()
        #expect(mayRetryAfterLogin)
    }
}

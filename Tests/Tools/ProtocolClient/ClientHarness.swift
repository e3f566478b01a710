// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel
import PlazaWire
import ProtocolClient
import Testing

/// A client core whose actions are recorded; the test acts as the network and the server.
struct ClientHarness {
    var core: BareClientCore
    var actions: [BareClientCore.Action] = []
    /// The time of the client's clock; a test begins at 1 s.
    var now = MonotonicTime.seconds(1)

    /// The close code of a connection that ended without a close frame, for example because the network was lost.
    static let lostCode: UInt16 = 1006

    /// A call that the client has sent.
    struct Call: Decodable, Equatable {
        var id: Int64
        var method: String
        /// The time since the call was first sent; nil unless the call is sent again.
        var age: Milliseconds?
    }

    /// The error of a test whose client has connected and has not sent a login.
    struct NoLogin: Error {}
    /// The parameters of a login call.
    private struct Login: Decodable {
        var params: LoginParams
    }

    /// The options of the user Alice, after the test's change.
    static func options(_ change: (inout BareClientCore.Options) -> Void = { _ in }) -> BareClientCore.Options {
        var options = BareClientCore.Options(token: "t", session: "phone", name: "Alice", avatarURL: "a")
        change(&options)
        return options
    }

    init(_ options: BareClientCore.Options = ClientHarness.options(), seed: UInt64 = 1) {
        self.core = BareClientCore(options, seed: seed)
    }

    /// A harness whose client is connected and logged in.
    static func loggedIn(
        _ options: BareClientCore.Options = ClientHarness.options(), seed: UInt64 = 1
    ) -> ClientHarness {
        var harness = ClientHarness(options, seed: seed)
        harness.core.start(into: &harness.actions)
        harness.logIn()
        _ = harness.takeActions()
        return harness
    }

    /// The actions since the last call of this method.
    mutating func takeActions() -> [BareClientCore.Action] {
        defer { self.actions = [] }
        return self.actions
    }

    /// The calls that the client has sent since the last call of `takeActions` or of this method.
    mutating func takeSentCalls() -> [Call] {
        self.takeActions().compactMap { action in
            guard case .send(let bytes) = action else { return nil }
            do {
                return try Wire.decode(Call.self, from: bytes)
            } catch {
                Issue.record(error, "the client has sent no call: \(String(decoding: bytes, as: UTF8.self))")
                return nil
            }
        }
    }

    /// Tells the client that its WebSocket is open, and returns the login call that the client sends.
    mutating func connect() throws -> (call: Call, params: LoginParams) {
        _ = self.takeActions()
        self.core.connected(at: self.now, into: &self.actions)
        guard case .send(let bytes)? = self.actions.first, let call = try? Wire.decode(Call.self, from: bytes),
            let login = try? Wire.decode(Login.self, from: bytes)
        else { throw NoLogin() }
        _ = self.takeActions()
        return (call, login.params)
    }

    /// Connects the client, and answers its login.
    ///
    /// `notices`: the id of the user's last notice, written "partition-offset".
    mutating func logIn(notices: String = "0-0") {
        guard let login = try? self.connect() else {
            Issue.record("no login was sent")
            return
        }
        self.reply(
            login.call.id,
            .success(
                result: .loggedIn(
                    session: "phone", user: UserInfo(userID: "alice"), gateway: "g", notices: notices)))
    }

    /// When the client reconnects; nil unless it waits to reconnect.
    var reconnectAt: MonotonicTime? {
        if case .waiting(let until) = self.core.state { until } else { nil }
    }

    /// Lets the client do what is due at this time, without advancing `now`.
    mutating func tick(at time: MonotonicTime) { self.core.tick(at: time, into: &self.actions) }

    /// Advances `now` by `span`, and lets the client do what is due then.
    mutating func tick(after span: Milliseconds = Milliseconds(0)) {
        self.now = self.now + span
        self.tick(at: self.now)
    }

    /// Tells the client that its connection has ended with this close code.
    mutating func disconnect(code: UInt16 = ClientHarness.lostCode) {
        self.core.disconnected(code: code, at: self.now, into: &self.actions)
    }

    /// Gives the client a frame of the server.
    mutating func receive(_ frame: ServerFrame) { self.receive(Wire.encode(frame)) }

    /// Gives the client a text that the server has sent.
    mutating func receive(_ text: [UInt8]) { self.core.received(text, at: self.now, into: &self.actions) }

    /// Gives the client the server's reply to the call with this id.
    mutating func reply(_ id: Int64, _ outcome: Outcome) { self.receive(.reply(id: id, outcome)) }

    /// Lets the client make a call, and returns the id of the call.
    mutating func call(_ method: String = "ping", _ params: String = "{}", live: LiveID? = nil) -> Int64 {
        self.core.call(method, params: Array(params.utf8), live: live, at: self.now, into: &self.actions)
    }

    /// Lets the client join `live`; the server answers with this ticket and this epoch of the feed.
    ///
    /// A ticket is the number of a join: a user's later join has a higher ticket.
    mutating func join(_ live: LiveID = "concert", ticket: Int64 = 5, epoch: Int64 = 77) {
        let id = self.call("live.join", #"{"live":"\#(live.text)"}"#, live: live)
        self.reply(id, .success(result: .joined(ticket: Ticket(ticket), epoch: epoch, confirmed: true)))
        _ = self.takeActions()
    }

    /// Gives the client a feed frame whose items have these numbers.
    ///
    /// - Returns: whether the items are new to the client or known; nil if the frame cannot be scanned.
    mutating func receiveFeed(
        _ numbers: ClosedRange<Int64>, epoch: Int64 = 77, offset: Int64? = nil
    ) -> FeedOrderTracker.Verdict? {
        guard let scan = FeedSamples.scan(FeedSamples.frame(numbers, epoch: epoch, offset: offset)) else { return nil }
        return self.core.feedReceived(scan)
    }

    /// Ends the connection with `code`, and advances the time until the client reconnects.
    mutating func loseConnection(code: UInt16 = ClientHarness.lostCode) {
        self.disconnect(code: code)
        self.now = self.reconnectAt ?? self.now
        self.tick()
    }
}

/// Feed frames for tests, and their scans.
enum FeedSamples {
    /// A frame whose items have these numbers; `offset` is the offset of its record, for the token.
    static func frame(_ numbers: ClosedRange<Int64>, epoch: Int64 = 77, offset: Int64? = nil) -> ServerFrame {
        let items = numbers.map {
            FeedEntry(n: $0, at: .init(milliseconds: 1), content: .adminSet(user: "bob"))
        }
        let token = FeedToken(FeedPosition(epoch: epoch, number: numbers.upperBound), offset: offset)
        return .feed(live: "concert", epoch: epoch, items: items, token: token.text)
    }

    /// A frame with the messages of these numbers from before the join; `token` is the feed's position at the join.
    static func history(_ numbers: [Int64], at token: String, epoch: Int64 = 77) -> ServerFrame {
        let items = numbers.map {
            FeedEntry(n: $0, at: .init(milliseconds: 1), content: .custom(sender: Self.bob, businessID: "b", data: ""))
        }
        return .history(live: "concert", epoch: epoch, items: items, token: token)
    }

    /// A user whose name looks like the end of a feed item, so that a scanner may be misled.
    private static let bob = UserInfo(userID: "bob", userName: #""n":5}"#)

    /// A frame without items that gives the position of the feed.
    static func empty(at number: Int64, epoch: Int64 = 77) -> ServerFrame {
        .feed(live: "concert", epoch: epoch, items: [], token: "\(epoch).\(number)")
    }

    /// What the scanner finds in a frame; nil if the scanner rejects the frame.
    static func scan(_ frame: ServerFrame) -> FeedScan? { FeedScan(Wire.encode(frame).span) }
    static func scan(_ bytes: [UInt8]) -> FeedScan? { FeedScan(bytes.span) }
    static func isFeed(_ bytes: [UInt8]) -> Bool { FeedScan.isFeed(bytes.span) }
}

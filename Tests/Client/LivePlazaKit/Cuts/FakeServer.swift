// SPDX-License-Identifier: Apache-2.0
import PlazaWire

@testable import LivePlazaKit

/// A server with one live, which implements the calls of a viewer.
///
/// The server stores its answer to each call, and repeats the answer if the call comes again. It numbers the items of
/// the feed, and replays the items that a resuming client has missed. `decideCut` may cut the connection at each frame
/// in either direction. Everything runs on the test's thread.
final class FakeServer: Transport, @unchecked Sendable {
    /// When a connection is cut: before a frame, which is then lost, or after the frame.
    enum Cut { case before, after }

    /// The answer to a call.
    private struct Answer {
        /// The members of the reply.
        var members: [String: JSONValue]
        /// The feed items in the frame that follows the reply; nil if no frame follows.
        var items: [JSONValue]?

        /// A result of this kind, such as `joined`.
        static func ok(_ kind: String, _ body: JSONValue = [:], items: [JSONValue]? = nil) -> Answer {
            Answer(members: ["result": .object([kind: body])], items: items)
        }

        static func error(_ code: Int64, _ name: JSONValue) -> Answer {
            Answer(members: ["error": ["code": .integer(code), "name": name, "message": name]])
        }
    }

    /// A call that was applied, and the answer that a repeat of the call gets again.
    private struct AppliedCall {
        let method: String
        let params: JSONValue
        let answer: Answer
    }

    /// Decides for each frame, by its number, whether the connection is cut there.
    var decideCut: (Int) -> Cut? = { _ in nil }
    /// How many frames were sent so far, in both directions together; also the number of the next frame.
    private(set) var frameCount = 0
    /// All items of the feed, beginning with item 1.
    private(set) var feed: [JSONValue] = []
    /// How often each call was applied, by the call's id.
    private(set) var applyCounts: [Int64: Int] = [:]
    /// The client's violations of the protocol.
    private(set) var violations: [String] = []
    private let queue: ManualQueue
    /// The calls that were applied, by their ids.
    private var appliedCalls: [Int64: AppliedCall] = [:]
    /// The highest id of the calls so far.
    private var lastID: Int64 = 0
    /// The ticket of the last join; the first join makes it 421.
    private var ticket: Int64 = 420
    /// Whether the viewer is in the live.
    private var hasJoined = false
    /// The latest connection.
    private var socket: FakeSocket?

    /// The user of the client.
    static let user: JSONValue = ["userID": "carol", "userName": "carol", "avatarURL": ""]

    init(_ queue: ManualQueue) { self.queue = queue }

    func connect(
        to address: String, onEvent: @escaping @Sendable (TransportEvent) -> Void
    ) throws(ErrorInfo) -> any TransportConnection {
        let socket = FakeSocket(self, onEvent)
        self.socket = socket
        self.queue.async { if !socket.isClosed { onEvent(.opened) } }
        return socket
    }

    /// Adds a chat message to the feed, and sends it to the viewer.
    func publish(_ text: String, from user: JSONValue = FakeServer.user) {
        let number = Int64(self.feed.count + 1)
        let item: JSONValue = [
            "n": .integer(number), "at": 1, "content": ["text": ["sender": user, "text": .text(text)]],
        ]
        self.feed.append(item)
        if self.hasJoined, let socket = self.socket, socket.isLoggedIn, !socket.isClosed {
            self.sendFeed(socket, [item])
        }
    }

    /// Handles a frame that the client has sent.
    func frameReceived(_ text: [UInt8], by socket: FakeSocket) {
        guard let call = try? SentCall(text) else { return self.violations.append("a frame that is no call") }
        self.queue.async { self.deliverUnlessCut(socket) { self.handle(call, socket) } }
    }

    /// Sends a frame to the client.
    private func send(_ socket: FakeSocket, _ frame: JSONValue) {
        self.queue.async { self.deliverUnlessCut(socket) { socket.receive(frame) } }
    }

    /// Sends a feed frame; its token is the position of the last item or, without items, of the feed.
    private func sendFeed(_ socket: FakeSocket, _ items: [JSONValue]) {
        let lastNumber = items.last?.members["n"] ?? .integer(Int64(self.feed.count))
        guard case .integer(let number) = lastNumber else { preconditionFailure("an item has no number") }
        let body: JSONValue = [
            "live": "concert", "epoch": 77, "token": .text("77.\(number)"), "items": .array(items),
        ]
        self.send(socket, ["feed": body])
    }

    /// Delivers a frame, unless the connection is cut before the frame; cuts the connection as `decideCut` says.
    private func deliverUnlessCut(_ socket: FakeSocket, _ deliver: () -> Void) {
        if socket.isClosed { return }
        let cut = self.decideCut(self.frameCount)
        self.frameCount += 1
        if cut != .before { deliver() }
        if cut != nil, !socket.isClosed { socket.end(code: ClientCloseCode.lost) }
    }

    /// Applies a new call, or repeats the answer to a call that was applied already.
    private func handle(_ call: SentCall, _ socket: FakeSocket) {
        let (id, method) = (call.id, call.method)
        // Each connection begins with a new login, so a login is never a call that is sent again.
        if method != "login", let appliedCall = self.appliedCalls[id] {
            if call.age == nil { self.violations.append("\(method) \(id) came again without its age") }
            if appliedCall.method != method || appliedCall.params != call.params {
                self.violations.append("\(method) \(id) came again as another call")
            }
            return self.reply(socket, id, appliedCall.answer)
        }
        // Only a call that is sent again, and so states its age, may have a lower id than earlier calls.
        if self.appliedCalls[id] == nil, id <= self.lastID, call.age == nil {
            self.violations.append("\(method) \(id) is not above \(self.lastID)")
        }
        self.lastID = max(self.lastID, id)
        if !socket.isLoggedIn, method != "login" { self.violations.append("\(method) before the login") }
        self.applyCounts[id, default: 0] += 1
        let answer = self.apply(call, socket)
        self.appliedCalls[id] = AppliedCall(method: method, params: call.params, answer: answer)
        self.reply(socket, id, answer)
        if let items = answer.items { self.sendFeed(socket, items) }
    }

    private func reply(_ socket: FakeSocket, _ id: Int64, _ answer: Answer) {
        self.send(socket, ["reply": .object(answer.members.merging(["id": .integer(id)]) { answered, _ in answered })])
    }

    /// Does what a call asks for, and returns the answer.
    private func apply(_ call: SentCall, _ socket: FakeSocket) -> Answer {
        switch call.method {
        case "login": return self.login(call.params.members, socket)
        case "live.join":
            self.hasJoined = true
            self.ticket += 1
            let body: JSONValue = [
                "confirmed": true, "epoch": 77, "ticket": .integer(self.ticket),
                "token": .text("77.\(self.feed.count)"),
            ]
            return .ok("joined", body, items: [])
        case "live.leave":
            self.hasJoined = false
            return .ok("done")
        case "live.get":
            let audience: JSONValue = ["at": 1, "count": 1, "live": "concert", "stale": false, "totalViewers": 1]
            return .ok("room", ["details": ["audience": audience, "epoch": 77, "info": EngineHarness.info]])
        case "live.mutes": return .ok("sanctions", ["page": ["items": [], "nextOffset": 0]])
        case "audience.list": return .ok("audience", ["page": ["members": [], "cursor": "", "count": 0]])
        case "barrage.sendText":
            guard self.hasJoined else { return .error(-2101, "notInRoom") }
            guard case .text(let text)? = call.params.members["text"] else {
                self.violations.append("\(call.method) without a text")
                return .error(-1001, "invalidParameter")
            }
            self.publish(text)
            return .ok("sent", ["position": ["epoch": 77, "number": .integer(Int64(self.feed.count))]])
        default: return .ok("done")
        }
    }

    private func login(_ params: [String: JSONValue], _ socket: FakeSocket) -> Answer {
        socket.isLoggedIn = true
        guard let resume = params["resume"]?.members else {
            // The id of the last notice: the one that the client names or, in its first login, any id.
            let notices = params["notices"] ?? "1-1"
            return .ok("loggedIn", ["gateway": "g", "notices": notices, "session": "s", "user": Self.user])
        }
        // A resume needs the ticket of the last join.
        guard self.hasJoined, resume["ticket"] == .integer(self.ticket), let position = resume["position"],
            case .integer(let number)? = position.members["number"]
        else { return .error(60107, "staleTicket") }
        let missed = Array(self.feed.dropFirst(Int(number)))
        return .ok(
            "resumed", ["ticket": .integer(self.ticket), "position": position, "replayed": true],
            items: missed.isEmpty ? nil : missed)
    }
}

/// A connection to a `FakeServer`.
final class FakeSocket: TransportConnection, @unchecked Sendable {
    private let server: FakeServer
    private let onEvent: @Sendable (TransportEvent) -> Void
    private(set) var isClosed = false
    var isLoggedIn = false

    init(_ server: FakeServer, _ onEvent: @escaping @Sendable (TransportEvent) -> Void) {
        self.server = server
        self.onEvent = onEvent
    }

    func send(_ text: [UInt8]) { if !self.isClosed { self.server.frameReceived(text, by: self) } }

    func close(code: Int) { self.isClosed = true }

    /// Ends the connection from the server's side, or as a lost network does.
    func end(code: Int) {
        self.isClosed = true
        self.onEvent(.closed(code: code))
    }

    /// Delivers a frame of the server to the client.
    func receive(_ frame: JSONValue) { self.onEvent(.text(Wire.encode(frame))) }
}

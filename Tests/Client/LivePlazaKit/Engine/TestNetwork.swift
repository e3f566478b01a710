// SPDX-License-Identifier: Apache-2.0
import PlazaModel
import PlazaWire

@testable import LivePlazaKit

/// A call that a client has sent.
struct SentCall: Sendable {
    let id: Int64
    let method: String
    let params: JSONValue
    /// The milliseconds since the call was first sent; nil unless it is sent again.
    let age: JSONValue?
    /// Whether this call has been answered at once, or a test has taken it by `takeCall`.
    var isTaken = false

    init(_ text: [UInt8]) throws {
        let members = try Wire.decode(JSONValue.self, from: text).members
        guard case .integer(let id)? = members["id"], case .text(let method)? = members["method"] else {
            throw WireError.notJSON
        }
        self.id = id
        self.method = method
        self.params = members["params"] ?? .null
        self.age = members["age"]
    }
}

/// A network of fake WebSockets that records what a client sends; the test acts as the server.
final class TestNetwork: Transport {
    private let sockets = Locked<[TestSocket]>([])
    /// The addresses that `connect` rejects as invalid.
    let badAddresses = Locked<Set<String>>([])
    /// By method, the result with which the server answers a call at once.
    let answers: [String: JSONValue]

    init(answers: [String: JSONValue] = [:]) { self.answers = answers }

    /// The socket that was made last; nil before the first attempt to connect.
    var socket: TestSocket? { self.sockets.withLock { $0.last } }

    func connect(
        to address: String, onEvent: @escaping @Sendable (TransportEvent) -> Void
    ) throws(ErrorInfo) -> any TransportConnection {
        if self.badAddresses.withLock({ $0.contains(address) }) { throw ErrorInfo(.invalidParameter, "no address") }
        let socket = TestSocket(address: address, answers: self.answers, onEvent: onEvent)
        self.sockets.withLock { $0.append(socket) }
        return socket
    }
}

/// A fake WebSocket: the client calls `send` and `close`, and the test calls the other methods.
final class TestSocket: TransportConnection {
    private struct State {
        var sent: [SentCall] = []
        var isClosed = false
    }

    private let state = Locked(State())
    let address: String
    private let answers: [String: JSONValue]
    private let onEvent: @Sendable (TransportEvent) -> Void

    init(address: String, answers: [String: JSONValue], onEvent: @escaping @Sendable (TransportEvent) -> Void) {
        self.address = address
        self.answers = answers
        self.onEvent = onEvent
    }

    /// All calls that the client has sent.
    var sent: [SentCall] { self.state.withLock { $0.sent } }
    var isClosed: Bool { self.state.withLock { $0.isClosed } }

    func send(_ text: [UInt8]) {
        guard var call = try? SentCall(text) else { preconditionFailure("the client has sent no call") }
        let answer = self.answers[call.method]
        call.isTaken = answer != nil
        self.state.withLock { [call] in $0.sent.append(call) }
        if let answer { self.receive(["reply": ["id": .integer(call.id), "result": answer]]) }
    }

    func close(code: Int) { self.state.withLock { $0.isClosed = true } }

    /// Reports that the connection is open.
    func open() { self.onEvent(.opened) }

    /// Ends the connection from the server's side, or as a lost network does.
    func end(code: Int) {
        self.state.withLock { $0.isClosed = true }
        self.onEvent(.closed(code: code))
    }

    /// Delivers a frame of the server to the client.
    func receive(_ frame: JSONValue) { self.receive(text: Wire.encode(frame)) }

    func receive(text: [UInt8]) { self.onEvent(.text(text)) }

    func receiveBinary() { self.onEvent(.binary) }

    /// Returns the first call of the method that was not taken yet, and marks the call as taken.
    func takeCall(_ method: String) -> SentCall? {
        self.state.withLock { state in
            guard let index = state.sent.firstIndex(where: { $0.method == method && !$0.isTaken }) else { return nil }
            state.sent[index].isTaken = true
            return state.sent[index]
        }
    }
}

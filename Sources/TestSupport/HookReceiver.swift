// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import Dispatch
internal import HTTPServer

/// An app's backend on this machine: keeps what it is sent, and answers as the test says.
package final class HookReceiver: Sendable {
    /// A request that came.
    package struct Received: Sendable {
        /// By lower-case name.
        package var headers: [String: String]
        package var body: [UInt8]
        /// The body as text.
        package var text: String { String(decoding: self.body, as: UTF8.self) }
    }

    /// What the backend does with a request.
    package enum Behaviour: Sendable {
        case answer(Int, String)
        /// Says nothing until the receiver stops.
        case keepSilent
    }

    private struct State {
        var received: [Received] = []
        var silent: [HTTPResponder] = []
    }

    private let state = Locked(State())
    private let arrived = DispatchSemaphore(value: 0)
    private let server = Locked<WebServer?>(nil)

    /// Where it listens.
    package let url: String

    /// Starts to listen.
    ///
    /// - Parameter behave: what to do with each request; its index counts from 0.
    /// - Throws: if no port can be had.
    package init(_ behave: @escaping @Sendable (Int, Received) -> Behaviour) throws {
        let state = self.state
        let arrived = self.arrived
        var limits = HTTPLimits()
        limits.drainMilliseconds = 10
        limits.deadlineMilliseconds = 60_000
        let server = try WebServer(port: 0, limits: limits) { request, responder in
            let received = Received(headers: request.headers, body: request.body)
            let index = state.withLock { state in
                state.received.append(received)
                return state.received.count - 1
            }
            switch behave(index, received) {
            case .answer(let status, let body):
                responder.complete(HTTPResponse(status: status, body: Array(body.utf8)))
            case .keepSilent: state.withLock { $0.silent.append(responder) }
            }
            arrived.signal()
        }
        self.url = "http://127.0.0.1:\(server.port)/hook"
        self.server.withLock { $0 = server }
    }

    deinit { self.stop() }

    /// What has come so far.
    package var received: [Received] { self.state.withLock { $0.received } }

    /// Waits until what has come is enough, and gives it.
    ///
    /// - Returns: nil when it was not within `seconds`.
    package func wait(seconds: Double = 15, until isEnough: ([Received]) -> Bool) -> [Received]? {
        let deadline = DispatchTime.now() + seconds
        while true {
            let received = self.received
            if isEnough(received) { return received }
            if self.arrived.wait(timeout: deadline) == .timedOut { return nil }
        }
    }

    /// Stops; open requests are cut off.
    package func stop() {
        self.server.withLock { server in
            server?.stop()
            server = nil
        }
    }
}

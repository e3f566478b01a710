// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import HTTPServer

/// An app's backend on this machine; it records its requests, and its owner chooses its answers.
package final class WebhookReceiver: Sendable {
    /// A received request.
    package struct Received: Sendable {
        /// The headers by lower-case name.
        package var headers: [String: String]
        /// The body as bytes.
        package var body: [UInt8]
        /// The body as text.
        package var text: String { String(decoding: self.body, as: UTF8.self) }
    }

    /// How the backend handles a request.
    package enum Behaviour: Sendable {
        /// Answers with this status and body.
        case answer(Int, String)
        /// Answers with this status and body after a while.
        case answerLate(Duration, Int, String)
        /// Does not answer until the receiver stops.
        case keepSilent
    }

    private struct State {
        var received: [Received] = []
        var count = 0
        var silentResponders: [HTTPResponder] = []
    }

    private let state = ConditionVariable(State())
    private let server = Locked<WebServer?>(nil)

    /// The URL of the backend.
    package let url: String

    /// Starts to listen.
    ///
    /// - Parameters:
    ///   - recordsRequests: whether `received` has the requests; false for a run that is too long to keep them all.
    ///   - behave: chooses the behaviour for a request. Its first argument is the request's index, from 0 in the order of
    ///     arrival.
    /// - Throws: an error if the backend cannot listen on a port.
    package init(recordsRequests: Bool = true, _ behave: @escaping @Sendable (Int, Received) -> Behaviour) throws {
        let state = self.state
        var limits = HTTPLimits()
        // All connections come from one address, so one address may have as many as all together.
        limits.connectionsPerAddress = limits.connections
        limits.drainTimeout = .milliseconds(10)
        limits.handlerTimeout = .seconds(60)
        let server = try WebServer(port: 0, limits: limits) { request, responder in
            let received = Received(headers: request.headers, body: request.body)
            let index = state.update { state in
                if recordsRequests { state.received.append(received) }
                state.count += 1
                return state.count - 1
            }
            switch behave(index, received) {
            case .answer(let status, let body):
                responder.complete(HTTPResponse(status: status, body: Array(body.utf8)))
            case .answerLate(let delay, let status, let body):
                Task {
                    try? await Task.sleep(for: delay)
                    responder.complete(HTTPResponse(status: status, body: Array(body.utf8)))
                }
            case .keepSilent: state.update { $0.silentResponders.append(responder) }
            }
        }
        self.url = "http://127.0.0.1:\(server.port)/hook"
        self.server.withLock { $0 = server }
    }

    deinit { self.stop() }

    /// The requests received so far.
    package var received: [Received] { self.state.current.received }

    /// Waits until the received requests satisfy `isEnough`.
    ///
    /// - Returns: the requests; nil when they were not enough within `timeout`.
    package func wait(timeout: Duration = .seconds(15), until isEnough: ([Received]) -> Bool) -> [Received]? {
        self.state.wait(timeout: timeout) { state in isEnough(state.received) ? state.received : nil }
    }

    /// Stops the server and closes the connections of open requests.
    package func stop() {
        self.server.withLock { server in
            server?.stop()
            server = nil
        }
    }
}

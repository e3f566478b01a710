// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import HTTPServer

/// A web server on this machine that stands in for an app's backend; the code that creates it chooses the answers.
package final class WebhookReceiver: Sendable {
    /// A received request.
    package struct Received: Sendable {
        /// The headers by lower-case name.
        package var headers: [String: String]
        /// The body as bytes.
        package var body: [UInt8]
    }

    /// How the backend handles a request.
    package enum Behaviour: Sendable {
        /// Answers with this status and body.
        case answer(Int, String)
        /// Answers with this status and body after a while.
        case answerLate(Duration, Int, String)
    }

    private let server = Locked<WebServer?>(nil)

    /// The URL of the backend.
    package let url: String

    /// Starts to listen.
    ///
    /// - Parameter behave: chooses the behaviour for a request; it is called on the server's thread.
    /// - Throws: an error if the backend cannot listen on a port.
    package init(_ behave: @escaping @Sendable (Received) -> Behaviour) throws {
        var limits = HTTPLimits()
        // All connections come from one address, so the limit for one address is the limit for all.
        limits.connectionsPerAddress = limits.connections
        limits.drainTimeout = .milliseconds(10)
        limits.handlerTimeout = .seconds(60)
        let server = try WebServer(port: 0, limits: limits) { request, responder in
            switch behave(Received(headers: request.headers, body: request.body)) {
            case .answer(let status, let body):
                responder.complete(HTTPResponse(status: status, body: Array(body.utf8)))
            case .answerLate(let delay, let status, let body):
                Task {
                    try? await Task.sleep(for: delay)
                    responder.complete(HTTPResponse(status: status, body: Array(body.utf8)))
                }
            }
        }
        self.url = "http://127.0.0.1:\(server.port)/hook"
        self.server.withLock { $0 = server }
    }

    deinit { self.stop() }

    /// Stops the server and closes the connections of open requests.
    package func stop() {
        self.server.withLock { server in
            server?.stop()
            server = nil
        }
    }
}

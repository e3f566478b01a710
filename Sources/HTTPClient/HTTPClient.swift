// SPDX-License-Identifier: Apache-2.0
internal import Concurrency

/// A request to another server, with a body of JSON.
package struct HTTPPost: Sendable {
    /// `http://` or `https://`.
    package var url: String
    /// Beside `Content-Type: application/json`.
    package var headers: [(name: String, value: String)]
    package var body: [UInt8]
    /// How long all of it may take.
    package var timeoutMilliseconds: Int

    package init(url: String, headers: [(name: String, value: String)], body: [UInt8], timeoutMilliseconds: Int) {
        self.url = url
        self.headers = headers
        self.body = body
        self.timeoutMilliseconds = timeoutMilliseconds
    }
}

/// What became of a request.
package enum HTTPResult: Equatable, Sendable {
    /// The other answered; of its body at most `HTTPClient.answerBytes`.
    case answered(status: Int, body: [UInt8])
    case failed(HTTPClientError)
}

/// Why there is no answer.
package enum HTTPClientError: Error, Equatable, Sendable {
    /// None came in time.
    case timedOut
    /// There is no connection, or it broke; in curl's words.
    case unreachable(String)
    /// The answer is larger than `HTTPClient.answerBytes`.
    case tooLarge
    /// As many requests are under way as may be.
    case full
    /// The client has stopped.
    case stopped
}

/// Posts to other servers, many at once, on one thread that belongs to libcurl; connections are kept and used again.
///
/// Certificates are checked, redirects are not followed, and no proxy of the environment is used.
package final class HTTPClient: Sendable {
    /// The most bytes of an answer.
    package static let answerBytes = 64 << 10

    /// What waits to be begun.
    struct Pending: Sendable {
        var post: HTTPPost
        var complete: @Sendable (HTTPResult) -> Void
    }

    private struct State {
        var waiting: [Pending] = []
        /// Requests whose answer nobody has yet.
        var open = 0
        var isStopped = false
    }

    private let limit: Int
    private let state = Locked(State())
    private let multi: MultiHandle

    /// A client that does nothing before `run`.
    ///
    /// - Parameter limit: requests under way at most; further ones fail with `full`.
    package init(limit: Int) {
        self.limit = limit
        self.multi = MultiHandle()
    }

    /// How many requests are under way.
    package var openCount: Int { self.state.withLock { $0.open } }

    /// Sends a request; any thread, never blocks.
    ///
    /// - Parameters:
    ///   - post: the request.
    ///   - complete: called once, on the client's thread, or on this one when it is refused.
    package func send(_ post: HTTPPost, complete: @escaping @Sendable (HTTPResult) -> Void) {
        let refusal: HTTPClientError? = self.state.withLock { state in
            if state.isStopped { return .stopped }
            guard state.open < self.limit else { return .full }
            state.open += 1
            state.waiting.append(Pending(post: post, complete: complete))
            return nil
        }
        if let refusal { complete(.failed(refusal)) } else { self.multi.wake() }
    }

    /// Carries requests out until `stop`, on the calling thread; those under way then fail with `stopped`.
    package func run() {
        while true {
            let (waiting, isStopped) = self.state.withLock { state in
                defer { state.waiting.removeAll() }
                return (state.waiting, state.isStopped)
            }
            if isStopped {
                for pending in waiting { self.finish(pending.complete, .failed(.stopped)) }
                for complete in self.multi.cancelAll() { self.finish(complete, .failed(.stopped)) }
                return
            }
            for pending in waiting {
                if let error = self.multi.begin(pending) { self.finish(pending.complete, .failed(error)) }
            }
            for (complete, result) in self.multi.turn() { self.finish(complete, result) }
            self.multi.wait(milliseconds: 1000)
        }
    }

    /// Ends `run`; any thread.
    package func stop() {
        self.state.withLock { $0.isStopped = true }
        self.multi.wake()
    }

    private func finish(_ complete: @Sendable (HTTPResult) -> Void, _ result: HTTPResult) {
        self.state.withLock { $0.open -= 1 }
        complete(result)
    }
}

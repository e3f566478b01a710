// SPDX-License-Identifier: Apache-2.0
internal import Concurrency

/// A POST request to another server, with a JSON body.
package struct HTTPPost: Sendable {
    /// The address, beginning with `http://` or `https://`.
    package var url: String
    /// The headers in addition to `Content-Type: application/json`.
    package var headers: [(name: String, value: String)]
    package var body: [UInt8]
    /// The timeout of the whole request, from connecting to the last byte of the response.
    package var timeout: Duration

    package init(url: String, headers: [(name: String, value: String)], body: [UInt8], timeout: Duration) {
        self.url = url
        self.headers = headers
        self.body = body
        self.timeout = timeout
    }
}

/// The outcome of a request.
package enum HTTPResult: Equatable, Sendable {
    /// The server responded, with any status and a body of at most `HTTPClient.maxResponseBytes`.
    case answered(status: Int, body: [UInt8])
    /// There is no response.
    case failed(HTTPClientError)
}

/// Why there is no response.
package enum HTTPClientError: Error, Equatable, Sendable {
    /// The response was not complete within the timeout.
    case timedOut
    /// The connection failed or broke, with curl's error text.
    case unreachable(String)
    /// The server's certificate is not trusted or is for another host, with curl's error text.
    case untrusted(String)
    /// The response's body is larger than `HTTPClient.maxResponseBytes`.
    case tooLarge
    /// The client already has its maximum number of open requests.
    case full
    /// The client has stopped.
    case stopped
}

/// Sends many POST requests at the same time to other servers, on a single thread that runs libcurl.
///
/// Connections are reused. Certificates are checked, redirects are not followed, and proxy settings of the environment
/// are ignored.
package final class HTTPClient: Sendable {
    /// The maximum size of a response's body in bytes.
    package static let maxResponseBytes = 64 << 10

    /// A request that has not been passed to libcurl yet.
    struct PendingRequest: Sendable {
        var post: HTTPPost
        /// The completion handler.
        var complete: @Sendable (HTTPResult) -> Void
    }

    private struct State {
        var pendingRequests: [PendingRequest] = []
        /// The number of requests that have no result yet.
        var openCount = 0
        var isStopped = false
    }

    private let maxOpenRequests: Int
    private let state = Locked(State())
    private let multi: MultiHandle
    /// Records the turns of the loop in `run`; a turn without events takes a second.
    private let turns = TurnClock()

    /// Creates a client; it sends requests only while `run` is running.
    ///
    /// - Parameters:
    ///   - maxOpenRequests: the maximum number of open requests; further requests fail with `full`.
    ///   - caFile: the certificates of authorities, in PEM, that may sign servers' certificates besides those that the
    ///     system trusts; nil for the system's certificates only. The file is read again for each connection.
    package init(maxOpenRequests: Int, caFile: String? = nil) {
        self.maxOpenRequests = maxOpenRequests
        self.multi = MultiHandle(caFile: caFile)
    }

    /// Whether the client's thread has begun a turn within the last 30 s.
    package var isTurning: Bool { self.turns.isTurning }

    /// Sends a request.
    ///
    /// May be called from any thread; never blocks.
    ///
    /// - Parameters:
    ///   - post: the request.
    ///   - complete: called once with the result. It is called on the client's thread, or on the calling thread when
    ///     the request is rejected at once.
    package func send(_ post: HTTPPost, complete: @escaping @Sendable (HTTPResult) -> Void) {
        let rejection: HTTPClientError? = self.state.withLock { state in
            if state.isStopped { return .stopped }
            guard state.openCount < self.maxOpenRequests else { return .full }
            state.openCount += 1
            state.pendingRequests.append(PendingRequest(post: post, complete: complete))
            return nil
        }
        if let rejection { complete(.failed(rejection)) } else { self.multi.wakeUp() }
    }

    /// Performs requests on the calling thread until `stop` is called; requests that are open then fail with `stopped`.
    package func run() {
        while true {
            self.turns.recordTurn()
            let (pendingRequests, isStopped) = self.state.withLock { state in
                defer { state.pendingRequests.removeAll() }
                return (state.pendingRequests, state.isStopped)
            }
            if isStopped {
                for pending in pendingRequests { self.finish(pending.complete, .failed(.stopped)) }
                for complete in self.multi.cancelAll() { self.finish(complete, .failed(.stopped)) }
                return
            }
            for pending in pendingRequests {
                if let error = self.multi.begin(pending) { self.finish(pending.complete, .failed(error)) }
            }
            for (complete, result) in self.multi.performTransfers() { self.finish(complete, result) }
            // The timeout is only a precaution: `send`, `stop`, network events and timeouts of transfers end the wait.
            self.multi.wait(milliseconds: 1000)
        }
    }

    /// Makes `run` return.
    ///
    /// May be called from any thread.
    package func stop() {
        self.state.withLock { $0.isStopped = true }
        self.multi.wakeUp()
    }

    /// Counts a request as ended, and calls its completion handler.
    private func finish(_ complete: @Sendable (HTTPResult) -> Void, _ result: HTTPResult) {
        self.state.withLock { $0.openCount -= 1 }
        complete(result)
    }
}

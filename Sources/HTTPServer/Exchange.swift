// SPDX-License-Identifier: Apache-2.0
internal import CMicrohttpd
internal import Concurrency

/// Answers one request, exactly once, from any thread; what comes after the first answer is ignored.
///
/// A responder that is never completed is answered by the server with 504 at its deadline.
package struct HTTPResponder: Sendable {
    let answer: Answer

    /// Answers the request.
    ///
    /// - Returns: whether this was the answer: false after another one, the deadline, or the end of the connection.
    @discardableResult
    package func complete(_ response: HTTPResponse) -> Bool { self.answer.complete(response) }
}

/// What the server's thread and the handler's share of one request: where its answer stands.
final class Answer: Sendable {
    /// Counts upwards within a server.
    let id: UInt64
    private let connection: ConnectionHandle
    private let observer: HTTPObserver
    private let began = MonotonicClock.microseconds
    private let phase = Locked<Phase>(.handling)

    init(id: UInt64, connection: ConnectionHandle, observer: @escaping HTTPObserver) {
        self.id = id
        self.connection = connection
        self.observer = observer
    }

    func complete(_ response: HTTPResponse) -> Bool {
        let isAnswer = self.take(response)
        if isAnswer { self.observe(response) }
        return isAnswer
    }

    /// Tells of the answer.
    func observe(_ response: HTTPResponse) {
        self.observer(response.status, Int(MonotonicClock.microseconds - self.began))
    }

    /// Makes `response` the answer, unless there is one or the request has ended.
    private func take(_ response: HTTPResponse) -> Bool {
        self.phase.withLock { phase in
            switch phase {
            case .handling:
                phase = .answered(response)
                return true
            case .suspended:
                phase = .answered(response)
                // Under the lock, so that the daemon cannot be stopped between the change of phase and the call. It only
                // sets a flag and writes to a pipe, and the daemon holds none of its own locks while it calls us.
                self.connection.resume()
                return true
            case .answered, .finished:
                return false
            }
        }
    }

    /// Whether there is an answer.
    var isAnswered: Bool {
        self.phase.withLock { phase in
            switch phase {
            case .handling, .suspended: false
            case .answered, .finished: true
            }
        }
    }

    /// Takes the answer if there is one, else suspends the connection; only on the daemon's thread, in its handler.
    func takeOrSuspend() -> HTTPResponse? {
        self.phase.withLock { phase in
            switch phase {
            case .handling:
                phase = .suspended
                self.connection.suspend()
                return nil
            case .answered(let response):
                phase = .finished
                return response
            case .suspended, .finished:
                // The daemon calls a handler for neither a suspended connection nor a finished request.
                return nil
            }
        }
    }

    /// Ends the exchange: the connection may be gone once this returns.
    func finish() { self.phase.withLock { $0 = .finished } }

    private enum Phase {
        /// The handler runs, or the request is still read; may become any other.
        case handling
        /// The connection is suspended until there is an answer; becomes `answered`.
        case suspended
        /// There is an answer that the daemon has not taken; becomes `finished`.
        case answered(HTTPResponse)
        /// The answer was taken, or the connection has ended.
        case finished
    }
}

/// A connection of the daemon.
///
/// Sendable because its pointer is only used while `Answer` says that the request is not finished: the daemon frees a
/// connection no sooner than it has told us that its request has ended, and never while it is suspended.
@safe struct ConnectionHandle: @unchecked Sendable {
    let pointer: OpaquePointer

    func suspend() { unsafe MHD_suspend_connection(self.pointer) }
    func resume() { unsafe MHD_resume_connection(self.pointer) }
}

/// A request from its first line on; the daemon's thread alone touches it.
final class RequestLine {
    /// What stands behind the path's question mark.
    let query: [UInt8]
    /// Nil until the headers are there.
    var exchange: Exchange?

    init(query: [UInt8]) { self.query = query }
}

/// A request while it is read; the daemon's thread alone touches it.
final class Exchange {
    let answer: Answer
    var request: HTTPRequest
    /// Bytes of the body so far, also those beyond the limit.
    var received = 0
    var isHandled = false

    init(answer: Answer, request: HTTPRequest) {
        self.answer = answer
        self.request = request
    }
}

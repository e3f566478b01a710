// SPDX-License-Identifier: Apache-2.0
internal import CMicrohttpd
internal import ClientAddress
internal import Concurrency

/// Responds to one request, exactly once, from any thread.
///
/// Only the first response is used. If there is none by the deadline, the server responds with 504.
package struct HTTPResponder: Sendable {
    let response: PendingResponse

    /// Responds to the request.
    ///
    /// - Returns: whether this response is used; false after another response, after the deadline, or after the end of
    ///   the connection.
    @discardableResult
    package func complete(_ response: HTTPResponse) -> Bool { self.response.complete(response) }
}

/// The future response to one request; the thread of libmicrohttpd's daemon and the handler's threads share it.
final class PendingResponse: Sendable {
    /// The request's number; the requests of a server have ascending numbers.
    let id: UInt64
    private let connection: ConnectionHandle
    private let observer: HTTPObserver
    private let stopwatch = Stopwatch()
    private let phase = Locked<Phase>(.unanswered)

    init(id: UInt64, connection: ConnectionHandle, observer: @escaping HTTPObserver) {
        self.id = id
        self.connection = connection
        self.observer = observer
    }

    /// Stores and reports `response`, unless there already is a response or the request has ended.
    ///
    /// - Returns: whether the response is used.
    func complete(_ response: HTTPResponse) -> Bool {
        let isUsed = self.store(response)
        if isUsed { self.report(response) }
        return isUsed
    }

    /// Reports a response to the server's observer.
    func report(_ response: HTTPResponse) {
        self.observer(response.status, Int(self.stopwatch.microseconds))
    }

    /// Stores `response`, and resumes the connection if it is suspended.
    ///
    /// - Returns: false if there already is a response or the request has ended.
    private func store(_ response: HTTPResponse) -> Bool {
        self.phase.withLock { phase in
            switch phase {
            case .unanswered:
                phase = .answered(response)
                return true
            case .suspended:
                phase = .answered(response)
                // `resume` is called under the lock, because otherwise the daemon could be stopped between the change
                // of phase and `resume`. A deadlock is impossible: `resume` only sets a flag and writes to a pipe, and
                // the daemon holds no lock while it calls this module.
                self.connection.resume()
                return true
            case .answered, .finished:
                return false
            }
        }
    }

    /// Whether a response is still needed: there is none yet, and the request has not ended.
    var isPending: Bool {
        self.phase.withLock { phase in
            switch phase {
            case .unanswered, .suspended: true
            case .answered, .finished: false
            }
        }
    }

    /// Takes the response, which must then be queued at the daemon; if there is no response yet, suspends the
    /// connection.
    ///
    /// May only be called on the daemon's thread, in the daemon's callback for a request.
    func takeOrSuspend() -> HTTPResponse? {
        self.phase.withLock { phase in
            switch phase {
            case .unanswered:
                phase = .suspended
                self.connection.suspend()
                return nil
            case .answered(let response):
                phase = .finished
                return response
            case .suspended, .finished:
                // Unreachable: the daemon makes no callback for a suspended connection or a finished request.
                return nil
            }
        }
    }

    /// Marks the request as ended; later responses are ignored.
    ///
    /// The daemon may free the connection after this call.
    func finish() { self.phase.withLock { $0 = .finished } }

    private enum Phase {
        /// There is no response yet: the request is being read, or its handler runs. Any other phase may follow.
        case unanswered
        /// The connection is suspended until there is a response; `answered` follows.
        case suspended
        /// There is a response that is not yet queued at the daemon; `finished` follows.
        case answered(HTTPResponse)
        /// The response was taken to be queued at the daemon, or the connection has ended.
        case finished
    }
}

/// A connection of libmicrohttpd's daemon.
///
/// It is `@unchecked Sendable` for two reasons. The daemon's thread uses the pointer only in callbacks for an open
/// connection. Other threads use it only to resume a suspended connection, which the daemon does not free.
@safe struct ConnectionHandle: @unchecked Sendable {
    let pointer: OpaquePointer

    func suspend() { unsafe MHD_suspend_connection(self.pointer) }
    func resume() { unsafe MHD_resume_connection(self.pointer) }

    /// Identifies the connection among the open connections.
    var id: UInt { unsafe UInt(bitPattern: self.pointer) }

    /// The peer's address.
    ///
    /// May only be called on the daemon's thread.
    var peer: IPAddress? { unsafe IPAddress(socketAddress: plaza_mhd_peer(self.pointer)) }

    /// The socket's descriptor, or -1.
    ///
    /// May only be called on the daemon's thread.
    var descriptor: Int32 { unsafe plaza_mhd_descriptor(self.pointer) }
}

/// What the daemon keeps for a request between its callbacks, from the request line to the end of the request.
///
/// Only the daemon's thread uses it.
final class RequestContext {
    /// The query in the request line: the bytes after the question mark.
    let query: [UInt8]
    /// The request with its response; nil until the headers are read.
    var exchange: Exchange?

    init(query: [UInt8]) { self.query = query }
}

/// A request whose headers were read, together with its response.
///
/// Only the daemon's thread uses it.
final class Exchange {
    let response: PendingResponse
    var request: HTTPRequest
    /// The number of received bytes of the body, including those beyond the limit.
    var receivedBodyBytes = 0
    /// Whether the end of the body was reached; a request without a body has its end after the headers.
    var hasBodyEnded = false
    /// The decision about the request; this initial value is replaced as soon as the headers are checked.
    var decision = HTTPHeadDecision.read { _, _ in }
    /// Whether the body is stored; the body of a rejected request is read and discarded.
    var isBodyNeeded: Bool {
        if case .read = self.decision { return true }
        return false
    }
    /// The client whose open requests include this one; nil if this request is not counted.
    ///
    /// Requests are counted by client only behind a trusted proxy.
    var countedClient: IPAddress?

    init(response: PendingResponse, request: HTTPRequest) {
        self.response = response
        self.request = request
    }
}

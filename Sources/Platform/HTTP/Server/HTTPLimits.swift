// SPDX-License-Identifier: Apache-2.0
package import ClientAddress

/// Serves a request.
///
/// The handler runs on the server's thread and must not block. It completes the responder either before it returns or
/// later, from any thread.
package typealias HTTPHandler = @Sendable (HTTPRequest, HTTPResponder) -> Void

/// Decides, before the body is read, whether a request is served or rejected.
///
/// The handler runs on the server's thread and must not block. The body of its request is empty.
package typealias HTTPHeadHandler = @Sendable (HTTPRequest) -> HTTPHeadDecision

/// The decision about a request whose headers were read.
package enum HTTPHeadDecision: Sendable {
    /// Read the body, then call this handler with the whole request.
    case read(HTTPHandler)
    /// Send this response, and do not use the body.
    ///
    /// A small body is read and discarded first. A large one is not read, so the connection is closed after the
    /// response.
    case reject(HTTPResponse)
}

/// A limit because of which a server has refused a connection or request, or closed an open connection; for metrics.
package enum HTTPRefusal: String, Sendable, CaseIterable {
    /// The address has reached its limit of connections, or the server is nearly full and the address has the most
    /// connections.
    case connectionsPerAddress
    /// The client behind a trusted proxy has reached its limit of open requests.
    case requestsPerAddress
    /// The request line and headers were not received within `HTTPLimits.headTimeout`.
    case headTimeout
    /// The body was not received within `HTTPLimits.bodyTimeout`.
    case bodyTimeout
    /// The client did not receive the response within `HTTPLimits.responseTimeout`.
    case responseTimeout
    /// The responses that clients have not received exceed together `HTTPLimits.unreadResponseBytes`.
    case unreadResponses
    /// The address has sent too many malformed requests; see `HTTPAdmission`.
    case malformedRequests
}

/// Limits how many malformed requests each client address may send.
///
/// Its methods are called on the server's thread, so they must return quickly. The connections of trusted proxies,
/// which serve many clients, are not limited.
package protocol HTTPAdmission: AnyObject, Sendable {
    /// Decides whether another connection of this address is accepted; otherwise it is closed at once.
    func allowsHTTPConnection(from address: IPAddress) -> Bool
    /// Called when a connection has ended whose last request was malformed, too large or not complete, or that had no
    /// request.
    func httpRequestMalformed(from address: IPAddress)
}

/// Called with each refusal.
///
/// The observer runs on the server's threads, so it must return quickly.
package typealias HTTPRefusalObserver = @Sendable (HTTPRefusal) -> Void

/// Called with each response: its status, and the microseconds from the request to the response.
///
/// The observer runs on the thread that responds, so it must return quickly.
package typealias HTTPObserver = @Sendable (_ status: Int, _ microseconds: Int) -> Void

/// The limits of a server, and its reaction when they are exceeded.
package struct HTTPLimits: Sendable, Equatable {
    /// The maximum number of open connections; further connections stay in the kernel's queue.
    ///
    /// When more than nine tenths of this number are open, an old connection is closed for each new one. The old
    /// connection belongs to the address with the most connections. It is the one that has waited the longest for its
    /// client to send a request or to take a response.
    package var connections = 1_000
    /// The maximum number of open connections of one address, or of one IPv6 network of 64 bits; further ones are
    /// closed at once.
    ///
    /// The connections of trusted proxies are not limited by this number. Instead it limits the open requests of each
    /// client behind a trusted proxy; further requests are answered with 429.
    package var connectionsPerAddress = 100
    /// The proxies whose `X-Forwarded-For` is trusted to name the client.
    package var trustedProxies = TrustedProxies()
    /// The maximum size of a body in bytes; a larger body is answered with 413.
    package var bodyBytes = 1 << 20
    /// The maximum number of headers of a request; more are answered with 431.
    package var headers = 100
    /// The maximum size of the request line and headers in bytes; a larger head is answered with 431.
    package var headBytes = 16 << 10
    /// The maximum number of query items of a request; more are answered with 431.
    package var queryItems = 1000
    /// The memory of each connection for the request line and headers, and for the headers of the response, in bytes.
    ///
    /// libmicrohttpd, the server's library, answers a request that does not fit with 414 or 431. The memory must hold a
    /// head of `headBytes` and 72 bytes more for each header, and then still the headers of the response. Otherwise the
    /// connection ends without a response.
    package var connectionBytes = 32 << 10
    /// The time after which a connection without traffic is closed, even in the middle of a request; rounded up to
    /// whole seconds.
    package var idleTimeout = Duration.seconds(30)
    /// The maximum time to receive the request line and headers.
    ///
    /// For the first request it begins when the connection is opened; for a later request the client has `idleTimeout`
    /// in addition.
    ///
    /// Unlike `idleTimeout`, the three timeouts for head, body and response do not restart when bytes are received or
    /// sent. After such a timeout the connection is closed; no response says why.
    package var headTimeout = Duration.seconds(10)
    /// The maximum time to receive a body, from the end of the headers.
    package var bodyTimeout = Duration.seconds(20)
    /// The maximum time to send a response, until the client has received all of it.
    package var responseTimeout = Duration.seconds(30)
    /// The maximum size of all responses that clients have not received yet, in bytes.
    ///
    /// Beyond the limit, connections on which the server sends a response are closed one after another. The next one
    /// always belongs to the address with the most unread bytes, and has the earliest deadline there.
    package var unreadResponseBytes = 128 << 20
    /// The maximum time until the handler responds; then the server responds with 504.
    package var handlerTimeout = Duration.seconds(10)
    /// The maximum time that `stop` waits for open requests.
    package var drainTimeout = Duration.milliseconds(500)

    /// Makes the default limits.
    package init() {}

    /// `idleTimeout` as libmicrohttpd takes it: in whole seconds, and at least 1, because 0 would mean no timeout.
    var idleTimeoutSeconds: Int {
        let (seconds, attoseconds) = self.idleTimeout.components
        return max(1, Int(seconds) + (attoseconds > 0 ? 1 : 0))
    }
}

/// Why a server could not be started.
package enum HTTPServerError: Error, Equatable, CustomStringConvertible {
    /// The host is not an address of this machine.
    case badAddress(host: String, detail: String)
    /// Another socket is bound to the port.
    case portInUse(host: String, port: UInt16)
    /// The system could not provide a socket or a thread.
    case system(detail: String)

    /// The error in words, with a remedy.
    package var description: String {
        switch self {
        case .badAddress(let host, let detail): "cannot listen on '\(host)': \(detail)"
        case .portInUse(let host, let port): "port \(port) on \(host) is in use: choose another, or 0 for any"
        case .system(let detail): "cannot start the HTTP server: \(detail)"
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
package import ClientAddress

/// Serves a request.
///
/// The handler runs on the server's thread and must not block. It completes the responder either before it returns or
/// later, from any thread.
package typealias HTTPHandler = @Sendable (HTTPRequest, HTTPResponder) -> Void

/// Decides about a request when its headers were read and its body was not.
///
/// It runs on the server's own thread and must not block. The request has no body yet.
package typealias HTTPHeadHandler = @Sendable (HTTPRequest) -> HTTPHeadDecision

/// What happens with a request whose headers were read.
package enum HTTPHeadDecision: Sendable {
    /// The body is read; then this handler gets the whole request.
    case read(HTTPHandler)
    /// The body is not read, and this is the response.
    ///
    /// A connection on which a large body is still to come is closed after it.
    case reject(HTTPResponse)
}

/// Why a server refused a connection or cut it off, for metrics.
package enum HTTPRefusal: String, Sendable, CaseIterable {
    /// The address has as many connections as it may, or the most of all while nearly all places are taken.
    case connectionsPerAddress
    /// The client behind a trusted proxy has as many open requests as it may.
    case requestsPerAddress
    /// Request line and headers were not complete in time.
    case headTimeout
    /// The body was not complete in time.
    case bodyTimeout
    /// The client did not take the response in time.
    case responseTimeout
}

/// Called with each refusal.
///
/// Runs on the server's threads, so it must return quickly.
package typealias HTTPRefusalObserver = @Sendable (HTTPRefusal) -> Void

/// Called with each response: its status, and the microseconds from the request to the response.
///
/// The observer runs on the thread that responds, so it must return quickly.
package typealias HTTPObserver = @Sendable (_ status: Int, _ microseconds: Int) -> Void

/// The limits of a server, and its reaction when they are exceeded.
package struct HTTPLimits: Sendable, Equatable {
    /// The maximum number of open connections; further connections stay in the kernel's queue.
    ///
    /// Beyond nine tenths, each new connection cuts off one that waits for its client, of the address that has most.
    package var connections = 1_000
    /// The maximum number of open connections of one address, or of one IPv6 network of 64 bits; further ones are
    /// closed at once.
    ///
    /// The connections of trusted proxies are not limited by this. A client behind one may have as many open requests;
    /// further ones are answered with 429.
    package var connectionsPerAddress = 100
    /// The peers whose `X-Forwarded-For` names the client.
    package var trustedProxies = TrustedProxies()
    /// The maximum size of a body in bytes; a larger body is answered with 413.
    package var bodyBytes = 1 << 20
    /// The maximum number of headers of a request; more are answered with 431.
    ///
    /// `connectionBytes` limits their total size.
    package var fields = 100
    /// The maximum number of query items of a request; more are answered with 431.
    package var queryItems = 1000
    /// The memory of a connection for request line and headers, in bytes.
    ///
    /// A request that does not fit is answered with 414 or 431.
    package var connectionBytes = 16 << 10
    /// A connection without traffic is closed after this time, also in the middle of a request.
    package var idleTimeout = Duration.seconds(30)
    /// The maximum time for request line and headers, from the first byte that could be sent: the begin of the
    /// connection, or the end of the idle time.
    ///
    /// No byte extends it or the next two. A connection beyond one of them is cut off, because there is no
    /// request to respond to, or nobody who takes the response.
    package var headTimeout = Duration.seconds(10)
    /// The maximum time for a body, from the end of the headers.
    package var bodyTimeout = Duration.seconds(20)
    /// The maximum time until the client has taken a response.
    package var responseTimeout = Duration.seconds(30)
    /// The maximum time until the handler responds; then the server responds with 504.
    package var deadline = Duration.seconds(10)
    /// The maximum time that `stop` waits for open requests.
    package var drainTimeout = Duration.milliseconds(500)

    /// Makes the default limits.
    package init() {}
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

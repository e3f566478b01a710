// SPDX-License-Identifier: Apache-2.0

/// Serves a request, on the server's own thread: it must not block, and either completes the responder before it returns
/// or keeps it and completes it later, from any thread.
package typealias HTTPHandler = @Sendable (HTTPRequest, HTTPResponder) -> Void

/// Told of each answer: its status, and the microseconds that its request took until it was there.
///
/// Called on the thread that answers; it must be quick.
package typealias HTTPObserver = @Sendable (_ status: Int, _ microseconds: Int) -> Void

/// How much the server takes, and what it does with more.
package struct HTTPLimits: Sendable, Equatable {
    /// Connections at once; beyond, they wait in the kernel's queue.
    package var connections = 1_000
    /// Bytes of a body; beyond, 413.
    package var bodyBytes = 1 << 20
    /// Headers of a request; beyond, 431.
    ///
    /// Their bytes have `connectionBytes`.
    package var fields = 100
    /// Query items of a request; beyond, 431.
    package var queryItems = 1000
    /// Memory of a connection for request line and headers; beyond, 414 or 431.
    package var connectionBytes = 16 << 10
    /// How long a connection may be silent, also one whose client left in the middle of a request.
    package var idleSeconds = 30
    /// How long a handler may take; beyond, 504.
    package var deadlineMilliseconds = 10_000
    /// How long `stop` waits for answers under way.
    package var drainMilliseconds = 500

    /// The limits named above.
    package init() {}
}

/// Why a server does not start.
package enum HTTPServerError: Error, Equatable, CustomStringConvertible {
    /// The host is no address of this machine.
    case badAddress(host: String, detail: String)
    /// Something else uses the port.
    case portInUse(host: String, port: UInt16)
    /// The system refused a socket or a thread.
    case system(detail: String)

    /// The error in words, with what to do.
    package var description: String {
        switch self {
        case .badAddress(let host, let detail): "cannot listen on '\(host)': \(detail)"
        case .portInUse(let host, let port): "port \(port) on \(host) is in use: choose another, or 0 for any"
        case .system(let detail): "cannot start the HTTP server: \(detail)"
        }
    }
}

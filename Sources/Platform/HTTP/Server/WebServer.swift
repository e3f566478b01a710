// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import MachineKit

/// An HTTP/1.1 server for the API, health and metrics, on one thread of libmicrohttpd.
///
/// A handler responds at once, or keeps its responder and responds later from any thread. Until then the connection is
/// suspended. Connections are kept alive between requests. `HTTPLimits` says how the server responds to requests
/// beyond the limits.
package final class WebServer: Sendable {
    /// The host that was passed to `init`.
    package let host: String
    /// The port; if port 0 was requested, the port that the system chose.
    package let port: UInt16
    private let core: ServerCore
    /// What `stop` must end; nil once it was called.
    private let running: Locked<Running?>

    /// Starts to serve with a handler of whole requests.
    ///
    /// The parameters are those of the other initializer.
    ///
    /// - Throws: `portInUse`, `badAddress`, or `system` with the reason.
    package convenience init(
        host: String = "127.0.0.1", port: UInt16, limits: HTTPLimits = HTTPLimits(),
        failureBody: @escaping HTTPFailure.Body = HTTPFailure.defaultBody,
        observer: @escaping HTTPObserver = { _, _ in }, refusalObserver: @escaping HTTPRefusalObserver = { _ in },
        handler: @escaping HTTPHandler
    ) throws(HTTPServerError) {
        try self.init(
            host: host, port: port, limits: limits, failureBody: failureBody, observer: observer,
            refusalObserver: refusalObserver,
            headHandler: { _ in .read(handler) })
    }

    /// Starts to serve with a handler that decides before a body is read.
    ///
    /// - Parameters:
    ///   - host: an address or host name of this machine.
    ///   - port: the port, or 0 for any free port.
    ///   - limits: the limits of requests and connections.
    ///   - failureBody: makes the bodies of the server's own responses.
    ///   - observer: called with each response.
    ///   - refusalObserver: called with each refusal of a connection or request.
    ///   - admission: limits the malformed requests of each address; nil for no limit.
    ///   - headHandler: decides about each request; see `Router.headHandler`.
    /// - Throws: `portInUse`, `badAddress`, or `system` with the reason.
    package init(
        host: String = "127.0.0.1", port: UInt16, limits: HTTPLimits = HTTPLimits(),
        failureBody: @escaping HTTPFailure.Body = HTTPFailure.defaultBody,
        observer: @escaping HTTPObserver = { _, _ in }, refusalObserver: @escaping HTTPRefusalObserver = { _ in },
        admission: (any HTTPAdmission)? = nil, headHandler: @escaping HTTPHeadHandler
    ) throws(HTTPServerError) {
        let core = ServerCore(
            limits: limits, failureBody: failureBody, observer: observer, refusalObserver: refusalObserver,
            admission: admission, handler: headHandler)
        let socket = try ListeningSocket(host: host, port: port)
        let daemon: Daemon
        do {
            daemon = try Daemon(core: core, socket: socket.descriptor)
        } catch {
            socket.close()
            throw error
        }
        let thread: DedicatedThread
        do {
            thread = try DedicatedThread.start("http-deadlines") { core.watchDeadlines() }
        } catch {
            daemon.stop()
            socket.close()
            throw .system(detail: "no thread (errno \(error.errno))")
        }
        self.host = host
        self.port = socket.port
        self.core = core
        self.running = Locked(Running(daemon: daemon, socket: socket, thread: thread))
    }

    deinit { self.stop() }

    /// Whether a handler has kept the server's thread for 30 s, so that no other request is served.
    package var isHung: Bool {
        self.core.handlerClock.busySince.map { MonotonicClock.now - $0 >= TurnClock.turnLimit } ?? false
    }

    /// Stops the server.
    ///
    /// It accepts no more connections, responds to pending requests with 503, waits until these responses are sent, and
    /// closes all connections. It blocks up to `HTTPLimits.drainTimeout`. It must not be called in a handler. A second
    /// call does nothing.
    package func stop() {
        let running = self.running.withLock { running in
            defer { running = nil }
            return running
        }
        guard let running else { return }
        running.daemon.quiesce()
        self.core.beginStopping()
        self.core.drain()
        running.daemon.stop()
        running.thread.join()
        running.socket.close()
    }

    private struct Running: Sendable {
        let daemon: Daemon
        let socket: ListeningSocket
        let thread: DedicatedThread
    }
}

// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import Glibc

/// An HTTP/1.1 server for the API, health and metrics, on one thread of libmicrohttpd.
///
/// A handler answers at once, or keeps its responder and answers later from any thread; the connection sleeps meanwhile.
/// Connections are kept alive between requests. Anything beyond the limits is refused as `HTTPLimits` says.
package final class WebServer: Sendable {
    /// The host as it was given.
    package let host: String
    /// The port, also when any was asked for.
    package let port: UInt16
    private let core: ServerCore
    private let running: Locked<Running?>

    /// Starts to serve.
    ///
    /// - Parameters:
    ///   - host: an address of this machine, or a name of it.
    ///   - port: 0 takes any that is free.
    ///   - limits: how much it takes.
    ///   - failureBody: makes the bodies of answers that no handler gave.
    ///   - observer: is told of each answer.
    ///   - handler: serves each request; see `Router.handler`.
    /// - Throws: `portInUse`, `badAddress`, or what the system refused.
    package init(
        host: String = "127.0.0.1", port: UInt16, limits: HTTPLimits = HTTPLimits(),
        failureBody: @escaping HTTPFailure.Body = HTTPFailure.standardBody,
        observer: @escaping HTTPObserver = { _, _ in }, handler: @escaping HTTPHandler
    ) throws(HTTPServerError) {
        let core = try ServerCore(limits: limits, failureBody: failureBody, observer: observer, handler: handler)
        let socket = try ListeningSocket(host: host, port: port)
        let daemon: Daemon
        do {
            daemon = try Daemon(core: core, socket: socket.descriptor)
        } catch {
            socket.close()
            throw error
        }
        let thread: DeadlineThread
        do {
            thread = try DeadlineThread(core: core)
        } catch {
            daemon.stop()
            socket.close()
            throw error
        }
        self.host = host
        self.port = socket.port
        self.core = core
        self.running = Locked(Running(daemon: daemon, socket: socket, thread: thread))
    }

    deinit { self.stop() }

    /// Stops: accepts no more, answers waiting requests with 503, gives answers under way a moment, closes the rest.
    ///
    /// Blocks up to `HTTPLimits.drainMilliseconds`. Not from a handler. A second call does nothing.
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
        let thread: DeadlineThread
    }
}

/// The thread that answers what is overdue.
///
/// Sendable because a thread's id is a number that `join` uses once.
struct DeadlineThread: @unchecked Sendable {
    private let id: pthread_t

    init(core: ServerCore) throws(HTTPServerError) {
        var id = pthread_t()
        let context = unsafe Unmanaged.passRetained(core)
        let code = unsafe pthread_create(&id, nil, watchDeadlines, context.toOpaque())
        guard code == 0 else {
            unsafe context.release()
            throw .system(detail: "no thread (errno \(code))")
        }
        self.id = id
    }

    /// Waits for its end, which `ServerCore.beginStopping` brings about.
    func join() { _ = pthread_join(self.id, nil) }
}

/// The deadline thread's life; it owns a reference to the core.
private func watchDeadlines(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let context = unsafe context else { return nil }
    unsafe Unmanaged<ServerCore>.fromOpaque(context).takeRetainedValue().watchDeadlines()
    return nil
}

// SPDX-License-Identifier: Apache-2.0
internal import CMicrohttpd
internal import ClientAddress
internal import Concurrency
internal import Glibc

/// The HTTP server of the library libmicrohttpd, called its daemon, which serves all connections on a single thread.
///
/// It is `@unchecked Sendable` because only `WebServer` uses the daemon, and starts and stops it once.
@safe struct Daemon: @unchecked Sendable {
    private let pointer: OpaquePointer
    /// The server's core, which this reference retains for the daemon's callbacks until `stop`.
    private let core: Unmanaged<ServerCore>

    /// Starts the daemon's thread.
    ///
    /// The socket must be bound and listening. The caller keeps the socket and closes it after `stop`.
    init(core: ServerCore, socket: Int32) throws(HTTPServerError) {
        let retainedCore = unsafe Unmanaged.passRetained(core)
        let corePointer = unsafe retainedCore.toOpaque()
        let limits = core.limits
        // An option holds a callback as an integer, so the functions are first converted to C function pointers.
        let requestLineCallback: RequestLineCallback = unsafe requestLineReceived
        let unescapeCallback: UnescapeCallback = unsafe leaveEscaped
        let requestCompletedCallback: MHD_RequestCompletedCallback = unsafe requestCompleted
        let connectionChangedCallback: MHD_NotifyConnectionCallback = unsafe connectionChanged
        var options = unsafe [
            MHD_OptionItem(option: .LISTEN_SOCKET, value: Int(socket), ptr_value: nil),
            MHD_OptionItem(option: .CONNECTION_LIMIT, value: limits.connections, ptr_value: nil),
            MHD_OptionItem(option: .CONNECTION_TIMEOUT, value: limits.idleTimeoutSeconds, ptr_value: nil),
            MHD_OptionItem(option: .CONNECTION_MEMORY_LIMIT, value: limits.connectionBytes, ptr_value: nil),
            MHD_OptionItem(
                option: .URI_LOG_CALLBACK, value: unsafeBitCast(requestLineCallback, to: Int.self), ptr_value: nil),
            MHD_OptionItem(
                option: .UNESCAPE_CALLBACK, value: unsafeBitCast(unescapeCallback, to: Int.self), ptr_value: nil),
            MHD_OptionItem(
                option: .NOTIFY_COMPLETED, value: unsafeBitCast(requestCompletedCallback, to: Int.self),
                ptr_value: corePointer),
            MHD_OptionItem(
                option: .NOTIFY_CONNECTION, value: unsafeBitCast(connectionChangedCallback, to: Int.self),
                ptr_value: corePointer),
            MHD_OptionItem(option: .END, value: 0, ptr_value: nil),
        ]
        let flags =
            MHD_USE_INTERNAL_POLLING_THREAD.rawValue | MHD_USE_EPOLL.rawValue | MHD_ALLOW_SUSPEND_RESUME.rawValue
        // The variadic arguments are a single option, whose value is the array of all other options, and the end mark.
        let arrayOption = Int32(bitPattern: MHD_OPTION.ARRAY.rawValue)
        let endOption = Int32(bitPattern: MHD_OPTION.END.rawValue)
        let pointer: OpaquePointer? = unsafe options.withUnsafeMutableBufferPointer { items in
            guard let items = items.baseAddress else { return nil }
            return unsafe withVaList([arrayOption, items, endOption]) { list in
                // The port is 0, because the daemon uses the socket of the option `LISTEN_SOCKET`.
                unsafe MHD_start_daemon_va(flags, 0, mayConnect, corePointer, handleRequest, corePointer, list)
            }
        }
        guard let pointer = unsafe pointer else {
            let errorNumber = errno
            unsafe retainedCore.release()
            throw .system(detail: "the daemon did not start (errno \(errorNumber))")
        }
        unsafe self.pointer = pointer
        unsafe self.core = retainedCore
    }

    /// Makes the daemon accept no more connections.
    func quiesce() { _ = unsafe MHD_quiesce_daemon(self.pointer) }

    /// Ends the thread and all connections.
    ///
    /// No connection may be suspended when this method is called.
    func stop() {
        unsafe MHD_stop_daemon(self.pointer)
        unsafe self.core.release()
    }
}

// The callbacks below run on the daemon's thread. `connectionChanged` and `requestCompleted` may also run on the thread
// that stops the daemon. `corePointer` points to the `ServerCore`, which lives until the daemon has stopped.

/// The function that the daemon calls with a request's path and query (`MHD_OPTION_URI_LOG_CALLBACK`).
private typealias RequestLineCallback =
    @convention(c) (
        UnsafeMutableRawPointer?, UnsafePointer<CChar>?, OpaquePointer?
    ) -> UnsafeMutableRawPointer?

/// The function that the daemon calls to decode a text in place (`MHD_OPTION_UNESCAPE_CALLBACK`).
private typealias UnescapeCallback =
    @convention(c) (UnsafeMutableRawPointer?, OpaquePointer?, UnsafeMutablePointer<CChar>?) -> Int

/// Called before a connection is accepted; `NO` closes it.
private func mayConnect(
    _ corePointer: UnsafeMutableRawPointer?, _ address: UnsafePointer<sockaddr>?, _ size: socklen_t
) -> MHD_Result {
    guard let corePointer = unsafe corePointer else { return .NO }
    let core = unsafe Unmanaged<ServerCore>.fromOpaque(corePointer).takeUnretainedValue()
    return core.admitConnection(from: unsafe IPAddress(socketAddress: address)) ? .YES : .NO
}

/// Called when a connection was accepted, and when it has ended, before its descriptor is closed.
private func connectionChanged(
    _ corePointer: UnsafeMutableRawPointer?, _ connectionPointer: OpaquePointer?,
    _ state: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, _ change: MHD_ConnectionNotificationCode
) {
    guard let corePointer = unsafe corePointer, let connectionPointer = unsafe connectionPointer else { return }
    let core = unsafe Unmanaged<ServerCore>.fromOpaque(corePointer).takeUnretainedValue()
    let connection = unsafe ConnectionHandle(pointer: connectionPointer)
    switch change {
    case .CONNECTION_NOTIFY_STARTED:
        core.connectionOpened(connection.id, from: connection.peer, descriptor: connection.descriptor)
    // The only other notification is `CONNECTION_NOTIFY_CLOSED`.
    default: core.connectionClosed(connection.id, peer: connection.peer, descriptor: connection.descriptor)
    }
}

/// Called when the first line of a request was read: cuts off the query and keeps it in a `RequestContext`.
///
/// The daemon must not see the query, because it would split the query into items, and each item would take 72 bytes of
/// the connection's memory. When this memory is exhausted, libmicrohttpd 0.9.75 rejects the request but never responds,
/// so the client waits in vain. The query can be cut off because `target` lies in the daemon's buffer, which may be
/// changed during this call. The daemon passes the returned `RequestContext` to the other callbacks for the request,
/// and at last to `requestCompleted`.
private func requestLineReceived(
    _ unused: UnsafeMutableRawPointer?, _ target: UnsafePointer<CChar>?, _ connectionPointer: OpaquePointer?
) -> UnsafeMutableRawPointer? {
    var query: [UInt8] = []
    if let target = unsafe target, let questionMark = unsafe strchr(target, Int32(UInt8(ascii: "?"))) {
        let queryStart = unsafe questionMark + 1
        query = unsafe Array(UnsafeRawBufferPointer(start: queryStart, count: strlen(queryStart)))
        // The question mark stays; the daemon then sees an empty query.
        unsafe queryStart.pointee = 0
    }
    return unsafe Unmanaged.passRetained(RequestContext(query: query)).toOpaque()
}

/// Called with a request's path, to decode it in place: leaves the path percent-encoded.
///
/// This server itself decodes a path, after it has split the path at the slashes. The result is the length of the path.
private func leaveEscaped(
    _ unused: UnsafeMutableRawPointer?, _ connectionPointer: OpaquePointer?, _ text: UnsafeMutablePointer<CChar>?
) -> Int {
    guard let text = unsafe text else { return 0 }
    return unsafe strlen(text)
}

/// Called when a request has ended, with or without a response; once for each call of `requestLineReceived`.
///
/// It releases the `RequestContext` in `state`, which `requestLineReceived` retained.
private func requestCompleted(
    _ corePointer: UnsafeMutableRawPointer?, _ connectionPointer: OpaquePointer?,
    _ state: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, _ reason: MHD_RequestTerminationCode
) {
    guard let corePointer = unsafe corePointer, let state = unsafe state, let contextPointer = unsafe state.pointee
    else { return }
    unsafe state.pointee = nil
    let core = unsafe Unmanaged<ServerCore>.fromOpaque(corePointer).takeUnretainedValue()
    let requestContext = unsafe Unmanaged<RequestContext>.fromOpaque(contextPointer).takeRetainedValue()
    let connection = unsafe connectionPointer.map { unsafe ConnectionHandle(pointer: $0) }
    guard let exchange = requestContext.exchange else {
        // The request ended before its headers were read.
        if let connection { core.headEnded(countsAsMalformed: true, of: connection.id) }
        return
    }
    exchange.response.finish()
    if let client = exchange.countedClient { core.releaseRequest(of: client) }
    // The connection now waits for its next request.
    if let connection { core.enterPhase(.readingHead, of: connection.id) }
    core.removeRequest(exchange.response.id)
}

/// Called with a request's headers, with each part of its body, at its end, and after its connection was resumed.
///
/// `state` points to the `RequestContext` that `requestLineReceived` returned. The result `NO` closes the connection.
private func handleRequest(
    _ corePointer: UnsafeMutableRawPointer?, _ connectionPointer: OpaquePointer?, _ path: UnsafePointer<CChar>?,
    _ method: UnsafePointer<CChar>?, _ version: UnsafePointer<CChar>?, _ upload: UnsafePointer<CChar>?,
    _ uploadSize: UnsafeMutablePointer<Int>?, _ state: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
    guard let corePointer = unsafe corePointer, let connectionPointer = unsafe connectionPointer,
        let state = unsafe state, let uploadSize = unsafe uploadSize, let contextPointer = unsafe state.pointee
    else { return .NO }
    let requestContext = unsafe Unmanaged<RequestContext>.fromOpaque(contextPointer).takeUnretainedValue()
    let core = unsafe Unmanaged<ServerCore>.fromOpaque(corePointer).takeUnretainedValue()
    let connection = unsafe ConnectionHandle(pointer: connectionPointer)
    guard let exchange = requestContext.exchange else {
        // The first call for this request: its headers were read.
        let path = unsafe path.map { unsafe String(cString: $0) } ?? ""
        let method = unsafe method.map { unsafe String(cString: $0) } ?? ""
        let version = unsafe version.map { unsafe String(cString: $0) } ?? ""
        let pendingResponse = PendingResponse(
            id: core.registerRequest(), connection: connection, observer: core.observer)
        let (request, failure) = connection.readRequest(
            method: method, version: version, path: path, query: requestContext.query, limits: core.limits)
        let exchange = Exchange(response: pendingResponse, request: request)
        requestContext.exchange = exchange
        core.enterPhase(.readingBody, of: connection.id)
        core.headEnded(countsAsMalformed: failure == .badRequest || failure == .headersTooLarge, of: connection.id)
        if failure == .headersTooLarge {
            // The daemon might have no memory left for the headers of a response, and would then send none. So the
            // response is written here, and the connection is closed.
            let response = HTTPResponse.failure(.headersTooLarge, body: core.failureBody)
            pendingResponse.report(response)
            connection.sendHeadTooLarge(
                response, withBody: !method.utf8.elementsEqual(HTTPMethod.head.rawValue.utf8))
            return .NO
        }
        guard var response = core.decide(on: exchange, failure, connection) else { return .YES }
        // The body was not read, so the end of the request is unknown and later requests cannot be parsed.
        response.headers.append(HTTPHeader("Connection", "close"))
        pendingResponse.report(response)
        core.beginSending(response, on: connection.id)
        return connection.queue(response)
    }
    let count = unsafe uploadSize.pointee
    if count > 0 {
        // Tells the daemon that all bytes were taken.
        unsafe uploadSize.pointee = 0
        exchange.receivedBodyBytes += count
        // Once a body has begun, the daemon takes no response before the body's end. Therefore the rest of a body over
        // the limit is read and discarded, so that the client gets a 413. If the client sends more than four times the
        // limit plus 64 KiB, its connection is closed without a response.
        let maxReceivedBytes = 4 * core.limits.bodyBytes + (64 << 10)
        guard exchange.receivedBodyBytes <= maxReceivedBytes else { return .NO }
        if exchange.isBodyNeeded, exchange.receivedBodyBytes <= core.limits.bodyBytes, let upload = unsafe upload {
            unsafe exchange.request.body.append(contentsOf: UnsafeRawBufferPointer(start: upload, count: count))
        }
        return .YES
    }
    if !exchange.hasBodyEnded {
        exchange.hasBodyEnded = true
        core.enterPhase(.handling, of: connection.id)
        core.respond(to: exchange)
    }
    // Without a response the connection is suspended, and this function is called again when there is a response.
    guard let response = exchange.response.takeOrSuspend() else { return .YES }
    core.beginSending(response, on: connection.id)
    return connection.queue(response)
}

extension ServerCore {
    /// Decides about a request whose headers were read, and stores the decision in the exchange.
    ///
    /// `failure` says why the headers are not acceptable; it is nil if they are.
    ///
    /// - Returns: the response that rejects the request at once, before its body; nil if the body is read or discarded
    ///   first.
    fileprivate func decide(
        on exchange: Exchange, _ failure: HTTPFailure?, _ connection: ConnectionHandle
    ) -> HTTPResponse? {
        if let failure { return .failure(failure, body: self.failureBody) }
        if let peer = connection.peer {
            let forwarded = exchange.request.headers["x-forwarded-for"]
            let client = self.limits.trustedProxies.client(peer: peer, forwardedFor: forwarded)
            exchange.request.client = client
            // If the two addresses differ, the peer is a trusted proxy. The connections of such a proxy are not
            // limited, so the open requests of each client are limited instead.
            if client != peer {
                guard self.admitRequest(of: client) else {
                    let retryAfterSeconds = HTTPHeader("Retry-After", "1")
                    return .failure(.tooManyRequests, body: self.failureBody, headers: [retryAfterSeconds])
                }
                exchange.countedClient = client
            }
        }
        exchange.decision = self.handlerClock.whileBusy { self.handler(exchange.request) }
        guard case .reject(let response) = exchange.decision else { return nil }
        // A small body is first read and discarded, because the server must close the connection after a response that
        // it sends before the body.
        return exchange.request.hasSmallBody ? nil : response
    }

    /// Passes a request whose body has ended to its handler, and sets the deadline of the response.
    ///
    /// If the head handler has rejected the request, or the body is too large, the response follows at once instead.
    fileprivate func respond(to exchange: Exchange) {
        guard exchange.receivedBodyBytes <= self.limits.bodyBytes else {
            _ = exchange.response.complete(.failure(.payloadTooLarge, body: self.failureBody))
            return
        }
        switch exchange.decision {
        case .reject(let response): _ = exchange.response.complete(response)
        case .read(let handler):
            self.handlerClock.whileBusy { handler(exchange.request, HTTPResponder(response: exchange.response)) }
        }
        // The connection is not suspended yet. If the deadline or the server's stop completes the response first,
        // `takeOrSuspend` finds that response. `setDeadline` returns false if the server is already stopping.
        if exchange.response.isPending, !self.setDeadline(of: exchange.response) {
            _ = exchange.response.complete(.failure(.unavailable, body: self.failureBody))
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
internal import CMicrohttpd
internal import ClientAddress
internal import Concurrency
internal import Glibc

/// libmicrohttpd's daemon, which serves all connections on a single thread.
///
/// `@unchecked Sendable`: only `WebServer` uses the daemon, and starts and stops it once.
@safe struct Daemon: @unchecked Sendable {
    private let pointer: OpaquePointer
    /// The server's core, which this reference retains for the daemon's callbacks until `stop`.
    private let core: Unmanaged<ServerCore>

    /// Starts the daemon's thread.
    ///
    /// The socket must be bound and listening. The caller keeps the socket and closes it after `stop`.
    init(core: ServerCore, socket: Int32) throws(HTTPServerError) {
        let context = unsafe Unmanaged.passRetained(core)
        let limits = core.limits
        // An option holds a callback as an integer, so the functions are first converted to C function pointers.
        let requestEndedCallback: MHD_RequestCompletedCallback = unsafe requestEnded
        let requestBeganCallback: RequestBeganCallback = unsafe requestBegan
        let connectionChangedCallback: MHD_NotifyConnectionCallback = unsafe connectionChanged
        let unescape: @convention(c) (UnsafeMutableRawPointer?, OpaquePointer?, UnsafeMutablePointer<CChar>?) -> Int =
            unsafe leaveEscaped
        var options = unsafe [
            MHD_OptionItem(option: .LISTEN_SOCKET, value: Int(socket), ptr_value: nil),
            MHD_OptionItem(option: .CONNECTION_LIMIT, value: limits.connections, ptr_value: nil),
            MHD_OptionItem(option: .CONNECTION_TIMEOUT, value: limits.idleTimeoutSeconds, ptr_value: nil),
            MHD_OptionItem(option: .CONNECTION_MEMORY_LIMIT, value: limits.connectionBytes, ptr_value: nil),
            MHD_OptionItem(
                option: .NOTIFY_COMPLETED, value: unsafeBitCast(requestEndedCallback, to: Int.self),
                ptr_value: context.toOpaque()),
            MHD_OptionItem(
                option: .NOTIFY_CONNECTION, value: unsafeBitCast(connectionChangedCallback, to: Int.self),
                ptr_value: context.toOpaque()),
            MHD_OptionItem(
                option: .URI_LOG_CALLBACK, value: unsafeBitCast(requestBeganCallback, to: Int.self), ptr_value: nil),
            MHD_OptionItem(option: .UNESCAPE_CALLBACK, value: unsafeBitCast(unescape, to: Int.self), ptr_value: nil),
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
                unsafe MHD_start_daemon_va(
                    flags, 0, mayConnect, context.toOpaque(), handleRequest, context.toOpaque(), list)
            }
        }
        guard let pointer = unsafe pointer else {
            let errorNumber = errno
            unsafe context.release()
            throw .system(detail: "the daemon did not start (errno \(errorNumber))")
        }
        unsafe self.pointer = pointer
        unsafe self.core = context
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

/// The function that the daemon calls with a request's path and query (`MHD_OPTION_URI_LOG_CALLBACK`).
private typealias RequestBeganCallback =
    @convention(c) (
        UnsafeMutableRawPointer?, UnsafePointer<CChar>?, OpaquePointer?
    ) -> UnsafeMutableRawPointer?

/// Called when the first line of a request was read: cuts off the query and keeps it in a `RequestLine`.
///
/// It runs on the daemon's thread, before the daemon splits the query into items. Each item would take 72 bytes of the
/// connection's memory. When that memory is exhausted, libmicrohttpd 0.9.75 rejects the request but never responds, and
/// the client waits for a response that never comes. Therefore the daemon must not see the query. The text lies in the
/// daemon's buffer, which may be changed during this call. The daemon keeps the returned `RequestLine` until
/// `requestEnded`.
private func requestBegan(
    _ context: UnsafeMutableRawPointer?, _ target: UnsafePointer<CChar>?, _ connection: OpaquePointer?
) -> UnsafeMutableRawPointer? {
    var query: [UInt8] = []
    if let target = unsafe target, let questionMark = unsafe strchr(target, Int32(UInt8(ascii: "?"))) {
        let queryStart = unsafe questionMark + 1
        query = unsafe Array(UnsafeRawBufferPointer(start: queryStart, count: strlen(queryStart)))
        // The question mark stays; the daemon then sees an empty query.
        unsafe queryStart.pointee = 0
    }
    return unsafe Unmanaged.passRetained(RequestLine(query: query)).toOpaque()
}

/// Called before a connection is accepted; `NO` closes it.
///
/// It runs on the daemon's thread; the core in `context` lives until the daemon has stopped.
private func mayConnect(
    _ context: UnsafeMutableRawPointer?, _ address: UnsafePointer<sockaddr>?, _ size: socklen_t
) -> MHD_Result {
    guard let context = unsafe context else { return .NO }
    let core = unsafe Unmanaged<ServerCore>.fromOpaque(context).takeUnretainedValue()
    return core.accepts(unsafe IPAddress(socketAddress: address)) ? .YES : .NO
}

/// Called when a connection was accepted, and when it has ended, before its descriptor is closed.
///
/// It runs on the daemon's thread, or on the thread that stops the daemon; the core in `context` lives until the daemon
/// has stopped.
private func connectionChanged(
    _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?,
    _ state: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, _ change: MHD_ConnectionNotificationCode
) {
    guard let context = unsafe context, let connection = unsafe connection else { return }
    let core = unsafe Unmanaged<ServerCore>.fromOpaque(context).takeUnretainedValue()
    let handle = unsafe ConnectionHandle(pointer: connection)
    switch change {
    case .CONNECTION_NOTIFY_STARTED: core.connectionOpened(handle.id, from: handle.peer, descriptor: handle.descriptor)
    // `CONNECTION_NOTIFY_CLOSED`, the only other notification.
    default: core.connectionClosed(handle.id, peer: handle.peer, descriptor: handle.descriptor)
    }
}

/// Leaves a path or query item percent-encoded, because this server decodes paths itself, after splitting them at their
/// slashes.
///
/// It runs on the daemon's thread, and returns the length of the unchanged text.
private func leaveEscaped(
    _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?, _ text: UnsafeMutablePointer<CChar>?
) -> Int {
    guard let text = unsafe text else { return 0 }
    return unsafe strlen(text)
}

/// Called when a request has ended, with or without a response.
///
/// It runs on the daemon's thread or on the thread that stops the daemon, once for each call of `requestBegan`. It
/// releases the `RequestLine` in `state`, which `requestBegan` retained.
private func requestEnded(
    _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?,
    _ state: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, _ reason: MHD_RequestTerminationCode
) {
    guard let context = unsafe context, let state = unsafe state, let pointer = unsafe state.pointee else { return }
    unsafe state.pointee = nil
    let core = unsafe Unmanaged<ServerCore>.fromOpaque(context).takeUnretainedValue()
    guard let exchange = unsafe Unmanaged<RequestLine>.fromOpaque(pointer).takeRetainedValue().exchange else {
        // The request ended before its headers were read.
        if let connection = unsafe connection {
            core.headEnded(isWellFormed: false, of: unsafe ConnectionHandle(pointer: connection).id)
        }
        return
    }
    exchange.response.finish()
    if let client = exchange.countedClient { core.releaseRequest(of: client) }
    // The connection now waits for its next request.
    if let connection = unsafe connection {
        core.enterPhase(.readingHead, of: unsafe ConnectionHandle(pointer: connection).id)
    }
    core.requestEnded(exchange.response.id)
}

/// Called with a request's headers, with each part of its body, at its end, and after its connection was resumed.
///
/// It runs on the daemon's thread; the core in `context` lives until the daemon has stopped. `state` points to the
/// `RequestLine` that `requestBegan` returned. The result `NO` closes the connection.
private func handleRequest(
    _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?, _ path: UnsafePointer<CChar>?,
    _ method: UnsafePointer<CChar>?, _ version: UnsafePointer<CChar>?, _ upload: UnsafePointer<CChar>?,
    _ uploadSize: UnsafeMutablePointer<Int>?, _ state: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
    guard let context = unsafe context, let connection = unsafe connection, let state = unsafe state,
        let uploadSize = unsafe uploadSize, let requestLinePointer = unsafe state.pointee
    else { return .NO }
    let requestLine = unsafe Unmanaged<RequestLine>.fromOpaque(requestLinePointer).takeUnretainedValue()
    let core = unsafe Unmanaged<ServerCore>.fromOpaque(context).takeUnretainedValue()
    let handle = unsafe ConnectionHandle(pointer: connection)
    guard let exchange = requestLine.exchange else {
        // The first call for this request: its headers were read.
        let path = unsafe path.map { unsafe String(cString: $0) } ?? ""
        let method = unsafe method.map { unsafe String(cString: $0) } ?? ""
        let version = unsafe version.map { unsafe String(cString: $0) } ?? ""
        let pendingResponse = PendingResponse(
            id: core.requestBegan(), connection: handle, observer: core.observer)
        let (request, failure) = handle.readRequest(
            method: method, version: version, path: path, query: requestLine.query, limits: core.limits)
        let exchange = Exchange(response: pendingResponse, request: request)
        requestLine.exchange = exchange
        core.enterPhase(.readingBody, of: handle.id)
        core.headEnded(isWellFormed: failure != .badRequest && failure != .headersTooLarge, of: handle.id)
        if failure == .headersTooLarge {
            // The daemon might have no memory left for the headers of a response, and would then send none. So the
            // response is written here, and the connection is closed.
            let response = HTTPResponse.failure(.headersTooLarge, body: core.failureBody)
            pendingResponse.observe(response)
            handle.sendHeadTooLarge(response, withBody: !method.utf8.elementsEqual(HTTPMethod.head.rawValue.utf8))
            return .NO
        }
        guard var response = core.decide(on: exchange, failure, handle) else { return .YES }
        // The body was not read, so the end of the request is unknown and later requests cannot be parsed.
        response.headers.append(HTTPHeader("Connection", "close"))
        pendingResponse.observe(response)
        core.beginSending(response, on: handle.id)
        return handle.queue(response)
    }
    let count = unsafe uploadSize.pointee
    if count > 0 {
        // Tells the daemon that all bytes were taken.
        unsafe uploadSize.pointee = 0
        exchange.receivedBodyBytes += count
        // The daemon sends a response only after the whole body. Therefore a body that is over the limit is read and
        // discarded, so that its client gets a 413. If the body is larger than four times the limit and 64 KiB, the
        // connection is closed.
        let maxDiscardedBytes = 4 * core.limits.bodyBytes + 65_536
        guard exchange.receivedBodyBytes <= maxDiscardedBytes else { return .NO }
        if exchange.isBodyNeeded, exchange.receivedBodyBytes <= core.limits.bodyBytes, let upload = unsafe upload {
            unsafe exchange.request.body.append(contentsOf: UnsafeRawBufferPointer(start: upload, count: count))
        }
        return .YES
    }
    if !exchange.isHandled {
        exchange.isHandled = true
        core.enterPhase(.handling, of: handle.id)
        core.handle(exchange)
    }
    // Without a response the connection is suspended, and this function is called again when there is a response.
    guard let response = exchange.response.takeOrSuspend() else { return .YES }
    core.beginSending(response, on: handle.id)
    return handle.queue(response)
}

extension ServerCore {
    /// Decides about a request whose headers were read, and stores the decision in the exchange.
    ///
    /// `failure` says why the headers are not acceptable; it is nil if they are.
    ///
    /// - Returns: the response that rejects the request at once, before its body; nil if the body is read or discarded
    ///   first.
    fileprivate func decide(
        on exchange: Exchange, _ failure: HTTPFailure?, _ handle: ConnectionHandle
    ) -> HTTPResponse? {
        if let failure { return .failure(failure, body: self.failureBody) }
        if let peer = handle.peer {
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
        // A small body is first read and discarded. A response before the body would cost the client its connection.
        return exchange.request.hasSmallBody ? nil : response
    }

    /// Passes a complete request to its handler, and sets the deadline of its response.
    fileprivate func handle(_ exchange: Exchange) {
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
        if !exchange.response.isAnswered, !self.setDeadline(of: exchange.response) {
            _ = exchange.response.complete(.failure(.unavailable, body: self.failureBody))
        }
    }
}

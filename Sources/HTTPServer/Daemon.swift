// SPDX-License-Identifier: Apache-2.0
internal import CMicrohttpd
internal import Glibc

/// libmicrohttpd's daemon with its one thread.
///
/// Sendable because the pointer is used by `WebServer` alone, which starts and stops it once.
@safe struct Daemon: @unchecked Sendable {
    private let pointer: OpaquePointer
    private let core: Unmanaged<ServerCore>

    /// Starts the thread.
    ///
    /// The socket is bound and listening; it stays the caller's, to be closed after `stop`.
    init(core: ServerCore, socket: Int32) throws(HTTPServerError) {
        let context = unsafe Unmanaged.passRetained(core)
        let limits = core.limits
        let completed: MHD_RequestCompletedCallback = unsafe requestEnded
        let began: RequestBegan = unsafe requestBegan
        let unescape: @convention(c) (UnsafeMutableRawPointer?, OpaquePointer?, UnsafeMutablePointer<CChar>?) -> Int =
            unsafe leaveEscaped
        var options = unsafe [
            MHD_OptionItem(option: .LISTEN_SOCKET, value: Int(socket), ptr_value: nil),
            MHD_OptionItem(option: .CONNECTION_LIMIT, value: limits.connections, ptr_value: nil),
            MHD_OptionItem(option: .CONNECTION_TIMEOUT, value: limits.idleSeconds, ptr_value: nil),
            MHD_OptionItem(option: .CONNECTION_MEMORY_LIMIT, value: limits.connectionBytes, ptr_value: nil),
            MHD_OptionItem(
                option: .NOTIFY_COMPLETED, value: unsafeBitCast(completed, to: Int.self), ptr_value: context.toOpaque()),
            MHD_OptionItem(option: .URI_LOG_CALLBACK, value: unsafeBitCast(began, to: Int.self), ptr_value: nil),
            MHD_OptionItem(option: .UNESCAPE_CALLBACK, value: unsafeBitCast(unescape, to: Int.self), ptr_value: nil),
            MHD_OptionItem(option: .END, value: 0, ptr_value: nil),
        ]
        let flags =
            MHD_USE_INTERNAL_POLLING_THREAD.rawValue | MHD_USE_EPOLL.rawValue | MHD_ALLOW_SUSPEND_RESUME.rawValue
        let array = Int32(bitPattern: MHD_OPTION.ARRAY.rawValue)
        let end = Int32(bitPattern: MHD_OPTION.END.rawValue)
        let pointer: OpaquePointer? = unsafe options.withUnsafeMutableBufferPointer { items in
            guard let items = items.baseAddress else { return nil }
            return unsafe withVaList([array, items, end]) { list in
                unsafe MHD_start_daemon_va(flags, 0, nil, nil, handleRequest, context.toOpaque(), list)
            }
        }
        guard let pointer = unsafe pointer else {
            unsafe context.release()
            throw .system(detail: "the daemon did not start (errno \(errno))")
        }
        unsafe self.pointer = pointer
        unsafe self.core = context
    }

    /// Accepts no more connections.
    func quiesce() { _ = unsafe MHD_quiesce_daemon(self.pointer) }

    /// Ends the thread and all connections; none may be suspended any more.
    func stop() {
        unsafe MHD_stop_daemon(self.pointer)
        unsafe self.core.release()
    }
}

/// What the daemon calls with a request's path and query.
private typealias RequestBegan =
    @convention(c) (
        UnsafeMutableRawPointer?, UnsafePointer<CChar>?, OpaquePointer?
    ) -> UnsafeMutableRawPointer?

/// A request's first line was read; gives what the daemon keeps for it until `requestEnded`.
///
/// Runs on the daemon's thread, before the daemon divides the query into items, each of which takes 72 bytes of the
/// connection's memory. When that is not enough, version 0.9.75 forgets that it has refused the request, and the client
/// waits in vain. So the query is taken from it here; the text is the daemon's own buffer, and ours to change until this
/// returns.
private func requestBegan(
    _ context: UnsafeMutableRawPointer?, _ target: UnsafePointer<CChar>?, _ connection: OpaquePointer?
) -> UnsafeMutableRawPointer? {
    var query: [UInt8] = []
    if let target = unsafe target, let mark = unsafe strchr(target, Int32(UInt8(ascii: "?"))) {
        let text = unsafe mark + 1
        query = unsafe Array(UnsafeRawBufferPointer(start: text, count: strlen(text)))
        unsafe text.pointee = 0
    }
    return unsafe Unmanaged.passRetained(RequestLine(query: query)).toOpaque()
}

/// Leaves a path or query item as it came: we decode it ourselves, after it was divided at its slashes.
///
/// Runs on the daemon's thread.
private func leaveEscaped(
    _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?, _ text: UnsafeMutablePointer<CChar>?
) -> Int {
    guard let text = unsafe text else { return 0 }
    return unsafe strlen(text)
}

/// A request has ended, answered or not.
///
/// Runs on the daemon's thread, or on the one that stops it, once for each request that `requestBegan` saw. Releases the
/// line that was retained there.
private func requestEnded(
    _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?,
    _ state: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, _ reason: MHD_RequestTerminationCode
) {
    guard let context = unsafe context, let state = unsafe state, let pointer = unsafe state.pointee else { return }
    unsafe state.pointee = nil
    guard let exchange = unsafe Unmanaged<RequestLine>.fromOpaque(pointer).takeRetainedValue().exchange else { return }
    exchange.answer.finish()
    unsafe Unmanaged<ServerCore>.fromOpaque(context).takeUnretainedValue().end(exchange.answer.id)
}

/// A request's headers, a part of its body, its end, or its connection resumed.
///
/// Runs on the daemon's thread; `context` lives until the daemon has stopped.
private func handleRequest(
    _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?, _ path: UnsafePointer<CChar>?,
    _ method: UnsafePointer<CChar>?, _ version: UnsafePointer<CChar>?, _ upload: UnsafePointer<CChar>?,
    _ uploadSize: UnsafeMutablePointer<Int>?, _ state: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
    guard let context = unsafe context, let connection = unsafe connection, let state = unsafe state,
        let uploadSize = unsafe uploadSize, let known = unsafe state.pointee
    else { return .NO }
    let line = unsafe Unmanaged<RequestLine>.fromOpaque(known).takeUnretainedValue()
    let core = unsafe Unmanaged<ServerCore>.fromOpaque(context).takeUnretainedValue()
    let handle = unsafe ConnectionHandle(pointer: connection)
    guard let exchange = line.exchange else {
        let path = unsafe path.map { unsafe String(cString: $0) } ?? ""
        let method = unsafe method.map { unsafe String(cString: $0) } ?? ""
        let answer = Answer(id: core.begin(), connection: handle, observer: core.observer)
        let (request, failure) = handle.readRequest(
            method: method, path: path, query: line.query, limits: core.limits)
        line.exchange = Exchange(answer: answer, request: request)
        guard let failure else { return .YES }
        // The body was not read, so nothing that follows on this connection can be understood.
        let close = HTTPHeader("Connection", "close")
        let response = HTTPResponse.failure(failure, body: core.failureBody, headers: [close])
        answer.observe(response)
        return handle.queue(response)
    }
    let count = unsafe uploadSize.pointee
    if count > 0 {
        unsafe uploadSize.pointee = 0
        exchange.received += count
        // An answer can only be given after the body, so a little more than the limit is read and left out.
        guard exchange.received <= 4 * core.limits.bodyBytes + 65_536 else { return .NO }
        if exchange.received <= core.limits.bodyBytes, let upload = unsafe upload {
            unsafe exchange.request.body.append(contentsOf: UnsafeRawBufferPointer(start: upload, count: count))
        }
        return .YES
    }
    if !exchange.isHandled {
        exchange.isHandled = true
        core.handle(exchange)
    }
    // Without an answer the connection sleeps, and this function is called again when there is one.
    return exchange.answer.takeOrSuspend().map { handle.queue($0) } ?? .YES
}

extension ServerCore {
    /// Lets the handler answer; gives what it did not answer yet its deadline.
    fileprivate func handle(_ exchange: Exchange) {
        guard exchange.received <= self.limits.bodyBytes else {
            _ = exchange.answer.complete(.failure(.payloadTooLarge, body: self.failureBody))
            return
        }
        self.handler(exchange.request, HTTPResponder(answer: exchange.answer))
        // A deadline or a stop that comes before the suspension leaves its answer to be taken instead of it.
        if !exchange.answer.isAnswered, !self.wait(exchange.answer) {
            _ = exchange.answer.complete(.failure(.unavailable, body: self.failureBody))
        }
    }
}

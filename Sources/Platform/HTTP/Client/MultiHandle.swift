// SPDX-License-Identifier: Apache-2.0
internal import CCurl
internal import MachineKit

/// libcurl's "multi" handle, which performs many transfers on one thread.
///
/// It is `@unchecked Sendable` because only the thread in `HTTPClient.run` calls its methods. The only exception is
/// `wakeUp`, which libcurl allows on any thread.
@safe final class MultiHandle: @unchecked Sendable {
    /// Initializes libcurl once for the process, before the first handle is created.
    private static let isInitialized: Bool = curl_global_init(Int(CURL_GLOBAL_ALL)) == CURLE_OK

    /// libcurl's pointer to the multi handle.
    private let pointer: OpaquePointer
    /// The transfers in progress, by the address of libcurl's "easy" handle, the handle of one transfer.
    private var transfers: [UInt: Transfer] = [:]
    /// The path of a file with certificates that are trusted besides the system's; nil for none.
    private let caFile: String?

    init(caFile: String?) {
        precondition(Self.isInitialized, "libcurl cannot be initialized")
        guard let pointer = unsafe curl_multi_init() else { preconditionFailure("libcurl has no memory") }
        unsafe self.pointer = OpaquePointer(pointer)
        self.caFile = caFile
    }

    deinit {
        // Nobody waits for a result: `HTTPClient.run` has cancelled all transfers before it returned.
        _ = self.cancelAll()
        unsafe curl_multi_cleanup(UnsafeMutableRawPointer(self.pointer))
    }

    private var handle: UnsafeMutableRawPointer { unsafe UnsafeMutableRawPointer(self.pointer) }

    /// Makes `wait` return.
    ///
    /// May be called from any thread.
    func wakeUp() { _ = unsafe curl_multi_wakeup(self.handle) }

    /// Waits for network events, for the timeout of a transfer, or for `wakeUp`.
    func wait(milliseconds: Int32) { _ = unsafe curl_multi_poll(self.handle, nil, 0, milliseconds, nil) }

    /// Begins a transfer.
    ///
    /// - Returns: why the transfer cannot begin; nil when it has begun.
    func begin(_ pending: HTTPClient.PendingRequest) -> HTTPClientError? {
        guard let transfer = Transfer(pending, caFile: self.caFile) else {
            return .unreachable("libcurl cannot prepare the request")
        }
        guard unsafe curl_multi_add_handle(self.handle, transfer.handle) == CURLM_OK else {
            return .unreachable("libcurl cannot begin the request")
        }
        self.transfers[transfer.id] = transfer
        return nil
    }

    /// Sends and receives as much as is possible without blocking.
    ///
    /// - Returns: the completion handler and the result of each transfer that has ended.
    func performTransfers() -> [(complete: @Sendable (HTTPResult) -> Void, result: HTTPResult)] {
        // libcurl requires variables for these two counts, which are not needed here.
        var runningCount: Int32 = 0
        var queuedMessageCount: Int32 = 0
        _ = unsafe curl_multi_perform(self.handle, &runningCount)
        var ended: [(complete: @Sendable (HTTPResult) -> Void, result: HTTPResult)] = []
        while let message = unsafe curl_multi_info_read(self.handle, &queuedMessageCount) {
            guard unsafe message.pointee.msg == CURLMSG_DONE, let easy = unsafe message.pointee.easy_handle else {
                continue
            }
            let code = unsafe plaza_curl_result(message)
            let id = UInt(bitPattern: easy)
            _ = unsafe curl_multi_remove_handle(self.handle, easy)
            if let transfer = self.transfers.removeValue(forKey: id) {
                ended.append((transfer.complete, transfer.result(code)))
            }
        }
        return ended
    }

    /// Cancels all transfers.
    ///
    /// - Returns: the completion handlers of the cancelled transfers.
    func cancelAll() -> [@Sendable (HTTPResult) -> Void] {
        let cancelled = self.transfers.values
        for transfer in cancelled { _ = unsafe curl_multi_remove_handle(self.handle, transfer.handle) }
        self.transfers.removeAll()
        return cancelled.map(\.complete)
    }
}

/// A request in progress, and its response.
///
/// libcurl keeps the addresses of this object and of its headers until the transfer is removed from the `MultiHandle`,
/// which retains this object until then.
@safe private final class Transfer {
    /// The completion handler.
    let complete: @Sendable (HTTPResult) -> Void
    /// libcurl's "easy" handle: the handle of one transfer.
    private let easy: OpaquePointer
    private var headers: UnsafeMutablePointer<curl_slist>?
    /// The received part of the response's body.
    fileprivate var body: [UInt8] = []
    /// Whether the transfer was ended because the body exceeds `HTTPClient.maxResponseBytes`.
    fileprivate var isTooLarge = false

    init?(_ pending: HTTPClient.PendingRequest, caFile: String?) {
        guard let easy = unsafe curl_easy_init() else { return nil }
        unsafe self.easy = OpaquePointer(easy)
        self.complete = pending.complete
        let post = pending.post
        // The empty `Expect` disables `100-continue`. Otherwise curl would delay a large body until the server allows
        // it.
        let lines = ["Content-Type: application/json", "Expect:"] + post.headers.map { "\($0.name): \($0.value)" }
        for line in lines { unsafe self.headers = curl_slist_append(self.headers, line) }
        var isConfigured = unsafe plaza_curl_set_text(easy, CURLOPT_URL, post.url) == CURLE_OK
        func set(_ option: CURLoption, _ value: Int) {
            if unsafe plaza_curl_set_long(easy, option, value) != CURLE_OK { isConfigured = false }
        }
        func set(_ option: CURLoption, _ value: String) {
            if unsafe plaza_curl_set_text(easy, option, value) != CURLE_OK { isConfigured = false }
        }
        set(CURLOPT_PROTOCOLS_STR, "http,https")
        // The empty text disables the proxy settings of the environment.
        set(CURLOPT_PROXY, "")
        set(CURLOPT_USERAGENT, "LivePlaza")
        // `CURLOPT_CAINFO` replaces the system's certificate file. The system's certificate directory, which contains
        // the same certificates as that file, stays in use.
        if let caFile { set(CURLOPT_CAINFO, caFile) }
        // In a process with threads, libcurl must not use signals for timeouts.
        set(CURLOPT_NOSIGNAL, 1)
        // To libcurl, 0 would mean no timeout.
        set(CURLOPT_TIMEOUT_MS, Int(max(1, Milliseconds(post.timeout).count)))
        set(CURLOPT_POST, 1)
        set(CURLOPT_POSTFIELDSIZE, post.body.count)
        unsafe post.body.withUnsafeBytes { bytes in
            // curl copies as many bytes as `CURLOPT_POSTFIELDSIZE` says.
            let text = unsafe bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
            if unsafe plaza_curl_set_text(easy, CURLOPT_COPYPOSTFIELDS, text) != CURLE_OK { isConfigured = false }
        }
        if unsafe plaza_curl_set_headers(easy, self.headers) != CURLE_OK { isConfigured = false }
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        if unsafe plaza_curl_set_writer(easy, receiveBody, context) != CURLE_OK { isConfigured = false }
        if !isConfigured { return nil }
    }

    deinit {
        unsafe curl_easy_cleanup(self.handle)
        unsafe curl_slist_free_all(self.headers)
    }

    var handle: UnsafeMutableRawPointer { unsafe UnsafeMutableRawPointer(self.easy) }
    var id: UInt { unsafe UInt(bitPattern: self.handle) }

    /// The outcome of a transfer that ended with `code`.
    func result(_ code: CURLcode) -> HTTPResult {
        if code == CURLE_OK { return .answered(status: unsafe plaza_curl_status(self.handle), body: self.body) }
        if self.isTooLarge { return .failed(.tooLarge) }
        if code == CURLE_OPERATION_TIMEDOUT { return .failed(.timedOut) }
        let text = unsafe String(cString: curl_easy_strerror(code))
        let isUntrusted = code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CACERT_BADFILE
        return .failed(isUntrusted ? .untrusted(text) : .unreachable(text))
    }
}

/// Receives a part of a response's body.
///
/// It runs inside `curl_multi_perform`, on the thread of `HTTPClient.run`. The transfer lives until it is removed
/// from the `MultiHandle`. A result below `size * count` makes libcurl end the transfer.
private func receiveBody(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let bytes = unsafe bytes, let context = unsafe context else { return 0 }
    let transfer = unsafe Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
    guard transfer.body.count + size * count <= HTTPClient.maxResponseBytes else {
        transfer.isTooLarge = true
        return 0
    }
    unsafe transfer.body.append(contentsOf: UnsafeRawBufferPointer(start: bytes, count: size * count))
    return size * count
}

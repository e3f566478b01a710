// SPDX-License-Identifier: Apache-2.0
internal import CCurl

/// libcurl's handle for many transfers.
///
/// Sendable because all but `wake` is called by the one thread in `HTTPClient.run`, and libcurl allows `wake` from any.
@safe final class MultiHandle: @unchecked Sendable {
    /// Once for the process, before the first handle.
    private static let isReady: Bool = curl_global_init(Int(CURL_GLOBAL_ALL)) == CURLE_OK

    private let pointer: OpaquePointer
    private var transfers: [UInt: Transfer] = [:]

    init() {
        precondition(Self.isReady, "libcurl cannot be initialised")
        guard let pointer = unsafe curl_multi_init() else { preconditionFailure("libcurl has no memory") }
        unsafe self.pointer = OpaquePointer(pointer)
    }

    deinit {
        _ = self.cancelAll()
        unsafe curl_multi_cleanup(UnsafeMutableRawPointer(self.pointer))
    }

    private var handle: UnsafeMutableRawPointer { unsafe UnsafeMutableRawPointer(self.pointer) }

    /// Ends a wait; any thread.
    func wake() { _ = unsafe curl_multi_wakeup(self.handle) }

    /// Waits for the network, for a transfer's time, or for `wake`.
    func wait(milliseconds: Int32) { _ = unsafe curl_multi_poll(self.handle, nil, 0, milliseconds, nil) }

    /// Begins a transfer.
    ///
    /// - Returns: why it cannot begin, if so.
    func begin(_ pending: HTTPClient.Pending) -> HTTPClientError? {
        guard let transfer = Transfer(pending) else { return .unreachable("the request cannot be made") }
        guard unsafe curl_multi_add_handle(self.handle, transfer.handle) == CURLM_OK else {
            return .unreachable("the request cannot be begun")
        }
        self.transfers[transfer.id] = transfer
        return nil
    }

    /// Does what can be done now.
    ///
    /// - Returns: the transfers that have ended.
    func turn() -> [(@Sendable (HTTPResult) -> Void, HTTPResult)] {
        var running: Int32 = 0
        _ = unsafe curl_multi_perform(self.handle, &running)
        var ended: [(@Sendable (HTTPResult) -> Void, HTTPResult)] = []
        var left: Int32 = 0
        while let message = unsafe curl_multi_info_read(self.handle, &left) {
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

    /// Ends all transfers.
    ///
    /// - Returns: whom to tell.
    func cancelAll() -> [@Sendable (HTTPResult) -> Void] {
        let open = self.transfers.values
        for transfer in open { _ = unsafe curl_multi_remove_handle(self.handle, transfer.handle) }
        self.transfers.removeAll()
        return open.map(\.complete)
    }
}

/// One request under way.
///
/// libcurl holds the address of this object, and its headers, until the transfer is removed; the table of transfers keeps
/// it until then.
@safe private final class Transfer {
    let complete: @Sendable (HTTPResult) -> Void
    private let easy: OpaquePointer
    private var headers: UnsafeMutablePointer<curl_slist>?
    fileprivate var body: [UInt8] = []
    fileprivate var isTooLarge = false

    init?(_ pending: HTTPClient.Pending) {
        guard let easy = unsafe curl_easy_init() else { return nil }
        unsafe self.easy = OpaquePointer(easy)
        self.complete = pending.complete
        let post = pending.post
        // Without the empty `Expect` a larger body would wait for a leave to be sent.
        let lines = ["Content-Type: application/json", "Expect:"] + post.headers.map { "\($0.name): \($0.value)" }
        for line in lines { unsafe self.headers = curl_slist_append(self.headers, line) }
        var isGood = unsafe plaza_curl_set_text(easy, CURLOPT_URL, post.url) == CURLE_OK
        func set(_ option: CURLoption, _ value: Int) {
            if unsafe plaza_curl_set_long(easy, option, value) != CURLE_OK { isGood = false }
        }
        func set(_ option: CURLoption, _ value: String) {
            if unsafe plaza_curl_set_text(easy, option, value) != CURLE_OK { isGood = false }
        }
        set(CURLOPT_PROTOCOLS_STR, "http,https")
        set(CURLOPT_PROXY, "")
        set(CURLOPT_USERAGENT, "LivePlaza")
        set(CURLOPT_NOSIGNAL, 1)
        set(CURLOPT_TIMEOUT_MS, max(1, post.timeoutMilliseconds))
        set(CURLOPT_POST, 1)
        set(CURLOPT_POSTFIELDSIZE, post.body.count)
        unsafe post.body.withUnsafeBytes { bytes in
            // It copies as many bytes as the size before says.
            let text = unsafe bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
            if unsafe plaza_curl_set_text(easy, CURLOPT_COPYPOSTFIELDS, text) != CURLE_OK { isGood = false }
        }
        if unsafe plaza_curl_set_headers(easy, self.headers) != CURLE_OK { isGood = false }
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        if unsafe plaza_curl_set_writer(easy, takeAnswer, context) != CURLE_OK { isGood = false }
        if !isGood { return nil }
    }

    deinit {
        unsafe curl_easy_cleanup(self.handle)
        unsafe curl_slist_free_all(self.headers)
    }

    var handle: UnsafeMutableRawPointer { unsafe UnsafeMutableRawPointer(self.easy) }
    var id: UInt { unsafe UInt(bitPattern: self.handle) }

    func result(_ code: CURLcode) -> HTTPResult {
        if code == CURLE_OK { return .answered(status: unsafe plaza_curl_status(self.handle), body: self.body) }
        if self.isTooLarge { return .failed(.tooLarge) }
        if code == CURLE_OPERATION_TIMEDOUT { return .failed(.timedOut) }
        return .failed(.unreachable(unsafe String(cString: curl_easy_strerror(code))))
    }
}

/// A part of an answer's body.
///
/// Runs inside `curl_multi_perform`, on the thread that called it; the transfer lives until it is removed.
private func takeAnswer(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let bytes = unsafe bytes, let context = unsafe context else { return 0 }
    let transfer = unsafe Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
    guard transfer.body.count + size * count <= HTTPClient.answerBytes else {
        transfer.isTooLarge = true
        return 0
    }
    unsafe transfer.body.append(contentsOf: UnsafeRawBufferPointer(start: bytes, count: size * count))
    return size * count
}

// SPDX-License-Identifier: Apache-2.0
internal import CMicrohttpd
internal import Glibc

/// The messages of a connection of libmicrohttpd's daemon: reads its requests and queues its responses.
extension ConnectionHandle {
    /// Reads the headers, then checks and decodes the whole head.
    ///
    /// May only be called in the daemon's callback `handleRequest`.
    ///
    /// - Parameters:
    ///   - method: the method as received.
    ///   - version: the version as received.
    ///   - path: the path as received.
    ///   - query: the query as received.
    ///   - limits: the limits of the head and of the announced body.
    /// - Returns: the request, still without a body, and the failure if the request must be rejected.
    func readRequest(
        method: String, version: String, path: String, query: [UInt8], limits: HTTPLimits
    ) -> (request: HTTPRequest, failure: HTTPFailure?) {
        let headers = self.readHeaders(limit: limits.headers)
        let headBytes = unsafe plaza_mhd_head_bytes(self.pointer)
        // The size is checked first. After a head that is too large, the daemon may have no memory left for a response.
        // So the request must be answered by `sendHeadTooLarge`, whatever else is wrong with it.
        if headers.isTruncated || headBytes > limits.headBytes { return (.unreadable, .headersTooLarge) }
        return HTTPHead(method: method, version: version, path: path, query: query, headers: headers.pairs)
            .request(within: limits)
    }

    /// Queues a response at the daemon.
    ///
    /// May only be called in the daemon's callback `handleRequest`.
    ///
    /// - Returns: the result for the callback to return; `NO` closes the connection.
    func queue(_ response: HTTPResponse) -> MHD_Result {
        let status = (200...599).contains(response.status) ? UInt32(response.status) : 500
        let daemonResponse = unsafe response.body.withUnsafeBytes { body in
            // The daemon copies the bytes and never changes them; its parameter only lacks `const`.
            unsafe MHD_create_response_from_buffer(
                body.count, UnsafeMutableRawPointer(mutating: body.baseAddress), .RESPMEM_MUST_COPY)
        }
        guard let daemonResponse = unsafe daemonResponse else { return .NO }
        defer { unsafe MHD_destroy_response(daemonResponse) }
        let hasContentType = response.headers.contains { $0.name.lowercased() == "content-type" }
        if !response.body.isEmpty, !hasContentType {
            _ = unsafe MHD_add_response_header(daemonResponse, "Content-Type", "application/json")
        }
        for header in response.headers {
            // The daemon rejects a header with a line break. Such a header is left out, as `HTTPHeader` says.
            _ = unsafe MHD_add_response_header(daemonResponse, header.name, header.value)
        }
        return unsafe MHD_queue_response(self.pointer, status, daemonResponse)
    }

    /// Writes a response of status 431 to the socket; the connection must be closed afterwards.
    ///
    /// What the kernel does not take at once is lost.
    ///
    /// May only be called in the daemon's callback `handleRequest`, and for a request without another response.
    func sendHeadTooLarge(_ response: HTTPResponse, withBody hasBody: Bool) {
        var text = "HTTP/1.1 431 Request Header Fields Too Large\r\nConnection: close\r\n"
        text += "Content-Type: application/json\r\nContent-Length: \(response.body.count)\r\n\r\n"
        let bytes = Array(text.utf8) + (hasBody ? response.body : [])
        let flags = Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)
        _ = unsafe send(self.descriptor, bytes, bytes.count, flags)
    }

    /// Reads at most `limit` headers.
    private func readHeaders(limit: Int) -> HeaderCollector {
        let collector = HeaderCollector(limit: limit)
        _ = unsafe MHD_get_connection_values_n(
            self.pointer, .HEADER_KIND, collectHeader, Unmanaged.passUnretained(collector).toOpaque())
        return collector
    }
}

/// Collects the headers of a request, up to a limit.
private final class HeaderCollector {
    let limit: Int
    var pairs: [(name: String, value: String)] = []
    /// Whether there were more headers than the limit.
    var isTruncated = false

    init(limit: Int) { self.limit = limit }
}

/// Adds one header to the collector.
///
/// It runs inside `MHD_get_connection_values_n`. The caller of that function retains the collector.
private func collectHeader(
    _ context: UnsafeMutableRawPointer?, _ kind: MHD_ValueKind, _ name: UnsafePointer<CChar>?, _ nameSize: Int,
    _ value: UnsafePointer<CChar>?, _ valueSize: Int
) -> MHD_Result {
    guard let context = unsafe context else { return .NO }
    let collector = unsafe Unmanaged<HeaderCollector>.fromOpaque(context).takeUnretainedValue()
    guard collector.pairs.count < collector.limit else {
        collector.isTruncated = true
        return .NO
    }
    let nameBytes = unsafe UnsafeRawBufferPointer(start: name, count: unsafe name == nil ? 0 : nameSize)
    let valueBytes = unsafe UnsafeRawBufferPointer(start: value, count: unsafe value == nil ? 0 : valueSize)
    collector.pairs.append(
        unsafe (String(decoding: nameBytes, as: UTF8.self), String(decoding: valueBytes, as: UTF8.self)))
    return .YES
}

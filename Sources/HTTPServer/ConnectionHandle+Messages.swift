// SPDX-License-Identifier: Apache-2.0
internal import CMicrohttpd

extension ConnectionHandle {
    /// Reads request line and headers; only in the daemon's handler.
    ///
    /// - Returns: a request without a body, and why it must be refused, if so.
    func readRequest(
        method: String, path: String, query: [UInt8], limits: HTTPLimits
    ) -> (HTTPRequest, HTTPFailure?) {
        let method = HTTPMethod(rawValue: method)
        let headers = self.fields(limit: limits.fields)
        var byName: [String: String] = [:]
        for (name, value) in headers.pairs {
            byName[name.lowercased()] = byName[name.lowercased()].map { "\($0), \(value)" } ?? value
        }
        let parts = query.split(separator: UInt8(ascii: "&"))
        let isCut = parts.count > limits.queryItems
        var items: [HTTPQueryItem] = []
        for part in isCut ? [] : parts {
            guard let item = HTTPQueryItem(encoded: part) else { return (HTTPRequest.unreadable, .badRequest) }
            items.append(item)
        }
        guard let request = HTTPRequest(method: method, path: path, query: items, headers: byName) else {
            return (HTTPRequest.unreadable, .badRequest)
        }
        if headers.isCut || isCut { return (request, .headersTooLarge) }
        if let text = byName["content-length"] {
            guard let length = UInt64(text) else { return (request, .badRequest) }
            if length > UInt64(limits.bodyBytes) { return (request, .payloadTooLarge) }
        }
        return (request, nil)
    }

    /// Hands an answer to the daemon; only in its handler.
    func queue(_ answer: HTTPResponse) -> MHD_Result {
        let status = (200...599).contains(answer.status) ? UInt32(answer.status) : 500
        let response = unsafe answer.body.withUnsafeBytes { body in
            // It copies the bytes, so that it may be told that it could change them.
            unsafe MHD_create_response_from_buffer(
                body.count, UnsafeMutableRawPointer(mutating: body.baseAddress), .RESPMEM_MUST_COPY)
        }
        guard let response = unsafe response else { return .NO }
        defer { unsafe MHD_destroy_response(response) }
        let isTyped = answer.headers.contains { $0.name.lowercased() == "content-type" }
        if !answer.body.isEmpty, !isTyped {
            _ = unsafe MHD_add_response_header(response, "Content-Type", "application/json")
        }
        for header in answer.headers {
            // It refuses a header with a line break in it: left out, as `HTTPHeader` says.
            _ = unsafe MHD_add_response_header(response, header.name, header.value)
        }
        return unsafe MHD_queue_response(self.pointer, status, response)
    }

    private func fields(limit: Int) -> FieldCollector {
        let collector = FieldCollector(limit: limit)
        _ = unsafe MHD_get_connection_values_n(
            self.pointer, .HEADER_KIND, collectField, Unmanaged.passUnretained(collector).toOpaque())
        return collector
    }
}

extension HTTPRequest {
    /// Stands for a request that is refused because it cannot be read.
    fileprivate static var unreadable: HTTPRequest { HTTPRequest() }

    private init() {
        self.method = HTTPMethod(rawValue: "")
        self.path = ""
        self.segments = []
        self.query = []
        self.headers = [:]
        self.body = []
    }
}

/// Gathers headers, up to a limit.
private final class FieldCollector {
    let limit: Int
    var pairs: [(name: String, value: String)] = []
    var isCut = false

    init(limit: Int) { self.limit = limit }
}

/// One header.
///
/// Runs inside `MHD_get_connection_values_n`, on its caller's thread, which keeps the collector alive.
private func collectField(
    _ context: UnsafeMutableRawPointer?, _ kind: MHD_ValueKind, _ name: UnsafePointer<CChar>?, _ nameSize: Int,
    _ value: UnsafePointer<CChar>?, _ valueSize: Int
) -> MHD_Result {
    guard let context = unsafe context else { return .NO }
    let collector = unsafe Unmanaged<FieldCollector>.fromOpaque(context).takeUnretainedValue()
    guard collector.pairs.count < collector.limit else {
        collector.isCut = true
        return .NO
    }
    let nameBytes = unsafe UnsafeRawBufferPointer(start: name, count: unsafe name == nil ? 0 : nameSize)
    let valueBytes = unsafe UnsafeRawBufferPointer(start: value, count: unsafe value == nil ? 0 : valueSize)
    collector.pairs.append(
        unsafe (String(decoding: nameBytes, as: UTF8.self), String(decoding: valueBytes, as: UTF8.self)))
    return .YES
}

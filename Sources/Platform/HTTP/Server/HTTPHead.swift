// SPDX-License-Identifier: Apache-2.0
internal import MachineKit

/// The request line and headers as the client sent them; nothing in them is checked yet.
package struct HTTPHead: Sendable {
    /// The method.
    package var method: String
    /// The version, such as `HTTP/1.1`.
    package var version: String
    /// The path: still percent-encoded, without the query.
    package var path: String
    /// The query: the bytes after the question mark.
    package var query: [UInt8]
    /// The headers in the order received.
    package var headers: [(name: String, value: String)]

    /// Creates a head.
    package init(
        method: String, version: String = "HTTP/1.1", path: String, query: [UInt8],
        headers: [(name: String, value: String)]
    ) {
        self.method = method
        self.version = version
        self.path = path
        self.query = query
        self.headers = headers
    }

    /// Checks the head, and decodes it.
    ///
    /// The size of the whole head is not checked.
    ///
    /// - Parameter limits: the limits of the head and of the announced body.
    /// - Returns: the request, still without a body, and the failure if the request must be rejected. The request is
    ///   empty if it cannot be decoded.
    package func request(within limits: HTTPLimits) -> (request: HTTPRequest, failure: HTTPFailure?) {
        if self.headers.count > limits.headers { return (.unreadable, .headersTooLarge) }
        // Swift normalises strings to compare or hash them, which takes long for a text with many combining marks.
        // Therefore a method or a header's name must be a token, which is ASCII, before it is hashed.
        guard let method = HTTPMethod(sentText: self.method), self.headers.allSatisfy({ $0.name.isHTTPToken }) else {
            return (.unreadable, .badRequest)
        }
        var byName: [String: String] = [:]
        for (name, receivedValue) in self.headers {
            // Each byte that is not ASCII becomes the control character SUB (0x1A), which no valid value contains.
            let value = String(ascii: receivedValue.utf8, replacing: 0x1A)
            byName[name.lowercased()] = byName[name.lowercased()].map { "\($0), \(value)" } ?? value
        }
        let encodedItems = self.query.split(separator: UInt8(ascii: "&"))
        let hasTooManyItems = encodedItems.count > limits.queryItems
        var items: [HTTPQueryItem] = []
        for encodedItem in hasTooManyItems ? [] : encodedItems {
            guard let item = HTTPQueryItem(encoded: encodedItem) else { return (.unreadable, .badRequest) }
            items.append(item)
        }
        guard let request = HTTPRequest(method: method, path: self.path, query: items, headers: byName) else {
            return (.unreadable, .badRequest)
        }
        if hasTooManyItems { return (request, .headersTooLarge) }
        return (request, self.bodyFailure(byName, limits))
    }

    /// Checks what the headers announce about the body.
    ///
    /// If a proxy saw another end of the body than this server, one of the two would take a part of the body for
    /// another request (request smuggling). Therefore a request whose headers leave room for doubt is rejected.
    private func bodyFailure(_ headers: [String: String], _ limits: HTTPLimits) -> HTTPFailure? {
        if let coding = headers["transfer-encoding"] {
            // HTTP/1.0 has no transfer codings: a proxy of that version passes on the header without knowing it
            // (RFC 9112, section 6.1).
            guard !self.version.utf8.elementsEqual("HTTP/1.0".utf8), coding.lowercased() == "chunked",
                headers["content-length"] == nil
            else { return .badRequest }
        }
        guard let text = headers["content-length"] else { return nil }
        // `UInt64` alone would accept a sign.
        guard text.utf8.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains), let length = UInt64(text)
        else { return .badRequest }
        return length > UInt64(limits.bodyBytes) ? .payloadTooLarge : nil
    }
}

extension String {
    /// Whether a method or a header's name consists of the characters that RFC 9110, section 5.6.2, allows.
    var isHTTPToken: Bool {
        !self.isEmpty
            && self.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "A")...UInt8(ascii: "Z"):
                    true
                default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
                }
            }
    }
}

extension HTTPRequest {
    /// An empty request, which stands for a request that is rejected because it cannot be decoded.
    static var unreadable: HTTPRequest { HTTPRequest() }
}

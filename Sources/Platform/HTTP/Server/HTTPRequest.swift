// SPDX-License-Identifier: Apache-2.0
package import ClientAddress
internal import MachineKit

/// A request's method.
///
/// Any token of at most 32 bytes is accepted from a peer; the router decides which methods are served.
package struct HTTPMethod: Sendable, Hashable, RawRepresentable, CustomStringConvertible {
    /// The method as written in the request line.
    package let rawValue: String

    /// The longest method that is accepted, in bytes.
    private static let maxBytes = 32

    /// Makes a method from a text that this program chose.
    package init(rawValue: String) { self.rawValue = rawValue }

    /// Makes a method from the text that a peer sent.
    ///
    /// The text must be a token, which is ASCII: methods are hashed and compared, which takes long for a text with many
    /// combining marks.
    ///
    /// - Returns: nil if the text is no token, or has more than 32 bytes.
    init?(sentText text: String) {
        guard text.utf8.count <= Self.maxBytes, text.isHTTPToken else { return nil }
        self.init(rawValue: text)
    }

    /// The method as written in the request line.
    package var description: String { self.rawValue }

    /// Reads a resource.
    package static let get = HTTPMethod(rawValue: "GET")
    /// Reads only the headers of a resource.
    package static let head = HTTPMethod(rawValue: "HEAD")
    /// Creates a resource or performs an action.
    package static let post = HTTPMethod(rawValue: "POST")
    /// Replaces a resource.
    package static let put = HTTPMethod(rawValue: "PUT")
    /// Changes a part of a resource.
    package static let patch = HTTPMethod(rawValue: "PATCH")
    /// Deletes a resource.
    package static let delete = HTTPMethod(rawValue: "DELETE")
    /// Asks which methods are allowed.
    package static let options = HTTPMethod(rawValue: "OPTIONS")
}

/// A request, its path and query decoded.
package struct HTTPRequest: Sendable, Equatable {
    /// The method.
    package let method: HTTPMethod
    /// The path as received: still percent-encoded, without the query.
    package let path: String
    /// The decoded parts of the path between its slashes.
    ///
    /// A decoded part may contain a slash.
    package let segments: [String]
    /// The decoded query items, in the order received.
    package let query: [HTTPQueryItem]
    /// The headers by lower-case name; the values of repeated headers are joined by `, `.
    package let headers: [String: String]
    /// The body; empty until it has been read.
    package var body: [UInt8]
    /// The client's address: the peer's, or the one that a trusted proxy reports; nil for a request that a test built.
    package internal(set) var client: IPAddress?
    /// The values of the path's parameters, by their names in the route's pattern.
    package var parameters: [String: String] = [:]

    /// Builds a request.
    ///
    /// - Returns: nil when the path does not begin with a slash, or when `PercentEncoding.decodeText` rejects a part of
    ///   it.
    package init?(
        method: HTTPMethod, path: String, query: [HTTPQueryItem] = [], headers: [String: String] = [:],
        body: [UInt8] = []
    ) {
        guard path.utf8.first == UInt8(ascii: "/") else { return nil }
        var segments: [String] = []
        // The path is split by its bytes, because to search for a character, Swift would compare characters, and a
        // character may be a long run of combining marks.
        let parts = path.utf8.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        for part in parts {
            guard let segment = PercentEncoding.decodeText(Substring(part)) else { return nil }
            segments.append(segment)
        }
        self.method = method
        self.path = path
        self.segments = segments
        self.query = query
        self.headers = headers
        self.body = body
    }

    /// Makes an empty request.
    init() {
        self.method = HTTPMethod(rawValue: "")
        self.path = ""
        self.segments = []
        self.query = []
        self.headers = [:]
        self.body = []
    }

    /// The largest body of a rejected request that is read and discarded so that the connection can stay open, in
    /// bytes.
    private static let maxSmallBodyBytes = 16 << 10

    /// The size of the body that the headers announce, in bytes; nil if it is unknown, because the body is chunked.
    ///
    /// It is the largest number if the announced size is not a number or too large for one.
    package var announcedBodyBytes: Int? {
        if self.headers["transfer-encoding"] != nil { return nil }
        return self.headers["content-length"].map { Int($0) ?? .max } ?? 0
    }

    /// Whether the headers announce no body, or a body that is small enough to be read and discarded.
    var hasSmallBody: Bool {
        // A client that sends `Expect` waits with its body for the server's consent.
        if self.headers["expect"] != nil { return false }
        return self.announcedBodyBytes.map { $0 <= Self.maxSmallBodyBytes } ?? false
    }

    /// The token of an `Authorization: Bearer` header.
    package var bearerToken: String? {
        guard let header = self.headers["authorization"], header.prefix(7).lowercased() == "bearer " else { return nil }
        let token = header.dropFirst(7).drop { $0 == " " }
        return token.isEmpty ? nil : String(token)
    }
}

/// One `name=value` item of a query.
package struct HTTPQueryItem: Sendable, Equatable {
    /// The decoded name.
    package let name: String
    /// The decoded value; empty when there is no `=`.
    package let value: String

    /// Makes an item from a decoded name and value.
    package init(name: String, value: String) {
        self.name = name
        self.value = value
    }

    /// Decodes one form-encoded item, in which a plus stands for a blank.
    ///
    /// - Returns: nil when the item is malformed, or when its name or value has more than `String.maxMarks` combining
    ///   marks in a row.
    init?(encoded: ArraySlice<UInt8>) {
        let withBlanks = encoded.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 }
        let parts = withBlanks.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
        let texts = parts.compactMap { part in
            String(validating: part, as: UTF8.self).flatMap { PercentEncoding.decodeText($0) }
        }
        guard let name = texts.first, texts.count == parts.count else { return nil }
        self.init(name: name, value: texts.count > 1 ? texts[1] : "")
    }
}

/// Percent-encoding as defined by RFC 3986.
package enum PercentEncoding {
    /// Replaces each `%HH` by the byte that it stands for.
    ///
    /// - Returns: nil when a `%HH` is not complete, the bytes are not UTF-8, or one of the bytes is NUL.
    package static func decode(_ text: some StringProtocol) -> String? {
        guard text.utf8.contains(where: { $0 == UInt8(ascii: "%") || $0 == 0 }) else { return String(text) }
        var bytes: [UInt8] = []
        var iterator = text.utf8.makeIterator()
        while let byte = iterator.next() {
            if byte == UInt8(ascii: "%") {
                guard let high = iterator.next().flatMap(Self.hexDigit),
                    let low = iterator.next().flatMap(Self.hexDigit)
                else { return nil }
                bytes.append(high << 4 | low)
            } else {
                bytes.append(byte)
            }
        }
        return bytes.contains(0) ? nil : String(validating: bytes, as: UTF8.self)
    }

    /// Decodes a part of a path or of a query, which may afterwards be compared and hashed.
    ///
    /// - Returns: nil when `decode` rejects the text, or when the decoded text would take long to compare, because more
    ///   than `String.maxMarks` combining marks are in a row.
    static func decodeText(_ text: some StringProtocol) -> String? {
        self.decode(text).flatMap { $0.hasLongMarkRun ? nil : $0 }
    }

    private static func hexDigit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

/// A request's method, in upper case; any token is one, and the router knows which it serves.
package struct HTTPMethod: Sendable, Hashable, RawRepresentable, CustomStringConvertible {
    /// The method as written in the request line.
    package let rawValue: String

    /// Takes a method as written in the request line.
    package init(rawValue: String) { self.rawValue = rawValue }

    /// The method as written in the request line.
    package var description: String { self.rawValue }

    /// Reads.
    package static let get = HTTPMethod(rawValue: "GET")
    /// Reads the headers alone.
    package static let head = HTTPMethod(rawValue: "HEAD")
    /// Creates or acts.
    package static let post = HTTPMethod(rawValue: "POST")
    /// Replaces.
    package static let put = HTTPMethod(rawValue: "PUT")
    /// Changes in part.
    package static let patch = HTTPMethod(rawValue: "PATCH")
    /// Deletes.
    package static let delete = HTTPMethod(rawValue: "DELETE")
    /// Asks what is allowed.
    package static let options = HTTPMethod(rawValue: "OPTIONS")
}

/// A complete request, its path and query decoded and its body read.
package struct HTTPRequest: Sendable, Equatable {
    /// The method.
    package let method: HTTPMethod
    /// The path as it came, still percent-encoded, without the query.
    package let path: String
    /// The decoded parts of the path between its slashes; a decoded part may hold a slash.
    package let segments: [String]
    /// The decoded query, in the order in which it came.
    package let query: [HTTPQueryItem]
    /// The headers by lower-case name; those that came several times are joined by `, `.
    package let headers: [String: String]
    /// The body.
    package var body: [UInt8]
    /// What the router found in the path, by the names in its pattern.
    package var parameters: [String: String] = [:]

    /// Builds a request.
    ///
    /// - Returns: nothing when the path or a query item is not percent-encoded UTF-8 free of NUL, or the path is not
    ///   absolute.
    package init?(
        method: HTTPMethod, path: String, query: [HTTPQueryItem] = [], headers: [String: String] = [:],
        body: [UInt8] = []
    ) {
        guard path.utf8.first == UInt8(ascii: "/") else { return nil }
        var segments: [String] = []
        for part in path.dropFirst().split(separator: "/", omittingEmptySubsequences: false) {
            guard let segment = PercentEncoding.decode(part) else { return nil }
            segments.append(segment)
        }
        self.method = method
        self.path = path
        self.segments = segments
        self.query = query
        self.headers = headers
        self.body = body
    }

    /// The first query item of this name.
    package func query(_ name: String) -> String? { self.query.first { $0.name == name }?.value }

    /// The token of an `Authorization: Bearer` header.
    package var bearerToken: String? {
        guard let header = self.headers["authorization"], header.prefix(7).lowercased() == "bearer " else { return nil }
        let token = header.dropFirst(7).drop { $0 == " " }
        return token.isEmpty ? nil : String(token)
    }
}

/// One `name=value` of a query.
package struct HTTPQueryItem: Sendable, Equatable {
    /// The decoded name.
    package let name: String
    /// The decoded value; empty when there was none.
    package let value: String

    /// Takes a decoded name and value.
    package init(name: String, value: String) {
        self.name = name
        self.value = value
    }

    /// Decodes one item as forms write it: a plus is a blank, and what has no `=` has no value.
    init?(encoded: ArraySlice<UInt8>) {
        let plain = encoded.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 }
        let parts = plain.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
        let texts = parts.compactMap { part in
            String(validating: part, as: UTF8.self).flatMap { PercentEncoding.decode($0) }
        }
        guard let name = texts.first, texts.count == parts.count else { return nil }
        self.init(name: name, value: texts.count > 1 ? texts[1] : "")
    }
}

/// Percent-encoding as RFC 3986 has it.
package enum PercentEncoding {
    /// Decodes `%HH`.
    ///
    /// - Returns: nothing when an escape is not complete, the bytes are not UTF-8, or one of them is NUL.
    package static func decode(_ text: some StringProtocol) -> String? {
        guard text.utf8.contains(where: { $0 == UInt8(ascii: "%") || $0 == 0 }) else { return String(text) }
        var bytes: [UInt8] = []
        var iterator = text.utf8.makeIterator()
        while let byte = iterator.next() {
            if byte == UInt8(ascii: "%") {
                guard let high = iterator.next().flatMap(Self.digit), let low = iterator.next().flatMap(Self.digit)
                else { return nil }
                bytes.append(high << 4 | low)
            } else {
                bytes.append(byte)
            }
        }
        return bytes.contains(0) ? nil : String(validating: bytes, as: UTF8.self)
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 48...57: byte - 48
        case 65...70: byte - 55
        case 97...102: byte - 87
        default: nil
        }
    }
}

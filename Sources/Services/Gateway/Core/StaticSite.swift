// SPDX-License-Identifier: Apache-2.0
internal import MachineKit

/// The files of a web site in memory, and the responses to requests for them (R13.31).
package struct StaticSite: Sendable, Equatable {
    /// A file of the site.
    package struct File: Sendable, Equatable {
        /// The path of its URL, such as `/pages/main.js`.
        package let path: String
        /// The value of `Content-Type`.
        package let contentType: String
        /// The contents.
        package let body: [UInt8]
        /// The contents compressed with gzip; nil if that does not make them shorter.
        package let gzip: [UInt8]?
        /// The entity tag without its quotation marks.
        package let entityTag: String
    }

    /// The response to a request for a file.
    package struct Response: Sendable, Equatable {
        /// 200, or 304 if the client has the file already.
        package var status: Int
        /// The headers, in order.
        package var headers: [Header]
        /// The body; empty with 304.
        package var body: [UInt8]
    }

    /// A header of a response.
    package struct Header: Sendable, Equatable {
        /// The name.
        package let name: String
        /// The value.
        package let value: String

        /// Creates a header.
        package init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The files, sorted by path.
    package private(set) var files: [File] = []

    /// Creates a site without files.
    package init() {}

    /// The content types by the extension of a file's name; files with other extensions are not part of a site.
    private static let contentTypes = [
        "css": "text/css; charset=utf-8", "html": "text/html; charset=utf-8", "js": "text/javascript; charset=utf-8",
        "json": "application/json", "png": "image/png", "svg": "image/svg+xml", "webp": "image/webp",
    ]

    /// Returns whether a file may be part of a site.
    ///
    /// Its content type must be known. No part of its path may be empty or begin with a dot, and the path may contain
    /// only ASCII letters, digits and the characters `-_./`.
    ///
    /// - Parameter path: The file's relative path, such as `pages/main.js`.
    /// - Returns: True if the file may be part of a site.
    package static func canContain(fileAt path: String) -> Bool {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        return self.contentType(of: path) != nil && parts.allSatisfy { !$0.isEmpty && !$0.hasPrefix(".") }
            && path.utf8.allSatisfy(Self.isPathByte)
    }

    /// Adds a file.
    ///
    /// - Parameters:
    ///   - path: The file's relative path. If `canContain(fileAt:)` is false for it, the file is not added.
    ///   - body: The contents.
    ///   - gzip: The contents compressed with gzip.
    package mutating func add(_ path: String, body: [UInt8], gzip: [UInt8]) {
        guard Self.canContain(fileAt: path), let contentType = Self.contentType(of: path) else { return }
        self.files.append(
            File(
                path: "/\(path)", contentType: contentType, body: body, gzip: gzip.count < body.count ? gzip : nil,
                entityTag: "\(String(body.count, radix: 36))-\(String(FNV1a.hash(body), radix: 36))"))
        self.files.sort { $0.path < $1.path }
    }

    /// Returns the response to a GET or HEAD request for a file.
    ///
    /// - Parameters:
    ///   - file: The file.
    ///   - ifNoneMatch: The request's `If-None-Match`.
    ///   - acceptEncoding: The request's `Accept-Encoding`.
    /// - Returns: The status, headers and body.
    package static func response(for file: File, ifNoneMatch: String?, acceptEncoding: String?) -> Response {
        let gzip = Self.acceptsGzip(acceptEncoding) ? file.gzip : nil
        // The two encodings are different representations, so each has its own tag.
        let tag = "\"\(file.entityTag)\(gzip == nil ? "" : "-gz")\""
        // The contents of a file may change while its name stays the same. So a browser must ask each time whether its
        // copy is still valid.
        var headers = [
            Header("ETag", tag), Header("Cache-Control", "no-cache"), Header("Vary", "Accept-Encoding"),
        ]
        if Self.matches(ifNoneMatch, tag) { return Response(status: 304, headers: headers, body: []) }
        headers.append(Header("Content-Type", file.contentType))
        if gzip != nil { headers.append(Header("Content-Encoding", "gzip")) }
        return Response(status: 200, headers: headers, body: gzip ?? file.body)
    }

    /// Returns the value of `Content-Security-Policy` for the pages (R13.32).
    ///
    /// - Parameters:
    ///   - webSockets: The addresses of gateways to which a page may connect.
    ///   - imageOrigins: The origins from which images are shown, besides the pages' own origin.
    /// - Returns: The policy's directives.
    package static func securityPolicy(webSockets: [String], imageOrigins: [String]) -> String {
        [
            "default-src 'none'", "script-src 'self'", "style-src 'self'",
            "img-src \((["'self'"] + imageOrigins).joined(separator: " "))",
            "connect-src \((["'self'"] + webSockets).joined(separator: " "))",
            "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
        ].joined(separator: "; ")
    }

    /// Returns the content type by the extension of the path; nil if the extension is missing or unknown.
    private static func contentType(of path: String) -> String? {
        guard let dot = path.utf8.lastIndex(of: UInt8(ascii: ".")) else { return nil }
        return self.contentTypes[String(path[path.utf8.index(after: dot)...])]
    }

    private static func isPathByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."),
            UInt8(ascii: "/"):
            true
        default: false
        }
    }

    /// Returns whether `list`, the value of an `If-None-Match` header, contains a tag.
    ///
    /// The comparison is weak, as RFC 9110 requires for `If-None-Match`: it ignores the prefix `W/`.
    private static func matches(_ list: String?, _ tag: String) -> Bool {
        guard let list else { return false }
        return list.split(separator: ",").contains { entry in
            let text = Self.trimmed(entry)
            // `*` stands for any tag.
            return text == "*" || (text.hasPrefix("W/") ? text.dropFirst(2) : text) == tag
        }
    }

    /// Returns whether the encodings of an `Accept-Encoding` header include gzip.
    private static func acceptsGzip(_ list: String?) -> Bool {
        // Whether `*` accepts the encodings that the header does not name.
        var acceptsOthers = false
        for entry in (list ?? "").split(separator: ",") {
            let parts = entry.split(separator: ";")
            guard let name = parts.first.map({ Self.trimmed($0).lowercased() }) else { continue }
            let weight = parts.dropFirst().lazy.map { Self.trimmed($0).lowercased() }.first { $0.hasPrefix("q=") }
            // Without a weight, the encoding is accepted. A weight of 0, or one that is not a number, rejects it.
            let isAccepted = weight.map { (Double($0.dropFirst(2)) ?? 0) > 0 } ?? true
            if name == "gzip" { return isAccepted }
            if name == "*" { acceptsOthers = isAccepted }
        }
        return acceptsOthers
    }

    /// Returns the text without spaces and tabs at its ends.
    private static func trimmed(_ text: Substring) -> Substring {
        let start = text.drop { $0 == " " || $0 == "\t" }
        let end = start.lastIndex { $0 != " " && $0 != "\t" }
        return end.map { start[...$0] } ?? ""
    }
}

// SPDX-License-Identifier: Apache-2.0

/// The origins of web pages whose WebSockets a gateway accepts (R13.34).
package struct WebOrigins: Sendable, Equatable {
    private let origins: Set<String>

    /// Creates a set of origins.
    ///
    /// - Parameter origins: The origins, such as `https://live.example.org`; if empty, all origins are accepted.
    package init(_ origins: [String] = []) { self.origins = Set(origins.map { $0.lowercased() }) }

    /// Returns whether a text is an origin: a scheme, a host, and optionally a port, without a path.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - schemes: The allowed schemes.
    /// - Returns: True if the text is an origin.
    package static func isOrigin(_ text: String, schemes: [String] = ["http", "https"]) -> Bool {
        guard let scheme = schemes.first(where: { text.lowercased().hasPrefix("\($0)://") }) else { return false }
        return Self.hostName(of: String(text.dropFirst("\(scheme)://".utf8.count))) != nil
    }

    /// Returns whether a request is accepted.
    ///
    /// A page of the same host is always accepted, and its port is ignored, because a gateway serves pages and
    /// WebSockets at different ports. A request without an origin is accepted too: its client is not a browser.
    ///
    /// - Parameters:
    ///   - origin: The request's `Origin`; nil if it has none.
    ///   - host: The request's `Host`.
    /// - Returns: False if the request is from a web page of an origin that is not in the set.
    package func allows(_ origin: String?, host: String?) -> Bool {
        guard let origin = origin?.lowercased(), !self.origins.isEmpty else { return true }
        if self.origins.contains(origin) { return true }
        guard let separator = origin.firstRange(of: "://"), let ownHost = host.flatMap({ Self.hostName(of: $0) }) else {
            return false
        }
        return Self.hostName(of: String(origin[separator.upperBound...])) == ownHost
    }

    /// Returns the host name of a `Host` header, in lower case and without its port; an IPv6 address keeps its
    /// brackets.
    ///
    /// - Returns: Nil if the text is not a name or an address, optionally with a port. So the result can safely be
    ///   copied into a header.
    package static func hostName(of host: String) -> String? {
        let text = host.lowercased()
        let name: Substring
        let portSuffix: Substring
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]") else { return nil }
            name = text[...end]
            portSuffix = text[text.index(after: end)...]
            guard name.utf8.dropFirst().dropLast().allSatisfy(Self.isIPv6Byte) else { return nil }
        } else {
            let colon = text.firstIndex(of: ":") ?? text.endIndex
            name = text[..<colon]
            portSuffix = text[colon...]
            guard name.utf8.allSatisfy(Self.isNameByte) else { return nil }
        }
        let port = portSuffix.dropFirst()
        guard portSuffix.isEmpty || (portSuffix.first == ":" && !port.isEmpty && port.utf8.allSatisfy(Self.isDigit))
        else {
            return nil
        }
        // A DNS name has at most 253 bytes, a port with its colon at most 6.
        return (1...253).contains(name.utf8.count) && portSuffix.utf8.count <= 6 ? String(name) : nil
    }

    /// Returns whether a host name is `localhost` or an address.
    ///
    /// A foreign name server cannot map such a name to another host, as it does in a DNS rebinding attack.
    package static func isLocalOrAddress(_ name: String) -> Bool {
        if name == "localhost" || name.hasPrefix("[") { return true }
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts.allSatisfy { UInt8($0) != nil }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    private static func isIPv6Byte(_ byte: UInt8) -> Bool {
        Self.isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte) || byte == UInt8(ascii: ":")
            || byte == UInt8(ascii: ".")
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        Self.isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || byte == UInt8(ascii: "-")
            || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "_")
    }
}

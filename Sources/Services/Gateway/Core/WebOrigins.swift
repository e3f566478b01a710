// SPDX-License-Identifier: Apache-2.0

/// The origins of web pages that a gateway answers (R13.34), and the host that a page was asked from.
package struct WebOrigins: Sendable, Equatable {
    private let origins: Set<String>

    /// Makes a set of origins.
    ///
    /// - Parameter origins: such as `https://live.example.org`; without any, all origins are answered.
    package init(_ origins: [String] = []) { self.origins = Set(origins.map { $0.lowercased() }) }

    /// Whether a text is an origin: scheme, host and perhaps a port, without a path.
    ///
    /// - Parameters:
    ///   - text: the text.
    ///   - schemes: the schemes that are allowed.
    /// - Returns: true for such a text.
    package static func isOrigin(_ text: String, schemes: [String] = ["http", "https"]) -> Bool {
        guard let scheme = schemes.first(where: { text.lowercased().hasPrefix("\($0)://") }) else { return false }
        return Self.hostName(of: String(text.dropFirst(scheme.utf8.count + 3))) != nil
    }

    /// Whether a browser's request is answered.
    ///
    /// A page of the same host is always answered, whatever its port: a gateway serves pages and WebSockets at different
    /// ports. A client that is no browser sends no origin.
    ///
    /// - Parameters:
    ///   - origin: the request's `Origin`; nil if it has none.
    ///   - host: the request's `Host`.
    /// - Returns: false for a web page of another origin.
    package func allows(_ origin: String?, host: String?) -> Bool {
        guard let origin = origin?.lowercased(), !self.origins.isEmpty else { return true }
        if self.origins.contains(origin) { return true }
        guard let scheme = origin.firstRange(of: "://"), let own = host.flatMap({ Self.hostName(of: $0) }) else {
            return false
        }
        return Self.hostName(of: String(origin[scheme.upperBound...])) == own
    }

    /// The host name of a `Host` header, in lower case and without its port; an IPv6 address keeps its brackets.
    ///
    /// - Returns: nil if the text is anything but a name or an address and perhaps a port; so the result may be copied
    ///   into a header.
    package static func hostName(of host: String) -> String? {
        let text = host.lowercased()
        let name: Substring
        let rest: Substring
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]") else { return nil }
            name = text[...end]
            rest = text[text.index(after: end)...]
            guard name.utf8.dropFirst().dropLast().allSatisfy({ Self.isHex($0) || $0 == 0x3A || $0 == 0x2E }) else {
                return nil
            }
        } else {
            let colon = text.firstIndex(of: ":") ?? text.endIndex
            name = text[..<colon]
            rest = text[colon...]
            guard name.utf8.allSatisfy(Self.isNameByte) else { return nil }
        }
        let port = rest.dropFirst()
        guard rest.isEmpty || (rest.first == ":" && !port.isEmpty && port.utf8.allSatisfy(Self.isDigit)) else {
            return nil
        }
        return (1...253).contains(name.utf8.count) && rest.utf8.count <= 6 ? String(name) : nil
    }

    /// Whether a host name is `localhost` or an address, neither of which a foreign name server can give a meaning to.
    package static func isLocalOrAddress(_ name: String) -> Bool {
        if name == "localhost" || name.hasPrefix("[") { return true }
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts.allSatisfy { UInt8($0) != nil }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    private static func isHex(_ byte: UInt8) -> Bool { Self.isDigit(byte) || (0x61...0x66).contains(byte) }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        Self.isDigit(byte) || (0x61...0x7A).contains(byte) || byte == 0x2D || byte == 0x2E || byte == 0x5F
    }
}

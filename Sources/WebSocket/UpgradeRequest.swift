// SPDX-License-Identifier: Apache-2.0

/// A client's request for a WebSocket (RFC 6455, section 4.2.1), checked.
package struct UpgradeRequest: Equatable, Sendable {
    /// The path, as it was sent.
    package let path: String
    /// What followed a question mark, as it was sent.
    package let query: String?
    /// The head as a whole; it holds `host`, `origin` and what else was sent.
    package let head: HTTPHead
    /// What the answer depends on.
    package let key: String
    /// The subprotocol that was agreed on.
    package let subprotocol: String?

    /// Checks a request.
    ///
    /// - Parameters:
    ///   - head: What was received.
    ///   - policy: What is served here.
    /// - Throws: The rejection to answer with.
    package init(_ head: HTTPHead, policy: HandshakePolicy) throws(HandshakeRejection) {
        let parts = head.startLine.split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 3, !parts[0].isEmpty, parts[0].utf8.allSatisfy(HTTPHead.isTokenByte) else {
            throw .malformed(.http)
        }
        guard parts[2] == "HTTP/1.1" else { throw .malformed(.http) }
        if parts[0] != "GET" { throw .methodNotAllowed }
        guard parts[1].first == "/", !parts[1].contains("#") else { throw .malformed(.target) }
        let target = parts[1].split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        self.path = String(target[0])
        self.query = target.count > 1 ? String(target[1]) : nil
        guard head.values("host").count == 1 else { throw .malformed(.host) }
        let lengths = head.values("content-length")
        guard lengths.allSatisfy({ $0 == "0" }), head.values("transfer-encoding").isEmpty else {
            throw .malformed(.http)
        }
        if let paths = policy.paths, !paths.contains(self.path) { throw .notFound }
        if !head.hasToken("websocket", in: "upgrade") { throw .upgradeRequired }
        if !head.hasToken("upgrade", in: "connection") { throw .malformed(.connection) }
        let versions = head.values("sec-websocket-version")
        guard versions.count == 1 else { throw .malformed(.version) }
        if versions[0] != "13" { throw .unsupportedVersion }
        let keys = head.values("sec-websocket-key")
        guard keys.count == 1, AcceptKey.isValid(keys[0]) else { throw .malformed(.key) }
        self.key = keys[0]
        self.head = head
        let offered = head.listItems("sec-websocket-protocol")
        guard offered.allSatisfy({ $0.utf8.allSatisfy(HTTPHead.isTokenByte) }) else { throw .malformed(.subprotocol) }
        self.subprotocol = offered.first { policy.subprotocols.contains($0) }
        if policy.requiresSubprotocol && self.subprotocol == nil { throw .malformed(.subprotocol) }
    }

    /// The answer that opens the WebSocket.
    package var response: String {
        var text = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        text += "Sec-WebSocket-Accept: \(AcceptKey.answer(to: self.key))\r\n"
        if let subprotocol { text += "Sec-WebSocket-Protocol: \(subprotocol)\r\n" }
        return text + "\r\n"
    }

    /// The first value of a field, whose name must be in lower case.
    package func header(_ name: String) -> String? { self.head.values(name).first }

    /// The first value of a name in the query, percent-decoded; nil when it is not there or not UTF-8.
    package func queryValue(_ name: String) -> String? {
        for item in (self.query ?? "").split(separator: "&") {
            let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts[0] == name { return parts.count == 2 ? Self.percentDecoded(parts[1]) : "" }
        }
        return nil
    }

    private static func percentDecoded(_ text: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(Self.hexDigit), let low = rest.popFirst().flatMap(Self.hexDigit)
            else { return nil }
            bytes.append(high << 4 | low)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func hexDigit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}

/// What a server agrees to in a handshake.
package struct HandshakePolicy: Equatable, Sendable {
    /// The paths that are served; nil for all.
    package var paths: [String]?
    /// The subprotocols that are spoken here.
    ///
    /// The first that the client names and that is here is taken.
    package var subprotocols: [String]
    /// Whether a client with whom none is agreed on is refused.
    package var requiresSubprotocol: Bool

    /// Serves these paths in these subprotocols.
    package init(paths: [String]? = nil, subprotocols: [String] = [], requiresSubprotocol: Bool = false) {
        self.paths = paths
        self.subprotocols = subprotocols
        self.requiresSubprotocol = requiresSubprotocol
    }
}

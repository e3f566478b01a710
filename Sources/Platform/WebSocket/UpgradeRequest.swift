// SPDX-License-Identifier: Apache-2.0

/// A client's valid request for a WebSocket (RFC 6455, section 4.2.1).
package struct UpgradeRequest: Equatable, Sendable {
    /// The path as received.
    package let path: String
    /// The query after the question mark as received; nil if there is none.
    package let query: String?
    /// The whole head, with `host`, `origin` and all other fields.
    package let head: HandshakeHead
    /// The client's `Sec-WebSocket-Key`, from which the response is computed.
    package let key: String
    /// The negotiated subprotocol.
    package let subprotocol: String?

    /// Checks a request.
    ///
    /// - Parameters:
    ///   - head: The received head.
    ///   - policy: The paths and subprotocols of the server.
    /// - Throws: The rejection to respond with.
    package init(_ head: HandshakeHead, policy: HandshakePolicy) throws(HandshakeRejection) {
        let parts = head.startLine.split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 3, !parts[0].isEmpty, parts[0].utf8.allSatisfy(HandshakeHead.isTokenByte) else {
            throw .malformed(.http)
        }
        guard parts[2] == "HTTP/1.1" else { throw .malformed(.http) }
        if parts[0] != "GET" { throw .methodNotAllowed }
        guard parts[1].first == "/", !parts[1].contains("#") else { throw .malformed(.target) }
        let target = parts[1].split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        self.path = String(target[0])
        self.query = target.count > 1 ? String(target[1]) : nil
        guard head.values("host").count == 1 else { throw .malformed(.host) }
        let contentLengths = head.values("content-length")
        // A request with a body is rejected.
        guard contentLengths.allSatisfy({ $0 == "0" }), head.values("transfer-encoding").isEmpty else {
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
        guard offered.allSatisfy({ $0.utf8.allSatisfy(HandshakeHead.isTokenByte) }) else {
            throw .malformed(.subprotocol)
        }
        self.subprotocol = offered.first { policy.subprotocols.contains($0) }
    }

    /// The HTTP response that opens the WebSocket.
    package var response: String {
        var text = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        text += "Sec-WebSocket-Accept: \(AcceptKey.acceptValue(for: self.key))\r\n"
        if let subprotocol { text += "Sec-WebSocket-Protocol: \(subprotocol)\r\n" }
        return text + "\r\n"
    }

    /// The first value of a field, whose name must be in lower case.
    package func header(_ name: String) -> String? { self.head.values(name).first }
}

/// The paths and subprotocols that a server accepts in a handshake.
package struct HandshakePolicy: Equatable, Sendable {
    /// The paths that are served; nil to serve all paths.
    package var paths: [String]?
    /// The supported subprotocols.
    ///
    /// The first supported one in the client's list is chosen.
    package var subprotocols: [String]

    /// Makes a policy.
    package init(paths: [String]? = nil, subprotocols: [String] = []) {
        self.paths = paths
        self.subprotocols = subprotocols
    }
}

// SPDX-License-Identifier: Apache-2.0

/// A client's side of the handshake (RFC 6455, section 4.1).
package struct ClientHandshake: Equatable, Sendable {
    /// The server and path to connect to.
    package let target: WebSocketTarget
    /// The client's `Sec-WebSocket-Key`, from which the server computes its `Sec-WebSocket-Accept`.
    package let key: String

    /// Prepares a handshake whose key encodes 16 random bytes, which are passed as two 64-bit words.
    package init(_ target: WebSocketTarget, nonce: (UInt64, UInt64)) {
        self.target = target
        self.key = AcceptKey.key(nonce: nonce)
    }

    /// The HTTP request to send.
    package var request: String {
        // An IPv6 address is written in brackets.
        let host = self.target.host.contains(":") ? "[\(self.target.host)]" : self.target.host
        var text = "GET \(self.target.path) HTTP/1.1\r\nHost: \(host):\(self.target.port)\r\n"
        text += "Upgrade: websocket\r\nConnection: Upgrade\r\n"
        text += "Sec-WebSocket-Key: \(self.key)\r\nSec-WebSocket-Version: 13\r\n"
        if !self.target.subprotocols.isEmpty {
            text += "Sec-WebSocket-Protocol: \(self.target.subprotocols.joined(separator: ", "))\r\n"
        }
        for field in self.target.fields { text += "\(field.name): \(field.value)\r\n" }
        return text + "\r\n"
    }

    /// Checks the head of the server's response.
    ///
    /// - Returns: The subprotocol that the server chose; nil if it chose none.
    /// - Throws: `HandshakeFailure` when the response does not open the WebSocket.
    package func check(_ head: HandshakeHead) throws(HandshakeFailure) -> String? {
        let parts = head.startLine.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count >= 2, parts[0] == "HTTP/1.1", let status = Self.decimal(parts[1]),
            parts[1].utf8.count == 3
        else { throw .malformed }
        if status != 101 {
            // The field may also contain a date, which this client ignores.
            let retrySeconds = head.values("retry-after").first.flatMap { Self.decimal($0) }
            throw .refused(status: status, retryAfter: retrySeconds.map { .seconds($0) })
        }
        guard head.hasToken("websocket", in: "upgrade"), head.hasToken("upgrade", in: "connection"),
            head.values("sec-websocket-accept") == [AcceptKey.acceptValue(for: self.key)]
        else { throw .notWebSocket }
        // The client offered no extension, so the server may not choose one.
        guard head.values("sec-websocket-extensions").isEmpty else { throw .unofferedChoice }
        let chosenSubprotocols = head.values("sec-websocket-protocol")
        guard chosenSubprotocols.count <= 1,
            chosenSubprotocols.allSatisfy({ self.target.subprotocols.contains($0) })
        else { throw .unofferedChoice }
        return chosenSubprotocols.first
    }

    /// The value of a number in decimal digits; nil for any other text, such as a number with a sign.
    private static func decimal(_ text: some StringProtocol) -> Int? {
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        return text.utf8.allSatisfy { digits.contains($0) } ? Int(text) : nil
    }
}

/// The server to which a client connects, with the path, subprotocols and header fields of its request.
package struct WebSocketTarget: Equatable, Sendable {
    /// The server's host name or numeric IP address.
    package var host: String
    /// The server's port.
    package var port: UInt16
    /// The path, with the query if there is one.
    package var path: String
    /// The offered subprotocols, in order of preference.
    package var subprotocols: [String]
    /// Additional header fields of the request.
    package var fields: [HandshakeHead.Field]

    /// Makes a target.
    package init(
        host: String, port: UInt16, path: String = "/", subprotocols: [String] = [], fields: [HandshakeHead.Field] = []
    ) {
        self.host = host
        self.port = port
        self.path = path
        self.subprotocols = subprotocols
        self.fields = fields
    }
}

/// Why a client's handshake failed.
package enum HandshakeFailure: Error, Hashable, Sendable {
    /// The head of the response is not valid HTTP/1.1, or is too long.
    case malformed
    /// The server responded with a status other than 101; `retryAfter` is how long the client should wait, if the
    /// response says so.
    case refused(status: Int, retryAfter: Duration?)
    /// The server does not speak WebSocket: `Upgrade`, `Connection` or `Sec-WebSocket-Accept` is missing or wrong.
    case notWebSocket
    /// The server chose an extension or subprotocol that the client did not offer.
    case unofferedChoice
}

// SPDX-License-Identifier: Apache-2.0

/// A client's side of the handshake (RFC 6455, section 4.1).
package struct ClientHandshake: Equatable, Sendable {
    /// What is asked for.
    package let target: WebSocketTarget
    /// The key that the server's answer must prove.
    package let key: String

    /// Prepares a handshake with 16 random bytes, in two words.
    package init(_ target: WebSocketTarget, nonce: (UInt64, UInt64)) {
        self.target = target
        self.key = AcceptKey.key(nonce.0, nonce.1)
    }

    /// The request to send.
    package var request: String {
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

    /// Checks the answer.
    ///
    /// - Returns: The subprotocol that the server chose.
    /// - Throws: `HandshakeFailure` when the WebSocket is not open by it.
    package func check(_ head: HTTPHead) throws(HandshakeFailure) -> String? {
        let parts = head.startLine.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count >= 2, parts[0] == "HTTP/1.1", let status = Int(parts[1]) else { throw .malformed }
        if status != 101 {
            throw .refused(status: status, retryAfterSeconds: head.values("retry-after").first.flatMap { Int($0) })
        }
        guard head.hasToken("websocket", in: "upgrade"), head.hasToken("upgrade", in: "connection"),
            head.values("sec-websocket-accept") == [AcceptKey.answer(to: self.key)]
        else { throw .notProven }
        // No extension was asked for, so none may be there.
        guard head.values("sec-websocket-extensions").isEmpty else { throw .notAskedFor }
        let chosen = head.values("sec-websocket-protocol")
        guard chosen.count <= 1, chosen.allSatisfy({ self.target.subprotocols.contains($0) }) else {
            throw .notAskedFor
        }
        return chosen.first
    }
}

/// What a client wants to connect to.
package struct WebSocketTarget: Equatable, Sendable {
    /// A numeric address, or a name.
    package var host: String
    /// The port.
    package var port: UInt16
    /// The path, with the query if there is one.
    package var path: String
    /// The subprotocols that are offered, the best first.
    package var subprotocols: [String]
    /// Further fields of the request.
    package var fields: [HTTPHead.Field]

    /// Names a server, and what is wanted of it.
    package init(
        host: String, port: UInt16, path: String = "/", subprotocols: [String] = [], fields: [HTTPHead.Field] = []
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
    /// The answer is not HTTP/1.1, or too long.
    case malformed
    /// The server answered with another status than 101, and perhaps with when to ask again.
    case refused(status: Int, retryAfterSeconds: Int?)
    /// The answer does not prove that the server speaks WebSocket.
    case notProven
    /// The server chose an extension or subprotocol that was not offered.
    case notAskedFor
}

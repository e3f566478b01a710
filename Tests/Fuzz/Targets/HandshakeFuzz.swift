// SPDX-License-Identifier: Apache-2.0
internal import WebSocket

/// The head of a WebSocket handshake, read as a client's request and as a server's response.
public enum HandshakeFuzz: FuzzTarget {
    /// Handles one input.
    public static func run(_ input: [UInt8]) {
        var reader = HandshakeHeadReader(maxBytes: 8192)
        guard let (head, _) = try? reader.consume(input.span) else { return }
        if let request = try? UpgradeRequest(head, policy: HandshakePolicy(subprotocols: ["liveplaza.v1"])) {
            _ = request.response
            _ = request.header("origin")
        }
        let target = WebSocketTarget(host: "h", port: 1, subprotocols: ["liveplaza.v1"])
        _ = try? ClientHandshake(target, nonce: (1, 2)).check(head)
    }
}

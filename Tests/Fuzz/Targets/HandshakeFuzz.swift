// SPDX-License-Identifier: Apache-2.0
internal import WebSocket

/// The head of a handshake: a client's request at a server, and a server's response at a client.
public enum HandshakeFuzz: FuzzTarget {
    /// Handles one input.
    public static func run(_ input: [UInt8]) {
        var reader = HTTPHeadReader(maxBytes: 8192)
        guard let (head, _) = try? reader.consume(input.span) else { return }
        if let request = try? UpgradeRequest(head, policy: HandshakePolicy(subprotocols: ["liveplaza.v1"])) {
            _ = request.response
            _ = request.header("origin")
        }
        let target = WebSocketTarget(host: "h", port: 1, subprotocols: ["liveplaza.v1"])
        do throws(HandshakeFailure) {
            _ = try ClientHandshake(target, nonce: (1, 2)).check(head)
        } catch {
            if case .refused(_, let pause?) = error { precondition(pause >= .zero || pause < .zero) }
        }
    }
}

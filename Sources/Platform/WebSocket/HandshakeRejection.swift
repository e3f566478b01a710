// SPDX-License-Identifier: Apache-2.0

/// Why a server rejects a WebSocket handshake, with the HTTP response to send.
package enum HandshakeRejection: Error, Hashable, Sendable {
    /// 400: the request does not meet RFC 6455, section 4.2.1.
    case malformed(InvalidPart)
    /// 401: the request has no credentials, or invalid ones.
    case unauthorized
    /// 403: the client is not permitted.
    case forbidden
    /// 404: nothing is served at this path.
    case notFound
    /// 405: only GET opens a WebSocket.
    case methodNotAllowed
    /// 426: the request is plain HTTP, but this port serves WebSocket only.
    case upgradeRequired
    /// 426: the version of the protocol is not 13.
    case unsupportedVersion
    /// 429: the client has too many connections, or opens them too quickly; it should try again after this time.
    case tooManyRequests(retryAfter: Duration)
    /// 431: the head is too long or has too many fields.
    case headTooLarge
    /// 503: the server is full or about to stop; the client should try again after `retryAfter`.
    case unavailable(retryAfter: Duration)

    /// The part of a malformed request that is missing or invalid.
    package enum InvalidPart: Hashable, Sendable {
        /// The head is not an HTTP/1.1 request, or announces a body.
        case http
        /// The target does not begin with a slash, or has a fragment (`#`).
        case target
        /// There is no `Host` field, or more than one.
        case host
        /// `Connection` does not contain `Upgrade`.
        case connection
        /// `Sec-WebSocket-Version` is missing or repeated.
        case version
        /// `Sec-WebSocket-Key` is missing, repeated, or not base64 of 16 bytes.
        case key
        /// The list of subprotocols is malformed, or a subprotocol is required and the client offers none that the
        /// server supports.
        case subprotocol
    }

    /// The HTTP status.
    package var status: Int {
        switch self {
        case .malformed: 400
        case .unauthorized: 401
        case .forbidden: 403
        case .notFound: 404
        case .methodNotAllowed: 405
        case .upgradeRequired, .unsupportedVersion: 426
        case .tooManyRequests: 429
        case .headTooLarge: 431
        case .unavailable: 503
        }
    }

    /// The whole HTTP response.
    package var response: String {
        let (phrase, field) =
            switch self {
            case .malformed: ("Bad Request", "")
            case .unauthorized: ("Unauthorized", "WWW-Authenticate: Bearer\r\n")
            case .forbidden: ("Forbidden", "")
            case .notFound: ("Not Found", "")
            case .methodNotAllowed: ("Method Not Allowed", "Allow: GET\r\n")
            case .upgradeRequired, .unsupportedVersion:
                ("Upgrade Required", "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n")
            case .tooManyRequests(let delay): ("Too Many Requests", "Retry-After: \(delay.components.seconds)\r\n")
            case .headTooLarge: ("Request Header Fields Too Large", "")
            case .unavailable(let delay): ("Service Unavailable", "Retry-After: \(delay.components.seconds)\r\n")
            }
        // A 426 must name Upgrade in Connection (RFC 9110, section 7.8).
        let connection = self.status == 426 ? "Upgrade, close" : "close"
        return "HTTP/1.1 \(self.status) \(phrase)\r\n\(field)Connection: \(connection)\r\nContent-Length: 0\r\n\r\n"
    }
}

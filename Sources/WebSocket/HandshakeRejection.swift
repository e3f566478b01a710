// SPDX-License-Identifier: Apache-2.0

/// Why a server does not open a WebSocket, as an HTTP answer.
package enum HandshakeRejection: Error, Hashable, Sendable {
    /// 400: the request is not what RFC 6455, section 4.2.1, asks for.
    case malformed(Flaw)
    /// 401: the request carries no proof of who asks, or one that is not good.
    case unauthorized
    /// 403: the one who asks may not.
    case forbidden
    /// 404: nothing is served at this path.
    case notFound
    /// 405: only GET opens a WebSocket.
    case methodNotAllowed
    /// 426: this port speaks nothing but WebSocket.
    case upgradeRequired
    /// 426: another version of the protocol than 13.
    case unsupportedVersion
    /// 431: the head is too long or has too many fields.
    case headTooLarge
    /// 503: there is no room, or the server is about to go; come back after so many seconds.
    case unavailable(retryAfterSeconds: Int)

    /// What is wrong with a request that is malformed.
    package enum Flaw: Hashable, Sendable {
        /// It is not an HTTP/1.1 head, or has a body.
        case http
        /// The target is not a path of this server.
        case target
        /// There is not exactly one `Host`.
        case host
        /// `Connection` does not say `Upgrade`.
        case connection
        /// `Sec-WebSocket-Version` is missing or there several times.
        case version
        /// `Sec-WebSocket-Key` is not base64 of 16 bytes, once.
        case key
        /// A subprotocol must be agreed on, and none is known here; or the list is malformed.
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
        case .headTooLarge: 431
        case .unavailable: 503
        }
    }

    /// The whole answer.
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
            case .headTooLarge: ("Request Header Fields Too Large", "")
            case .unavailable(let seconds): ("Service Unavailable", "Retry-After: \(seconds)\r\n")
            }
        // A 426 must name Upgrade in Connection (RFC 9110, section 7.8).
        let connection = self.status == 426 ? "Upgrade, close" : "close"
        return "HTTP/1.1 \(self.status) \(phrase)\r\n\(field)Connection: \(connection)\r\nContent-Length: 0\r\n\r\n"
    }
}

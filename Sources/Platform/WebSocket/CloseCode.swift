// SPDX-License-Identifier: Apache-2.0

/// The reason for which a WebSocket was closed: a code of RFC 6455, section 7.4, or of an application (3000 to 4999).
package struct CloseCode: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The number on the wire.
    package let rawValue: UInt16

    /// Makes a code from any number; `isAllowedOnWire` says whether it may be sent.
    package init(rawValue: UInt16) { self.rawValue = rawValue }

    /// The connection has served its purpose (normal closure).
    package static let normal = CloseCode(rawValue: 1000)
    /// The peer broke the protocol.
    package static let protocolError = CloseCode(rawValue: 1002)
    /// The peer sent a kind of data that this side does not accept.
    package static let unsupportedData = CloseCode(rawValue: 1003)
    /// The peer's close frame had no code.
    ///
    /// A close frame must not contain this code.
    package static let noCode = CloseCode(rawValue: 1005)
    /// The connection ended without a close frame.
    ///
    /// A close frame must not contain this code.
    package static let abnormal = CloseCode(rawValue: 1006)
    /// A text was not UTF-8.
    package static let invalidData = CloseCode(rawValue: 1007)
    /// The peer broke a rule for which no other code exists.
    package static let policyViolation = CloseCode(rawValue: 1008)
    /// A message was larger than this side accepts.
    package static let messageTooBig = CloseCode(rawValue: 1009)

    /// The TLS handshake failed, for example because the server's certificate is not trusted.
    ///
    /// A close frame must not contain this code.
    package static let tlsFailed = CloseCode(rawValue: 1015)

    /// Whether a close frame may carry this code: true for the codes that are defined for close frames, and for the
    /// ranges of libraries and applications.
    package var isAllowedOnWire: Bool {
        switch self.rawValue {
        case 1000...1003, 1007...1014, 3000...4999: true
        default: false
        }
    }

    package var description: String { String(self.rawValue) }
}

// SPDX-License-Identifier: Apache-2.0
package import HTTPClient
package import PlazaModel

/// How the requests to an app's backend are made and signed (PROTOCOL.md, section 17).
package enum HookPost {
    /// Seconds since 1970 when the request was made, as signed.
    package static let timestampHeader = "LivePlaza-Timestamp"
    /// `v1=` and the HMAC-SHA256 of `<timestamp>.<body>` under the app's secret, in hexadecimal digits.
    package static let signatureHeader = "LivePlaza-Signature"
    /// The event's name.
    package static let eventHeader = "LivePlaza-Event"

    /// The signature of a body.
    package static func signature(of body: [UInt8], at seconds: Int64, secret: String) -> String {
        "v1=" + HMACSHA256.hex(of: Array("\(seconds).".utf8) + body, key: Array(secret.utf8))
    }

    /// A signed request.
    ///
    /// - Parameters:
    ///   - body: the JSON.
    ///   - event: what it tells or asks.
    ///   - hooks: the app's address and secret.
    ///   - seconds: the time, in seconds since 1970.
    ///   - timeoutMilliseconds: how long all of it may take.
    /// - Returns: the request.
    package static func make(
        _ body: [UInt8], event: String, hooks: AppHooks, at seconds: Int64, timeoutMilliseconds: Int
    ) -> HTTPPost {
        HTTPPost(
            url: hooks.url,
            headers: [
                (Self.timestampHeader, "\(seconds)"), (Self.eventHeader, event),
                (Self.signatureHeader, Self.signature(of: body, at: seconds, secret: hooks.secret)),
            ], body: body, timeoutMilliseconds: timeoutMilliseconds)
    }
}

// SPDX-License-Identifier: Apache-2.0
package import HTTPClient
package import PlazaModel

/// Creates the signed HTTP requests to an app's backend (WEBHOOKS.md, section 1).
package enum WebhookPost {
    /// The time of the request in seconds since 1970; it is part of the signature.
    package static let timestampHeader = "LivePlaza-Timestamp"
    /// `v1=` and the HMAC-SHA256 of `<timestamp>.<body>` under the app's secret, in hexadecimal digits.
    package static let signatureHeader = "LivePlaza-Signature"
    /// The event's name.
    package static let eventHeader = "LivePlaza-Event"

    /// Computes the signature of a body.
    package static func signature(of body: [UInt8], at seconds: Int64, secret: String) -> String {
        "v1=" + HMACSHA256.hex(of: Array("\(seconds).".utf8) + body, key: Array(secret.utf8))
    }

    /// Creates a signed request.
    ///
    /// - Parameters:
    ///   - body: the request's JSON body.
    ///   - event: the name of the event.
    ///   - hooks: the app's address and secret.
    ///   - seconds: the current time, in seconds since 1970.
    ///   - timeout: how long the whole request may take.
    /// - Returns: the request.
    package static func make(
        _ body: [UInt8], event: String, hooks: AppHooks, at seconds: Int64, timeout: Duration
    ) -> HTTPPost {
        HTTPPost(
            url: hooks.url,
            headers: [
                (Self.timestampHeader, "\(seconds)"), (Self.eventHeader, event),
                (Self.signatureHeader, Self.signature(of: body, at: seconds, secret: hooks.secret)),
            ], body: body, timeout: timeout)
    }
}

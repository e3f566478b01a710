// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel

/// Checks two parameters of requests for seats, co-hosts and battles: the timeout, and the app's text for the user who
/// gets the request (`extraInfo` of seat requests, `extensionInfo` of the others).
enum RequestParameters {
    /// The time at which a request that is made at `now` expires: after `seconds`, or after the default timeout if
    /// `seconds` is 0.
    ///
    /// - Throws: `badParameter` when `seconds` is out of range.
    static func expiry(after seconds: Int64, from now: Timestamp) throws(ReplyError) -> Timestamp {
        if seconds == 0 { return now + .seconds(Limits.defaultRequestTimeoutSeconds) }
        guard Limits.requestTimeoutSeconds.contains(seconds) else {
            throw ReplyError(
                .badParameter,
                "timeout is \(seconds); \(Limits.requestTimeoutSeconds.lowerBound) to "
                    + "\(Limits.requestTimeoutSeconds.upperBound) seconds are possible")
        }
        return now + .seconds(seconds)
    }

    /// Rejects a text for the user who gets the request if the text is too long.
    static func check(extraInfo: String) throws(ReplyError) {
        guard TextRule.isBounded(extraInfo, maxBytes: Limits.extraInfoBytes) else {
            throw .tooLong("extra info", maxBytes: Limits.extraInfoBytes)
        }
    }
}

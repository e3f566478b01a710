// SPDX-License-Identifier: Apache-2.0

/// The outcome of a call.
package enum Outcome: Hashable, Sendable, Codable {
    case success(result: CallResult)
    case failure(error: ReplyError)
}

/// The revision of a public record that a gateway must have read before it sends a reply, so that the client reads its
/// own writes.
package struct RequiredRevision: Hashable, Sendable, Codable {
    /// The topic of the record.
    package enum Table: String, Hashable, Sendable, Codable {
        case rooms
        case stages
        /// An app's settings; `live` is empty.
        case apps
    }
    package var table: Table
    package var live: LiveID
    package var revision: Int64

    package init(_ table: Table, _ live: LiveID, revision: Int64) {
        self.table = table
        self.live = live
        self.revision = revision
    }
}

/// The answer to a call, addressed to the gateway that forwarded the call.
package struct Reply: Hashable, Sendable, Codable {
    /// The version of the record's format.
    package var v = 1
    package var to: GatewayID
    package var app: AppID
    package var request: RequestID
    package var outcome: Outcome
    /// The revision that the gateway must have read before it sends the reply; nil if it sends the reply immediately.
    package var requiredRevision: RequiredRevision?

    /// The names in records.
    private enum CodingKeys: String, CodingKey {
        case v, to, app, request, outcome
        case requiredRevision = "seen"
    }
}

extension Reply {
    package init(to caller: Caller, app: AppID, _ outcome: Outcome, required: RequiredRevision? = nil) {
        // One memberwise call, because a reply that is filled field by field would be copied.
        self.init(to: caller.replyTo, app: app, request: caller.request, outcome: outcome, requiredRevision: required)
    }
}

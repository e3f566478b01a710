// SPDX-License-Identifier: Apache-2.0

/// Why a gateway refused or cut something off: the values of a metric's label.
///
/// The set is fixed, because a label must never come from a peer.
package enum RefusalReason: String, CaseIterable, Sendable {
    case httpConnectionsPerAddress
    case httpRequestsPerAddress
    case httpHeadTimeout
    case httpBodyTimeout
    case httpResponseTimeout
    case httpRate
    case httpRefusedTokens
    case connectionsPerAddress
    case connectionsPerUser
    case connectionsPerApp
    case handshakes
    case proxyHeader
    case beforeLogin
    case frames
    case bytes
    case unfinishedMessages
    case logins
    case memberships
    case gifts
    case deviceChanges
    case reads
    case webhooks
}

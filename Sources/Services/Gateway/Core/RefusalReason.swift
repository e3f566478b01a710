// SPDX-License-Identifier: Apache-2.0

/// The limit that made a gateway refuse a request or close a connection; the raw values are metric labels.
///
/// The set is fixed, because clients must not be able to create labels. `docs/OPERATING.md` explains each limit.
package enum RefusalReason: String, CaseIterable, Sendable {
    // HTTP requests.
    case httpConnectionsPerAddress
    case httpRequestsPerAddress
    case httpHeadTimeout
    case httpBodyTimeout
    case httpResponseTimeout
    case httpUnreadResponses
    case httpRate
    case httpBodyBytes
    case httpRefusedTokens
    case httpTokenChecks
    case httpMalformed
    case httpAnonymousRate
    // WebSocket connections, and calls of users.
    case connectionsPerAddress
    case connectionsPerUser
    case connectionsPerApp
    case livesPerApp
    case callsPerApp
    case callsPerUser
    case handshakes
    case proxyHeader
    case beforeLogin
    case frames
    case bytes
    case unfinishedMessages
    case outputOfConnection
    case outputOfAll
    case outputStalled
    case logins
    case memberships
    case replays
    case creations
    case gifts
    case deviceChanges
    case reads
    case readTime
    case unreadAnswers
    case sharedReads
    case sanctions
    // Calls of apps' servers, and requests to them.
    case serverConnections
    case serverLogins
    case serverCalls
    case serverReads
    case serverSettings
    case webhooks
}

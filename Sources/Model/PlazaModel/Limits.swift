// SPDX-License-Identifier: Apache-2.0

/// Limits that no app can change.
///
/// A number is the maximum count, or the maximum size in bytes, unless its name says otherwise. A range contains the
/// valid values.
package enum Limits {
    package static let liveNameBytes = 100
    package static let noticeBytes = 100
    package static let urlBytes = 200
    package static let categories = 3
    package static let metadataKeys = 10
    package static let metadataKeyBytes = 50
    package static let metadataValueBytes = 2048
    package static let metadataTotalBytes = 16 * 1024
    /// All texts of one text or custom message together (R5.11).
    package static let messageBytes = 12 * 1024
    /// Earlier messages that a new viewer receives (R5.15).
    package static let history = 50
    /// Gifts in one call (R11.4).
    package static let giftCount = 1...255
    /// Receivers of one gift call.
    package static let giftReceivers = 50
    /// Likes in one call; clients collect taps for some seconds.
    package static let likesPerCall = 1...1000
    /// The valid speaking levels; 0 means silent.
    package static let speakingLevel = 0...100
    /// Lives on one page of a list.
    package static let listPage = 50
    /// Members on one page of the audience list.
    package static let audiencePage = 200
    /// Candidates for a connection on one page (R8.10).
    package static let candidatesPage = 20
    /// Lives of one connection.
    package static let coHostLives = 9
    /// Lives that one co-host request invites.
    package static let coHostTargets = 8
    /// The number of seats of a voice live that take part in a connection; the first seats take part.
    ///
    /// A live with more occupied seats cannot connect.
    package static let voiceCoHostSeats = 6
    package static let requestTimeoutSeconds: ClosedRange<Int64> = 1...1800
    package static let defaultRequestTimeoutSeconds: Int64 = 10
    package static let seatCount = 50
    /// The valid numbers of seat templates (R3.16).
    package static let templates: ClosedRange<Int> = 1...999
    /// Seat calls of one session in one live within a second.
    package static let seatCallsPerSecond = 10
    /// Revocation floors (lowest valid tickets of kicked users) of one live; the oldest are dropped first.
    package static let floorsPerLive = 1000
    package static let extraInfoBytes = 2048
    package static let userNameBytes = 100
    /// Open applications and invitations of one live.
    package static let openSeatRequests = 500
    /// Open requests in one row of the seat machine.
    package static let seatRequestsPerRow = 50
    /// A JSON frame from a client.
    package static let clientFrameBytes = 64 * 1024
}

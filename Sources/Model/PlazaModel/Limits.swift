// SPDX-License-Identifier: Apache-2.0

/// Limits that no app can change.
package enum Limits {
    package static let liveNameBytes = 100
    package static let noticeBytes = 100
    package static let urlBytes = 200
    package static let categories = 3
    package static let metadataKeys = 10
    package static let metadataKeyBytes = 50
    package static let metadataValueBytes = 2048
    package static let metadataTotalBytes = 16 * 1024
    /// The most bytes of one text or custom message, with all its parts.
    package static let messageBytes = 12 * 1024
    /// The most earlier messages that a new viewer may receive (R5.15).
    package static let history = 50
    /// The valid number of gifts in one call (R11.4).
    package static let giftCount = 1...255
    /// The most receivers of one gift call.
    package static let giftReceivers = 50
    /// The valid number of likes in one call; clients collect taps for some seconds.
    package static let likesPerCall = 1...1000
    /// The valid speaking levels; 0: silent.
    package static let speakingLevel = 0...100
    package static let listPage = 50
    package static let audiencePage = 200
    /// The most candidates for a connection on one page (R8.10).
    package static let candidatesPage = 20
    package static let coHostLives = 9
    /// The most lives that one co-host request invites.
    package static let coHostTargets = 8
    /// Seats of a voice live that take part in a connection: the first six; with more occupied it cannot connect.
    package static let voiceCoHostSeats = 6
    package static let requestTimeoutSeconds: ClosedRange<Int64> = 1...1800
    package static let defaultRequestTimeoutSeconds: Int64 = 10
    package static let seatCount = 50
    /// The numbers that a seat template may have (R3.16).
    package static let templates: ClosedRange<Int> = 1...999
    /// The most seat calls of one session in a live in a second.
    package static let seatCallsPerSecond = 10
    /// The most revocation floors of one live; the oldest are dropped first.
    package static let floorsPerLive = 1000
    /// The most users banned from one live at a time.
    package static let bansPerLive = 1000
    package static let extraInfoBytes = 2048
    package static let userNameBytes = 100
    /// The most open applications and invitations of one live.
    package static let openSeatRequests = 500
    /// The most open requests in one row of the seat machine.
    package static let seatRequestsPerRow = 50
    /// The most bytes of a JSON frame from a client.
    package static let clientFrameBytes = 64 * 1024
}

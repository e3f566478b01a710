// SPDX-License-Identifier: Apache-2.0
package import MachineKit
package import PlazaModel

/// The sign-in of one connection; it decides whether a later sign-in on any gateway closes this connection.
///
/// Of a session's connections, only the one with the latest sign-in notice stays open; the others are closed. The same
/// holds for a user's sessions in an app that allows one device (R2.19).
///
/// Two simultaneous logins must not close each other, and an earlier sign-in must not close a later connection. So each
/// sign-in is written as a notice, and the order of the notices in the topic decides: all gateways reach the same
/// result, in whatever order they process logins. A session whose name a gateway has just made up needs no notice: no
/// other client knows the name yet, so any other sign-in to the session is later.
package struct DeviceSignIn: Hashable, Sendable {
    /// The time after which an unconfirmed notice is written again.
    ///
    /// It exceeds the producer's delivery timeout. So after this time, the previous attempt has been appended, or never
    /// will be.
    package static let timeout = Milliseconds.seconds(6)

    /// Random bits that identify this connection among those of all gateways.
    private let connection: UInt64
    /// Whether the sign-in ends the user's other sessions, because the app allows one device.
    private let endsOtherSessions: Bool
    /// How often the notice was written; 0 if none is needed.
    private var attempt = 0
    /// When the notice was last written.
    private var writtenAt = MonotonicTime(milliseconds: 0)
    /// Whether the notice was read back, or none is needed; from then on, later sign-ins close this connection.
    private var isConfirmed = true

    /// Creates a sign-in that needs no notice, because no other client knows the session yet.
    ///
    /// For any other session, the caller must call `makeNotice` next, and write the notice.
    ///
    /// - Parameters:
    ///   - connection: Random bits.
    ///   - endsOtherSessions: Whether the sign-in ends the user's other sessions.
    package init(connection: UInt64, endsOtherSessions: Bool) {
        self.connection = connection
        self.endsOtherSessions = endsOtherSessions
    }

    /// Returns the notice to write, for the first or a repeated attempt.
    ///
    /// - Parameters:
    ///   - session: The connection's session.
    ///   - now: The current time.
    /// - Returns: The notice. Only the position of the last attempt counts; earlier attempts are ignored.
    package mutating func makeNotice(for session: SessionID, at now: MonotonicTime) -> NoticeContent {
        self.attempt += 1
        self.writtenAt = now
        self.isConfirmed = false
        return .signedInElsewhere(
            session: session, connection: self.connectionName, attempt: self.attempt, isOnly: self.endsOtherSessions)
    }

    /// Returns whether the notice must be written again.
    ///
    /// That is so if the notice was not read back within `timeout` and the client has sent something after this time. A
    /// silent client may have reconnected elsewhere, and the notice of its old connection must not close the new one.
    ///
    /// - Parameter lastReceived: When the client last sent something.
    /// - Returns: True if the caller must write the next notice.
    package func mustRepeatNotice(lastReceived: MonotonicTime) -> Bool {
        !self.isConfirmed && lastReceived - self.writtenAt >= Self.timeout
    }

    /// Handles the next notice to the user.
    ///
    /// - Parameters:
    ///   - content: The notice; notices other than sign-ins are ignored.
    ///   - ownSession: This connection's session.
    /// - Returns: The reason to close this connection; nil if it stays open.
    package mutating func noticeReceived(_ content: NoticeContent, ownSession: SessionID) -> DisconnectCode? {
        guard case .signedInElsewhere(let session, let connection, let attempt, let endsOtherSessions) = content else {
            return nil
        }
        // The notice of this connection's own sign-in.
        if connection == self.connectionName {
            if attempt == self.attempt { self.isConfirmed = true }
            return nil
        }
        // A sign-in that is read before this connection's own one is earlier, and does not close this connection.
        guard self.isConfirmed else { return nil }
        if session == ownSession { return .replaced }
        // `self.endsOtherSessions` is false for a connection of an app's server: users' sign-ins do not end it.
        return endsOtherSessions && self.endsOtherSessions ? .kickedOffline : nil
    }

    /// Returns whether another device ended a session while the session was disconnected.
    ///
    /// Only sign-ins that end other sessions count. If another session made the latest of these sign-ins, that sign-in
    /// ended this session.
    ///
    /// - Parameters:
    ///   - missed: The user's notices after the last one that the session received.
    ///   - ownSession: The session.
    /// - Returns: True if the client must not reconnect without its user's action.
    package static func wasSessionEnded(by missed: [Notice], ownSession: SessionID) -> Bool {
        for notice in missed.reversed() {
            if case .signedInElsewhere(let session, _, _, isOnly: true) = notice.content {
                return session != ownSession
            }
        }
        return false
    }

    /// The connection's identifier as it is written in notices.
    private var connectionName: String { String(self.connection, radix: 36) }
}

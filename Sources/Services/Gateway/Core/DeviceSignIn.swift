// SPDX-License-Identifier: Apache-2.0
package import MachineKit
package import PlazaModel

/// Decides whether a later sign-in on any gateway closes this connection.
///
/// Of a session's connections, only the one with the latest sign-in notice stays open; the others are closed. The same
/// holds for a user's sessions in an app that allows one device (R2.19).
///
/// A sign-in is written as a notice, and the order of the notices in the topic decides. So all gateways reach the same
/// result, in whatever order they process logins: two simultaneous logins do not close each other, and no connection is
/// closed by an earlier sign-in. A session that a gateway has just named needs no notice: no other client knows its
/// name yet, so any other sign-in to it is later.
package struct DeviceSignIn: Hashable, Sendable {
    /// The time after which an unconfirmed notice is written again.
    ///
    /// It exceeds the producer's delivery timeout, so the previous attempt has either been appended by then or never
    /// will be.
    package static let timeout = Milliseconds.seconds(6)

    /// Identifies this connection among those of all gateways.
    private let connection: UInt64
    /// Whether the app allows only one device per user.
    private let isOnly: Bool
    /// How often the notice was written; 0 if none is needed.
    private var attempt = 0
    /// When the notice was last written.
    private var writtenAt = MonotonicTime(milliseconds: 0)
    /// Whether the notice has been read back: later sign-ins close this connection.
    private var isConfirmed = true

    /// Creates the sign-in of a session that no other client knows yet.
    ///
    /// For a session that may have other connections, call `write` next.
    ///
    /// - Parameters:
    ///   - connection: Random bits.
    ///   - isOnly: Whether the sign-in ends the user's other sessions.
    package init(connection: UInt64, isOnly: Bool) {
        self.connection = connection
        self.isOnly = isOnly
    }

    /// Returns the notice to write, for the first or a repeated attempt.
    ///
    /// - Parameters:
    ///   - session: The connection's session.
    ///   - now: The current time.
    /// - Returns: The notice. Only the position of this attempt counts; earlier attempts are ignored.
    package mutating func write(_ session: SessionID, at now: MonotonicTime) -> NoticeContent {
        self.attempt += 1
        self.writtenAt = now
        self.isConfirmed = false
        return .signedInElsewhere(
            session: session, connection: self.name, attempt: self.attempt, isOnly: self.isOnly)
    }

    /// Returns whether the notice must be written again: it was not read back in time, and the client has sent
    /// something since.
    ///
    /// A silent client may have reconnected elsewhere, and its old connection must not close the new one.
    package func isDueAgain(lastSign: MonotonicTime) -> Bool {
        !self.isConfirmed && lastSign - self.writtenAt >= Self.timeout
    }

    /// Handles the next notice to the user.
    ///
    /// - Parameters:
    ///   - content: The notice; notices other than sign-ins are ignored.
    ///   - own: This connection's session.
    /// - Returns: The reason to close this connection; nil if it stays open.
    package mutating func noticeReceived(_ content: NoticeContent, own: SessionID) -> DisconnectCode? {
        guard case .signedInElsewhere(let session, let connection, let attempt, let isOnly) = content else {
            return nil
        }
        if connection == self.name {
            if attempt == self.attempt { self.isConfirmed = true }
            return nil
        }
        guard self.isConfirmed else { return nil }
        if session == own { return .replaced }
        return isOnly && self.isOnly ? .kickedOffline : nil
    }

    /// Returns whether another device ended a session while it was disconnected: the latest one-device sign-in that it
    /// missed belongs to another session.
    ///
    /// - Parameters:
    ///   - missed: The user's notices after the last one that the session received.
    ///   - own: The session.
    /// - Returns: True if the client must not reconnect without its user's action.
    package static func wasEnded(_ missed: [Notice], own: SessionID) -> Bool {
        for notice in missed.reversed() {
            if case .signedInElsewhere(let session, _, _, isOnly: true) = notice.content { return session != own }
        }
        return false
    }

    /// The connection's identifier as it is written in notices.
    private var name: String { String(self.connection, radix: 36) }
}

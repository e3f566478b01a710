// SPDX-License-Identifier: Apache-2.0
package import CoreKit
package import PlazaModel

/// One connection's sign-in as all gateways see it: of a session's connections, and where an app allows one device of a
/// user's, the one whose sign-in stands last among the user's notices counts, and the others are over (reference 2,
/// kickedOffline).
///
/// A sign-in is written as a notice and counts from where that notice stands. So all gateways come to the same end,
/// whichever order they hear of logins in: two that log in at once do not end each other, and none is ended by a sign-in
/// that stands before its own. A session that a gateway has just named needs no notice, for nobody else can know it yet:
/// any sign-in of it is a later one.
package struct SignIn: Hashable, Sendable {
    /// How long the own notice may take until it is written again: longer than a record waits for the broker, so that the
    /// one before has come to its place by then, or never will.
    package static let patience = Milliseconds.seconds(6)

    /// Tells this connection from all others of all gateways.
    private let connection: UInt64
    /// Whether the app allows the user one device.
    private let isOnly: Bool
    /// How often it was written; 0: it need not be.
    private var attempt = 0
    /// When it was last written.
    private var writtenAt = Timestamp(milliseconds: 0)
    /// Whether the sign-in has its place among the notices: from there on another ends this connection.
    private var stands = true

    /// A connection whose session nobody else knows yet; `write` makes one of a session that may have others.
    ///
    /// - Parameters:
    ///   - connection: unforeseeable bits.
    ///   - isOnly: whether the user's other sessions end.
    package init(connection: UInt64, isOnly: Bool) {
        self.connection = connection
        self.isOnly = isOnly
    }

    /// The sign-in is about to be written (again).
    ///
    /// - Parameters:
    ///   - session: whose it is.
    ///   - now: the time.
    /// - Returns: the notice; the connection counts from where this one stands, not from where an earlier one does.
    package mutating func write(_ session: SessionID, at now: Timestamp) -> NoticeContent {
        self.attempt += 1
        self.writtenAt = now
        self.stands = false
        return .signedInElsewhere(
            session: session, connection: self.name, attempt: self.attempt, isOnly: self.isOnly)
    }

    /// Whether the notice should be written again: it has not come back, and the client was heard from after that.
    ///
    /// A silent one may be going on elsewhere already, and must not end its own later connection.
    package func isDueAgain(lastSign: Timestamp) -> Bool { !self.stands && lastSign - self.writtenAt >= Self.patience }

    /// A sign-in of the user stands next among its notices.
    ///
    /// - Parameters:
    ///   - content: the notice; any other than a sign-in says nothing.
    ///   - own: this connection's session.
    /// - Returns: why this connection is over, if it is.
    package mutating func heard(_ content: NoticeContent, own: SessionID) -> DisconnectCode? {
        guard case .signedInElsewhere(let session, let connection, let attempt, let isOnly) = content else {
            return nil
        }
        if connection == self.name {
            if attempt == self.attempt { self.stands = true }
            return nil
        }
        guard self.stands else { return nil }
        if session == own { return .replaced }
        return isOnly && self.isOnly ? .kickedOffline : nil
    }

    /// Whether a session that comes back was ended while it was away: the last sign-in that it missed is another's.
    ///
    /// - Parameters:
    ///   - missed: the user's notices since the last one that the session has.
    ///   - own: the session.
    /// - Returns: whether it must not come back by itself.
    package static func wasEnded(_ missed: [Notice], own: SessionID) -> Bool {
        for notice in missed.reversed() {
            if case .signedInElsewhere(let session, _, _, isOnly: true) = notice.content { return session != own }
        }
        return false
    }

    /// The connection's name in notices.
    private var name: String { String(self.connection, radix: 36) }
}

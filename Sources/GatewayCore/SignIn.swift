// SPDX-License-Identifier: Apache-2.0
package import CoreKit
package import PlazaModel

/// One connection's part in an app that allows a user one device: the sign-in that stands last among the user's notices
/// counts, and the others are over (reference 2, kickedOffline).
///
/// Each sign-in is written as a notice and counts from where that notice stands. So all gateways come to the same end,
/// whichever order they hear of logins in, and two devices that log in at once do not end each other.
package struct SignIn: Hashable, Sendable {
    /// How long the own notice may take before it is written again.
    package static let patience = Milliseconds.seconds(2)

    /// When it was last written; nil: the app allows several devices.
    private var writtenAt: Timestamp?
    /// Whether the own notice has come back: from there on another ends this one.
    private var stands = false

    /// A connection of an app that allows several devices.
    package init() {}

    /// The notice of this sign-in was written.
    package mutating func written(at now: Timestamp) { self.writtenAt = now }

    /// Whether the own notice should be written again, for it has not come back.
    package func isDueAgain(at now: Timestamp) -> Bool {
        guard let writtenAt = self.writtenAt, !self.stands else { return false }
        return now - writtenAt >= Self.patience
    }

    /// A sign-in of the user stands next among its notices.
    ///
    /// - Parameters:
    ///   - session: which one.
    ///   - own: this connection's.
    /// - Returns: whether this connection is over.
    package mutating func heard(_ session: SessionID, own: SessionID) -> Bool {
        if session == own {
            self.stands = true
            return false
        }
        return self.stands
    }

    /// Whether a session that comes back was ended while it was away: the last sign-in that it missed is another's.
    ///
    /// - Parameters:
    ///   - missed: the user's notices since the last one that the session has.
    ///   - own: the session.
    /// - Returns: whether it must not come back by itself.
    package static func wasEnded(_ missed: [Notice], own: SessionID) -> Bool {
        for notice in missed.reversed() {
            if case .signedInElsewhere(let session) = notice.content { return session != own }
        }
        return false
    }
}

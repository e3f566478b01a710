// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel

/// The live that a client is in, and what the client needs to resume it.
struct JoinedLive: Sendable {
    let live: LiveID
    /// The ticket of the last join or resume.
    var ticket: Ticket
    /// The position at which the live's feed begins for this client, from the reply to its join.
    ///
    /// It is used only until the first feed frame is received, which has a later token.
    var startToken: FeedToken?

    /// Where the next connection continues in the live.
    func resumePoint(after lastToken: FeedToken?) -> ResumePoint {
        let token = lastToken ?? self.startToken ?? FeedToken(FeedPosition(epoch: 0, number: 0))
        return ResumePoint(live: self.live, ticket: self.ticket, position: token.position, token: token.text)
    }

    /// Whether a notice says that this client was kicked out of the live.
    func isKickedOut(by notice: Notice) -> Bool {
        guard case .kickedOut = notice.content, notice.live == self.live else { return false }
        // A client whose ticket is not below the floor joined after the kick, or the kick removed another device of
        // the user.
        guard let lowestValidTicket = notice.floor else { return true }
        return self.ticket < lowestValidTicket
    }
}

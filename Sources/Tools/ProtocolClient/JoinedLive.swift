// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel

/// The live that a client is in, and what the client needs to resume it.
struct JoinedLive: Sendable {
    let live: LiveID
    /// The ticket of the last join or resume; the server gives each join a higher ticket.
    var ticket: Ticket
    /// The position at which the live's feed begins for this client, from the reply to its join.
    ///
    /// A resume uses it only before the first feed frame, because each feed frame has a later token.
    var startToken: FeedToken?

    /// Returns the point at which the next connection continues in the live's feed.
    ///
    /// `lastToken` is the token of the last feed frame; nil if none was received. Without any token the position has
    /// the epoch 0, which stands for a client without a position.
    func resumePoint(after lastToken: FeedToken?) -> ResumePoint {
        let token = lastToken ?? self.startToken ?? FeedToken(FeedPosition(epoch: 0, number: 0))
        return ResumePoint(live: self.live, ticket: self.ticket, position: token.position, token: token.text)
    }

    /// Whether a notice says that this client was kicked out of the live.
    func isKickedOut(by notice: Notice) -> Bool {
        guard case .kickedOut = notice.content, notice.live == self.live else { return false }
        // The floor is the lowest ticket that is valid after the kick. A client with a valid ticket joined after the
        // kick, or the kick removed another device of its user.
        guard let lowestValidTicket = notice.floor else { return true }
        return self.ticket < lowestValidTicket
    }
}

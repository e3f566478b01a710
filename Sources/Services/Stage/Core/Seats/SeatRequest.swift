// SPDX-License-Identifier: Apache-2.0
package import MachineKit
package import PlazaModel

/// An open request about a seat: an application of a guest, or an invitation by a host.
///
/// A request ends exactly once (I13, docs/RULES.md): it is accepted, rejected or cancelled, it times out, or it becomes
/// void because the guest has taken a seat, the guest or the inviting host has left the live, or the live has ended.
package struct SeatRequest: Equatable, Sendable, Codable {
    /// Whether the guest or a host made the request.
    package enum Kind: Equatable, Sendable, Codable {
        /// A guest applies to the hosts.
        case application
        /// A host invites the guest.
        case invitation(host: UserInfo)
    }

    package var kind: Kind
    /// The user who sits down if the request is accepted.
    package var guest: UserInfo
    /// The requested seat; `SeatStage.anySeat` means any free seat.
    package var seatIndex: Int
    package var expiresAt: Timestamp

    var isApplication: Bool { self.kind == .application }

    /// The host who made the invitation; nil for an application.
    var host: UserInfo? {
        if case .invitation(let host) = self.kind { host } else { nil }
    }
}

/// The open requests of one live, or one page of them, in the order in which they were made.
///
/// A live has at most `Limits.openSeatRequests` open requests.
package struct SeatRequests: Equatable, Sendable, Codable {
    /// The open requests, oldest first.
    package private(set) var open: [SeatRequest] = []
    /// In the first of several pages, the number of pages over which the requests are split; otherwise nil.
    private(set) var pageCount: Int?
    /// When the next open request times out; nil without open requests.
    ///
    /// The time is stored instead of computed, because every input reads it.
    package private(set) var due: Timestamp?

    init(_ open: [SeatRequest] = [], pageCount: Int? = nil) {
        self.open = open
        self.pageCount = pageCount
        self.updateDue()
    }

    private enum CodingKeys: String, CodingKey {
        case open
        case pageCount = "pages"
    }

    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.open = try values.decode([SeatRequest].self, forKey: .open)
        self.pageCount = try values.decodeIfPresent(Int.self, forKey: .pageCount)
        self.updateDue()
    }

    /// The index of the open application of `guest`.
    func applicationIndex(of guest: UserID) -> Int? {
        self.open.firstIndex { $0.isApplication && $0.guest.userID == guest }
    }

    /// The index of the open invitation of `guest` by `host`.
    func invitationIndex(of guest: UserID, by host: UserID) -> Int? {
        self.open.firstIndex { $0.guest.userID == guest && $0.host?.userID == host }
    }

    mutating func append(_ request: SeatRequest) {
        self.open.append(request)
        self.due = min(self.due ?? request.expiresAt, request.expiresAt)
    }

    @discardableResult
    mutating func remove(at index: Int) -> SeatRequest {
        let request = self.open.remove(at: index)
        self.updateDue()
        return request
    }

    /// Removes all requests for which `hasEnded` is true; returns them in the order in which they were made.
    mutating func removeAll(where hasEnded: (SeatRequest) -> Bool) -> [SeatRequest] {
        let ended = self.open.filter(hasEnded)
        if ended.isEmpty { return [] }
        self.open.removeAll(where: hasEnded)
        self.updateDue()
        return ended
    }

    /// Replaces the profile of `user` in every request whose guest or host is the user.
    mutating func updateProfile(_ user: UserInfo) {
        for index in self.open.indices {
            if self.open[index].guest.userID == user.userID { self.open[index].guest = user }
            if self.open[index].host?.userID == user.userID { self.open[index].kind = .invitation(host: user) }
        }
    }

    private mutating func updateDue() { self.due = self.open.lazy.map(\.expiresAt).min() }
}

// SPDX-License-Identifier: Apache-2.0
package import CoreKit
package import PlazaModel

/// An open question about a seat: a guest applied, or a host invited.
///
/// It ends exactly once (I13): accepted, rejected, cancelled, timed out, or void because the guest sits or is gone.
package struct SeatRequest: Equatable, Sendable, Codable {
    /// Who asked whom.
    package enum Kind: Equatable, Sendable, Codable {
        /// The guest asks the hosts.
        case application
        /// The host asks the guest.
        case invitation(host: UserInfo)
    }

    package var kind: Kind
    /// Who would sit.
    package var guest: UserInfo
    /// The seat in question; -1: any.
    package var seatIndex: Int
    package var expiresAt: Timestamp

    var isApplication: Bool { self.kind == .application }

    var host: UserInfo? {
        if case .invitation(let host) = self.kind { host } else { nil }
    }
}

/// The open requests of one live, in the order in which they were made; at most `Limits.openSeatRequests`.
package struct SeatRequests: Equatable, Sendable, Codable {
    package private(set) var open: [SeatRequest] = []
    /// When the first of them times out; looked at with every input, so it is kept.
    package private(set) var due: Timestamp?

    init() {}

    private enum CodingKeys: String, CodingKey { case open }

    package init(from decoder: any Decoder) throws {
        self.open = try decoder.container(keyedBy: CodingKeys.self).decode([SeatRequest].self, forKey: .open)
        self.findDue()
    }

    func application(of guest: UserID) -> Int? {
        self.open.firstIndex { $0.isApplication && $0.guest.userID == guest }
    }

    func invitation(of guest: UserID, by host: UserID) -> Int? {
        self.open.firstIndex { $0.guest.userID == guest && $0.host?.userID == host }
    }

    mutating func append(_ request: SeatRequest) {
        self.open.append(request)
        self.due = min(self.due ?? request.expiresAt, request.expiresAt)
    }

    @discardableResult
    mutating func remove(at index: Int) -> SeatRequest {
        let request = self.open.remove(at: index)
        self.findDue()
        return request
    }

    /// Takes out all requests that `isOver` picks, in their order.
    mutating func take(where isOver: (SeatRequest) -> Bool) -> [SeatRequest] {
        let over = self.open.filter(isOver)
        if over.isEmpty { return [] }
        self.open.removeAll(where: isOver)
        self.findDue()
        return over
    }

    /// Shows `user` otherwise, whoever asks or is asked.
    mutating func rename(_ user: UserInfo) {
        for index in self.open.indices {
            if self.open[index].guest.userID == user.userID { self.open[index].guest = user }
            if self.open[index].host?.userID == user.userID { self.open[index].kind = .invitation(host: user) }
        }
    }

    private mutating func findDue() { self.due = self.open.lazy.map(\.expiresAt).min() }
}

/// How long a request may stay open.
enum RequestTimeout {
    /// The end of a request made at `now`; 0 seconds stands for the default.
    static func expiry(of seconds: Int64, from now: Timestamp) throws(ReplyError) -> Timestamp {
        if seconds == 0 { return now + .seconds(Limits.defaultRequestTimeoutSeconds) }
        guard Limits.requestTimeoutSeconds.contains(seconds) else {
            throw ReplyError(.badParameter, "a timeout is 1 to 1800 seconds")
        }
        return now + .seconds(seconds)
    }

    static func check(extraInfo: String) throws(ReplyError) {
        guard extraInfo.utf8.count <= Limits.extraInfoBytes else {
            throw ReplyError(.badParameter, "extra info has at most \(Limits.extraInfoBytes) bytes")
        }
    }
}

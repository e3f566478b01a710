// SPDX-License-Identifier: Apache-2.0
import CoreKit
import PlazaModel

/// Applications and invitations (reference 6). Each ends exactly once (I13): whoever ends one takes it out first.
extension SeatStep {
    mutating func apply(
        seatIndex: Int, timeoutSeconds: Int64, extraInfo: String, _ caller: Caller
    ) throws(ReplyError) -> SeatFate.Result {
        let expiresAt = try RequestTimeout.expiry(of: timeoutSeconds, from: self.moment.now)
        try RequestTimeout.check(extraInfo: extraInfo)
        let index = try self.seat(for: caller, seatIndex)
        if self.stage.mode == .free {
            self.sit(caller.user, at: index)
            return .seat(index: index)
        }
        if let open = self.requests.application(of: caller.userID) {
            throw self.requests.open[open].seatIndex == seatIndex
                ? ReplyError(.requestRepeated, "your application is open already")
                : ReplyError(.requestConflict, "you have an open application for another seat")
        }
        try self.open(
            SeatRequest(kind: .application, guest: caller.user, seatIndex: seatIndex, expiresAt: expiresAt))
        self.notifyHosts(
            besides: caller.userID,
            content: .applicationReceived(
                guest: caller.user, seatIndex: seatIndex, expiresAt: expiresAt, extraInfo: extraInfo))
        return .seat(index: nil)
    }

    mutating func cancelApplication(_ caller: Caller) throws(ReplyError) -> SeatFate.Result {
        guard caller.role == .user, let index = self.requests.application(of: caller.userID) else {
            throw ReplyError(.failed, "you have no open application")
        }
        self.requests.remove(at: index)
        self.notifyHosts(besides: caller.userID, content: .applicationCancelled(guest: caller.user))
        return .done
    }

    /// The first answer of a host ends the application; the other hosts learn of it.
    mutating func answerApplication(
        of user: UserID, accepted: Bool, _ caller: Caller
    ) throws(ReplyError) -> SeatFate.Result {
        try self.requireHost(caller)
        guard let index = self.requests.application(of: user) else {
            throw ReplyError(.requestGone, "the user has no open application")
        }
        let guest = self.requests.open[index].guest
        // A seat that was taken or locked meanwhile refuses the answer; the application stays open.
        let seat = accepted ? try self.stage.freeSeat(self.requests.open[index].seatIndex, for: user) : nil
        self.requests.remove(at: index)
        if let seat { self.sit(guest, at: seat) }
        self.notify(user, .applicationAnswered(host: caller.user, accepted: accepted))
        for host in self.stage.hosts where host != caller.userID && host != user {
            self.notify(host, .applicationProcessed(guest: guest, by: caller.user, accepted: accepted))
        }
        return accepted ? .seat(index: seat) : .done
    }

    /// First step of an invitation: all but whether the guest is in the room, for which presence vouches.
    mutating func invite(
        _ user: UserID, seatIndex: Int, timeoutSeconds: Int64, extraInfo: String, _ caller: Caller
    ) throws(ReplyError) -> SeatFate.Result {
        try self.checkInvitation(
            of: user, seatIndex: seatIndex, timeoutSeconds: timeoutSeconds, extraInfo: extraInfo, caller)
        let offer = SeatOffer.invitation(
            seatIndex: seatIndex, timeoutSeconds: timeoutSeconds, extraInfo: extraInfo)
        return self.passOn(offer, to: user, caller)
    }

    /// First step of a placement.
    mutating func offerPlace(
        to user: UserID, seatIndex: Int, _ caller: Caller
    ) throws(ReplyError) -> SeatFate.Result {
        try self.requireServer(caller)
        try self.requireUnseated(user)
        _ = try self.stage.freeSeat(seatIndex, for: user)
        return self.passOn(.placement(seatIndex: seatIndex), to: user, caller)
    }

    private mutating func passOn(_ offer: SeatOffer, to user: UserID, _ caller: Caller) -> SeatFate.Result {
        self.effects.append(
            .audience(AudienceInput(self.stage.key, .vouchGuest(user: user, offer: offer, caller: caller))))
        return .passedOn
    }

    /// Second step: the guest is in the room, and the caller's right and the seat are looked at again.
    mutating func vouched(
        _ guest: UserInfo, _ offer: SeatOffer, _ caller: Caller
    ) throws(ReplyError) -> SeatFate.Result {
        switch offer {
        case .placement(let seatIndex): return try self.place(guest, at: seatIndex, caller)
        case .invitation(let seatIndex, let timeoutSeconds, let extraInfo):
            let expiresAt = try self.checkInvitation(
                of: guest.userID, seatIndex: seatIndex, timeoutSeconds: timeoutSeconds, extraInfo: extraInfo, caller)
            try self.open(
                SeatRequest(
                    kind: .invitation(host: caller.user), guest: guest, seatIndex: seatIndex, expiresAt: expiresAt))
            self.notify(
                guest.userID,
                .invitationReceived(
                    host: caller.user, seatIndex: seatIndex, expiresAt: expiresAt, extraInfo: extraInfo))
            return .done
        }
    }

    @discardableResult
    private func checkInvitation(
        of user: UserID, seatIndex: Int, timeoutSeconds: Int64, extraInfo: String, _ caller: Caller
    ) throws(ReplyError) -> Timestamp {
        try self.requireHost(caller)
        let expiresAt = try RequestTimeout.expiry(of: timeoutSeconds, from: self.moment.now)
        try RequestTimeout.check(extraInfo: extraInfo)
        guard user != caller.userID else { throw ReplyError(.badParameter, "a host does not invite itself") }
        try self.requireUnseated(user)
        _ = try self.stage.freeSeat(seatIndex, for: user)
        guard self.requests.invitation(of: user, by: caller.userID) == nil else {
            throw ReplyError(.requestConflict, "you have an open invitation to the user")
        }
        return expiresAt
    }

    /// What waits for an answer: a host that enters late reads it here.
    func openRequests(_ caller: Caller) throws(ReplyError) -> CallResult {
        try self.requireHost(caller)
        var applications: [OpenApplication] = []
        var invitations: [OpenInvitation] = []
        for request in self.requests.open {
            switch request.kind {
            case .application:
                applications.append(
                    OpenApplication(
                        guest: request.guest, seatIndex: request.seatIndex, expiresAt: request.expiresAt))
            case .invitation(let host):
                invitations.append(
                    OpenInvitation(
                        guest: request.guest, host: host, seatIndex: request.seatIndex,
                        expiresAt: request.expiresAt))
            }
        }
        return .seatRequests(applications: applications, invitations: invitations)
    }

    /// By the inviter alone, also after it is no admin any more.
    mutating func cancelInvitation(of user: UserID, _ caller: Caller) throws(ReplyError) -> SeatFate.Result {
        guard let index = self.requests.invitation(of: user, by: caller.userID) else {
            throw ReplyError(.failed, "you have no open invitation to the user")
        }
        self.requests.remove(at: index)
        self.notify(user, .invitationCancelled(host: caller.user))
        return .done
    }

    mutating func answerInvitation(
        by host: UserID, accepted: Bool, _ caller: Caller
    ) throws(ReplyError) -> SeatFate.Result {
        try self.requireUser(caller)
        guard let index = self.requests.invitation(of: caller.userID, by: host) else {
            throw ReplyError(.failed, "the user has no open invitation to you")
        }
        let seat =
            accepted ? try self.stage.freeSeat(self.requests.open[index].seatIndex, for: caller.userID) : nil
        self.requests.remove(at: index)
        if let seat { self.sit(caller.user, at: seat) }
        self.notify(host, .invitationAnswered(guest: caller.user, accepted: accepted))
        return accepted ? .seat(index: seat) : .done
    }

    private mutating func open(_ request: SeatRequest) throws(ReplyError) {
        guard self.requests.open.count < Limits.openSeatRequests else {
            throw ReplyError(
                .overloaded, "a live has at most \(Limits.openSeatRequests) open requests", retryAfter: 1000)
        }
        self.requests.append(request)
    }

    // MARK: - Ends that nobody asked for

    mutating func expireRequests() {
        let now = self.moment.now
        for request in self.requests.take(where: { $0.expiresAt <= now }) {
            switch request.kind {
            case .application:
                self.notify(request.guest.userID, .applicationNoResponse(reason: .timeout))
                self.notifyHosts(
                    besides: request.guest.userID, content: .applicationTimedOut(guest: request.guest))
            case .invitation(let host):
                self.notify(host.userID, .invitationNoResponse(guest: request.guest, reason: .timeout))
                self.notify(request.guest.userID, .invitationTimedOut(host: host))
            }
        }
    }

    /// A guest who sits needs no answer any more.
    mutating func endRequests(ofSeated guest: UserInfo) {
        for request in self.requests.take(where: { $0.guest.userID == guest.userID }) {
            switch request.kind {
            case .application:
                self.notify(guest.userID, .applicationNoResponse(reason: .alreadySeated))
                self.notifyHosts(besides: guest.userID, content: .applicationCancelled(guest: guest))
            case .invitation(let host):
                self.notify(host.userID, .invitationNoResponse(guest: guest, reason: .alreadySeated))
                self.notify(guest.userID, .invitationCancelled(host: host))
            }
        }
    }

    /// To the hosts a guest who goes has cancelled its application and declined its invitations; a host who goes has
    /// cancelled those that it made.
    mutating func endRequests(ofGone user: UserID) {
        for request in self.requests.take(where: { $0.guest.userID == user || $0.host?.userID == user }) {
            switch request.kind {
            case .application:
                self.notifyHosts(besides: user, content: .applicationCancelled(guest: request.guest))
            case .invitation(let host) where host.userID == user:
                self.notify(request.guest.userID, .invitationCancelled(host: host))
            case .invitation(let host):
                self.notify(host.userID, .invitationAnswered(guest: request.guest, accepted: false))
            }
        }
    }
}

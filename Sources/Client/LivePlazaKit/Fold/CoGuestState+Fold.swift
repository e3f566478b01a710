// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel

extension CoGuestState {
    /// Applies an input to the state, and adds the resulting events to `context`.
    mutating func reduce(_ input: FoldInput, _ context: inout FoldContext) {
        switch input {
        case .notice(let content, _):
            // A notice leads to its event even if a snapshot (a read of the requests) already contains its change.
            let previousState = self
            self.reduceForHosts(content, &context)
            if context.coveringSnapshots.contains(.seatRequests) { self = previousState }
            Self.addGuestEvent(for: content, to: &context)
        case .snapshot(.seatRequests(let applications, let invitations, _)):
            self.applicants = applications.map { LiveUserInfo($0.guest) }
            let invitees = invitations.filter { $0.host.userID == context.selfID }.map { LiveUserInfo($0.guest) }
            self.invitees = context.withUnconfirmed(invitees, shown: self.invitees) { .ownInvitation($0.userID) }
        case .local(let change): self.reduce(change, context)
        default: break
        }
        if let record = context.newStage {
            self.connected = record.seats.compactMap { seat in seat.occupant.map { SeatUserInfo($0) } }
        }
        // A user who has taken a seat is no longer invited. An application may have been accepted by another device of
        // this user. A viewer, such as a former admin, sees no requests of other users.
        self.invitees.removeAll { invitee in self.connected.contains { $0.userID == invitee.userID } }
        self.applicants.removeAll { context.listedRequests.isAccepted(.application($0.userID)) }
        if !context.isHost { (self.applicants, self.invitees) = ([], []) }
        // A viewer can be invited who has no seat and is not invited already.
        let seatedOrInvited = Set(self.connected.map(\.userID) + self.invitees.map(\.userID))
        let candidates = context.states.audience.audienceList.filter { !seatedOrInvited.contains($0.userID) }
        if candidates != self.candidates { self.candidates = candidates }
    }

    private mutating func reduceForHosts(_ content: NoticeContent, _ context: inout FoldContext) {
        switch content {
        // The event of a new application comes from `AnnouncedRequests`.
        case .applicationReceived(let guest, _, _, _):
            self.applicants = self.applicants.without(guest.userID.text) + [LiveUserInfo(guest)]
        case .applicationCancelled(let guest):
            context.events.append(.host(.onGuestApplicationCancelled(guestUser: LiveUserInfo(guest))))
            self.applicants = self.applicants.without(guest.userID.text)
        // Hosts get no event when an application times out.
        case .applicationTimedOut(let guest): self.applicants = self.applicants.without(guest.userID.text)
        case .applicationProcessed(let guest, let host, _):
            context.events.append(
                .host(
                    .onGuestApplicationProcessedByOtherHost(
                        guestUser: LiveUserInfo(guest), hostUser: LiveUserInfo(host))))
            self.applicants = self.applicants.without(guest.userID.text)
        case .invitationAnswered(let guest, let accepted):
            context.events.append(
                .host(.onHostInvitationResponded(isAccept: accepted, guestUser: LiveUserInfo(guest))))
            self.invitees = self.invitees.without(guest.userID.text)
        case .invitationNoResponse(let guest, let reason):
            context.events.append(
                .host(.onHostInvitationNoResponse(guestUser: LiveUserInfo(guest), reason: NoResponseReason(reason))))
            self.invitees = self.invitees.without(guest.userID.text)
        default: break
        }
    }

    /// Adds the event of a notice to a viewer or guest; such a notice changes no state.
    private static func addGuestEvent(for content: NoticeContent, to context: inout FoldContext) {
        // The notice of a new invitation is handled by `AnnouncedRequests`.
        let event: GuestEvent? =
            switch content {
            case .invitationCancelled(let host), .invitationTimedOut(let host):
                .onHostInvitationCancelled(hostUser: LiveUserInfo(host))
            case .applicationAnswered(let host, let accepted):
                .onGuestApplicationResponded(isAccept: accepted, hostUser: LiveUserInfo(host))
            case .applicationNoResponse(let reason): .onGuestApplicationNoResponse(reason: NoResponseReason(reason))
            case .kickedOffSeat(let seat, let host): .onKickedOffSeat(seatIndex: seat, hostUser: LiveUserInfo(host))
            default: nil
            }
        if let event { context.events.append(.guest(event)) }
    }

    private mutating func reduce(_ change: LocalChange, _ context: FoldContext) {
        switch change {
        case .applicationAnswered(let user): self.applicants = self.applicants.without(user)
        case .invited(let user):
            let guest = context.states.audience.audienceList.first { $0.userID == user } ?? LiveUserInfo(userID: user)
            self.invitees = self.invitees.without(user) + [guest]
        case .invitationCancelled(let user): self.invitees = self.invitees.without(user)
        default: break
        }
    }
}

extension NoResponseReason {
    init(_ reason: PlazaModel.NoResponseReason) {
        switch reason {
        case .timeout: self = .timeout
        case .alreadySeated: self = .alreadySeated
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel

extension CoHostState {
    /// Applies an input to the state, and adds the resulting events to `context`.
    mutating func reduce(_ input: FoldInput, _ context: inout FoldContext) {
        switch input {
        case .notice(let content, _):
            // A notice leads to its event even if a snapshot (a read of the requests) already contains its change.
            let previousState = self
            self.reduce(content, &context)
            if context.coveringSnapshots.contains(.coHostRequests) { self = previousState }
        case .snapshot(.coHostRequests(let sent, let received, _)):
            let invitees = sent.map { SeatUserInfo($0.invitee) }
            self.invitees = context.withUnconfirmed(invitees, shown: self.invitees) { .ownCoHost($0.liveID) }
            self.applicant = received.last.map { SeatUserInfo($0.inviter) }
        case .local(.coHostRequested(let lives)):
            for live in lives where !self.invitees.contains(where: { $0.liveID == live }) {
                self.invitees.append(self.knownHost(of: live))
            }
        case .local(.coHostRequestEnded(let inviter, let invitee)):
            self.removeRequest(inviter: inviter, invitee: invitee, ownLive: context.liveID)
        case .snapshot(.candidates(let items, let cursor, let isFirst)):
            self.showCandidates(items, cursor: cursor, isFirst: isFirst)
        default: break
        }
        if let record = context.newStage { self.show(record.connection, ownLive: context.liveID) }
        // Another device of this user may have accepted the request.
        if let applicant = self.applicant, context.listedRequests.isAccepted(.coHost(applicant.liveID)) {
            self.applicant = nil
        }
        for event in context.states.stage.events {
            switch event {
            case .coHostJoined(let member):
                context.events.append(.coHost(.onCoHostUserJoined(userInfo: SeatUserInfo(member))))
            case .coHostLeft(let member):
                context.events.append(.coHost(.onCoHostUserLeft(userInfo: SeatUserInfo(member))))
            default: break
            }
        }
    }

    private mutating func reduce(_ content: NoticeContent, _ context: inout FoldContext) {
        switch content {
        // The event of a new request comes from `AnnouncedRequests`.
        case .coHostRequestReceived(let inviter, _, _): self.applicant = SeatUserInfo(inviter)
        case .coHostRequestCancelled(let inviter, let invitee, let inviteeMember):
            let inviter = SeatUserInfo(inviter)
            let inviteeInfo = inviteeMember.map { SeatUserInfo($0) } ?? self.knownHost(of: invitee.text)
            context.events.append(.coHost(.onCoHostRequestCancelled(inviter: inviter, invitee: inviteeInfo)))
            self.removeRequest(inviter: inviter.liveID, invitee: invitee.text, ownLive: context.liveID)
        case .coHostRequestAccepted(let invitee):
            context.events.append(.coHost(.onCoHostRequestAccepted(invitee: SeatUserInfo(invitee))))
            self.removeRequest(inviter: context.liveID.text, invitee: invitee.live.text, ownLive: context.liveID)
        case .coHostRequestRejected(let invitee):
            context.events.append(.coHost(.onCoHostRequestRejected(invitee: SeatUserInfo(invitee))))
            self.removeRequest(inviter: context.liveID.text, invitee: invitee.live.text, ownLive: context.liveID)
        case .coHostRequestTimedOut(let inviter, let invitee, let inviterMember, let inviteeMember):
            let inviterInfo = inviterMember.map { SeatUserInfo($0) } ?? self.knownHost(of: inviter.text)
            let inviteeInfo = inviteeMember.map { SeatUserInfo($0) } ?? self.knownHost(of: invitee.text)
            context.events.append(.coHost(.onCoHostRequestTimeout(inviter: inviterInfo, invitee: inviteeInfo)))
            self.removeRequest(inviter: inviter.text, invitee: invitee.text, ownLive: context.liveID)
        default: break
        }
    }

    /// The host of a live, with the name and picture if a list of this state contains the host.
    private func knownHost(of live: String) -> SeatUserInfo {
        self.invitees.first { $0.liveID == live }
            ?? (self.applicant?.liveID == live ? self.applicant : nil)
            ?? self.candidates.first { $0.liveID == live }
            ?? SeatUserInfo(liveID: live)
    }

    /// Removes a request that has ended, from this live to another live or from another live to this live.
    ///
    /// `inviter` and `invitee`: the ids of the two lives.
    private mutating func removeRequest(inviter: String, invitee: String, ownLive: LiveID) {
        if inviter == ownLive.text {
            self.invitees.removeAll { $0.liveID == invitee }
        } else if self.applicant?.liveID == inviter {
            self.applicant = nil
        }
    }

    private mutating func show(_ connection: ConnectionView?, ownLive: LiveID) {
        self.connected = connection?.members.map { SeatUserInfo($0) } ?? []
        let connectedLives = Set(self.connected.map(\.liveID))
        self.coHostStatus = connectedLives.contains(ownLive.text) ? .connected : .disconnected
        self.invitees.removeAll { connectedLives.contains($0.liveID) }
        self.candidates.removeAll { connectedLives.contains($0.liveID) }
        self.mutedLives = connection?.mutedLives.map(\.text) ?? []
    }

    /// Adds a page of lives to the candidates; the first page replaces all former candidates.
    private mutating func showCandidates(_ page: [LiveListEntry], cursor: String, isFirst: Bool) {
        if isFirst { self.candidates = [] }
        let knownLives = Set(self.candidates.map(\.liveID))
        self.candidates += page.map { SeatUserInfo(host: $0.info.liveOwner, live: $0.info.liveID) }
            .filter { !knownLives.contains($0.liveID) }
        self.candidatesCursor = cursor
    }
}

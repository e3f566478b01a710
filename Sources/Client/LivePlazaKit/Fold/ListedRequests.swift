// SPDX-License-Identifier: Apache-2.0
internal import MachineKit
internal import PlazaModel

/// The open requests that the lists of a host's stores show, with the data to find that a request was accepted.
///
/// The server sends no notice to the devices of the user who answers a request. So another device of this user learns
/// from the stage that a request was accepted, and only from a read of the open requests that it was rejected (R1.26).
struct ListedRequests: Sendable {
    /// For each request, the time of the notice or snapshot that tells that the request is open.
    private var openSince: [RequestName: Timestamp] = [:]
    /// For each accepted request, when the feed first showed the user on a seat, or the lives connected.
    private var acceptedAt: [RequestName: Timestamp] = [:]

    /// Applies an input.
    ///
    /// `newStage`: the stage; nil if the input has not changed it.
    mutating func reduce(_ input: FoldInput, _ newStage: StageRecord?, live: LiveID, selfID: UserID) {
        for name in input.endedRequests {
            if let at = input.at, let since = self.openSince[name], at < since { continue }
            self.openSince[name] = nil
        }
        if case .snapshot(let snapshot) = input, let name = snapshot.name, name.hasRequests {
            self.openSince = self.openSince.filter { $0.key.snapshot != name }
        }
        for request in input.listedRequests(of: selfID) {
            self.openSince[request.name] = max(self.openSince[request.name] ?? request.openSince, request.openSince)
        }
        guard let newStage else { return }
        // A stage that a snapshot contains has no time, and leaves the requests as they are.
        let at = input.at ?? .distantPast
        let accepted = newStage.acceptedRequests(in: live)
        self.acceptedAt = self.acceptedAt.filter { accepted.contains($0.key) }
        for name in accepted where self.acceptedAt[name] == nil { self.acceptedAt[name] = at }
    }

    /// Whether the stage shows that a request of another user was accepted.
    ///
    /// A user may have left the seat and applied again, and an old stage still shows the user on the seat. So a stage
    /// that is older than the request does not count.
    func isAccepted(_ name: RequestName) -> Bool {
        guard let at = self.acceptedAt[name], at > .distantPast else { return false }
        return at >= self.openSince[name] ?? .distantPast
    }
}

/// An open request that a notice or a snapshot tells of, and that a list of a host's store shows.
struct ListedRequest: Sendable {
    let name: RequestName
    let openSince: Timestamp
    /// The time from the notice or the snapshot to the request's expiry; nil if the snapshot states no time.
    let remainingTime: Milliseconds?
}

extension FoldInput {
    /// The open requests that the input tells of, for the lists of a host's stores.
    func listedRequests(of selfID: UserID) -> [ListedRequest] {
        switch self {
        case .notice(.applicationReceived(let guest, _, let expiresAt, _), let at):
            [ListedRequest(name: .application(guest.userID.text), openSince: at, remainingTime: expiresAt - at)]
        case .notice(.coHostRequestReceived(let inviter, let expiresAt, _), let at):
            [ListedRequest(name: .coHost(inviter.live.text), openSince: at, remainingTime: expiresAt - at)]
        case .snapshot(let snapshot):
            snapshot.openRequests(of: selfID).map { name, expiresAt in
                // A request that is open in the snapshot was not accepted up to the snapshot's time.
                ListedRequest(
                    name: name, openSince: snapshot.at.map { $0 + Milliseconds(1) } ?? .distantPast,
                    remainingTime: snapshot.at.map { expiresAt - $0 })
            }
        default: []
        }
    }
}

extension Snapshot {
    /// The open requests in the snapshot that a list of a host's store shows, with their ends.
    fileprivate func openRequests(of selfID: UserID) -> [(name: RequestName, expiresAt: Timestamp)] {
        switch self {
        case .seatRequests(let applications, let invitations, _):
            applications.map { (.application($0.guest.userID.text), $0.expiresAt) }
                + invitations.filter { $0.host.userID == selfID }
                .map { (.ownInvitation($0.guest.userID.text), $0.expiresAt) }
        case .coHostRequests(let sent, let received, _):
            sent.map { (.ownCoHost($0.invitee.live.text), $0.expiresAt) }
                + received.map { (.coHost($0.inviter.live.text), $0.expiresAt) }
        default: []
        }
    }
}

extension StageRecord {
    /// The requests to the hosts of a live that have no place beside this stage: of users who sit in the live, and of
    /// lives that are connected with it.
    fileprivate func acceptedRequests(in live: LiveID) -> Set<RequestName> {
        let seated = self.seats.compactMap(\.occupant).filter { $0.live == live }
        let connected = (self.connection?.members ?? []).map(\.live)
        return Set(seated.map { .application($0.user.userID.text) })
            .union(connected.filter { $0 != live }.map { .coHost($0.text) })
    }
}

extension LiveStates {
    /// Whether a list of a host's store shows a request.
    func lists(_ name: RequestName) -> Bool {
        switch name {
        case .application(let user): self.coGuest.applicants.contains { $0.userID == user }
        case .ownInvitation(let user): self.coGuest.invitees.contains { $0.userID == user }
        case .coHost(let live): self.coHost.applicant?.liveID == live
        case .ownCoHost(let live): self.coHost.invitees.contains { $0.liveID == live }
        case .invitation, .battle, .ownApplication, .ownBattle: false
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel

/// Co-host requests (R8.1, R8.6).
///
/// Each request ends exactly once (I13, docs/RULES.md), because `endCoHostRequest` removes it and returns it only once.
///
/// A voice live is crowded if more of its seats are occupied than a connection can show.
extension ConnectionStep {
    /// Sends a co-host request to each of `targets` that can be invited, and returns a code for each target.
    mutating func sendCoHostRequests(
        from inviterID: LiveID, to targets: [LiveID], layoutTemplate: Int, timeoutSeconds: Int64,
        _ extensionInfo: String, _ caller: Caller
    ) throws(ReplyError) -> CallResult {
        let inviter = try self.live(inviterID, forOwner: caller)
        guard (1...Limits.coHostTargets).contains(targets.count) else {
            throw ReplyError(
                .badParameter, "to names \(targets.count) lives; 1 to \(Limits.coHostTargets) are possible")
        }
        let template = try CoHostTemplate.resolve(layoutTemplate, isVoice: inviter.value.isVoice)
        let expiresAt = try RequestParameters.expiry(after: timeoutSeconds, from: self.moment.now)
        try RequestParameters.check(extraInfo: extensionInfo)
        if inviter.value.isCrowded { throw Self.crowdedError("your live") }
        var limiter = inviter.value.coHostRequestLimiter
        if let wait = limiter.admitOrReturnWait(at: self.moment.now) {
            throw ReplyError(
                .connectionTooFrequent,
                "a live sends \(RequestRateLimiter.burst) co-host requests at once, then one each second",
                retryAfter: wait.count)
        }
        // The call counts for the limiter even if no target can be invited.
        self.updateLive(inviterID) { $0.coHostRequestLimiter = limiter }
        var codes: [LiveCode] = []
        for target in targets {
            let liveCode = self.codeOfCoHostRequest(to: target, from: inviterID, template: template)
            codes.append(liveCode)
            guard liveCode.code == CoHostCode.sent.rawValue else { continue }
            self.journal[.request(inviter: LiveKey(self.app, inviterID), invitee: target)] = .request(
                request: CoHostRequest(
                    inviter: inviterID, invitee: target, templateID: template, expiresAt: expiresAt,
                    extensionInfo: extensionInfo.isEmpty ? nil : extensionInfo))
            self.updateLive(inviterID) { $0.outgoing.append(target) }
            self.updateLive(target) { $0.incoming = inviterID }
            self.notifyOwner(
                of: target,
                .coHostRequestReceived(
                    inviter: self.member(inviterID), expiresAt: expiresAt, extensionInfo: extensionInfo))
        }
        return .coHost(codes: codes)
    }

    /// The result for one target: `sent` if the request can be sent; otherwise the reason why not, as a co-host code
    /// and as a reply code.
    private mutating func codeOfCoHostRequest(to target: LiveID, from inviterID: LiveID, template: Int) -> LiveCode {
        // The caller has checked that the inviter is running.
        guard target != inviterID, let inviter = self.live(inviterID) else {
            return .coHost(target, .isInviter, .badParameter)
        }
        guard let invitee = self.live(target) else { return .coHost(target, .noSuchLive, .noSuchRoom) }
        if invitee.value.isVoice != inviter.value.isVoice { return .coHost(target, .kindsDiffer, .wrongRoomKind) }
        if let connection = invitee.value.connection, connection == inviter.value.connection {
            // The co-host code does not tell a connected live from an invited one; the reply code does.
            return .coHost(target, .alreadyInvited, .alreadyConnected)
        }
        if invitee.value.incoming != nil { return .coHost(target, .alreadyInvited, .connectionPending) }
        if invitee.value.connection != nil { return .coHost(target, .connectedElsewhere, .connectedElsewhere) }
        let connection = self.connection(inviter.value.connection)
        // Without a connection, the inviter is the only member of a future one.
        let memberCount = connection?.members.count ?? 1
        let isFull = memberCount >= CoHostTemplate.capacity(of: connection?.templateID ?? template)
        if isFull || inviter.value.outgoing.count >= Limits.coHostTargets {
            return .coHost(target, .full, .connectionLimit)
        }
        return invitee.value.isCrowded ? .coHost(target, .full, .overLimit) : .coHost(target, .sent)
    }

    /// The error for a voice live with too many occupied seats: only the first six seats of a voice live can take part
    /// in a connection (R7.13).
    private static func crowdedError(_ liveText: String) -> ReplyError {
        ReplyError(
            .overLimit,
            "\(liveText) has more than \(Limits.voiceCoHostSeats) occupied seats, which is too many for a connection")
    }

    /// Cancels the open requests of `inviterID` to `targets`; targets without an open request are ignored.
    ///
    /// - Throws: `noSuchConnection` when no target has an open request.
    mutating func cancelCoHostRequests(
        from inviterID: LiveID, to targets: [LiveID], _ caller: Caller
    ) throws(ReplyError) -> CallResult {
        let inviter = try self.live(inviterID, forOwner: caller)
        guard targets.contains(where: inviter.value.outgoing.contains) else {
            throw ReplyError(.noSuchConnection, "you have no open request to any of these lives")
        }
        for target in targets where self.endCoHostRequest(from: inviterID, to: target) != nil {
            self.notifyOwner(of: target, self.coHostRequestCancelled(inviterID, target))
        }
        return .done
    }

    /// Accepts the request of `inviterID` to the caller's live `id`, which connects both lives.
    mutating func acceptCoHostRequest(
        _ id: LiveID, inviter inviterID: LiveID, _ caller: Caller
    ) throws(ReplyError) -> CallResult {
        let invitee = try self.live(id, forOwner: caller)
        guard let request = self.coHostRequest(from: inviterID, to: id), let inviter = self.live(inviterID) else {
            if let connection = invitee.value.connection, self.live(inviterID)?.value.connection == connection {
                throw ReplyError(.alreadyConnected, "the lives are connected")
            }
            throw ReplyError(.noSuchConnection, "the live has no open request to you")
        }
        guard invitee.value.connection == nil else {
            throw ReplyError(.connectedElsewhere, "your live is connected with other lives; leave them first")
        }
        let connection = self.connection(inviter.value.connection)
        let capacity = CoHostTemplate.capacity(of: connection?.templateID ?? request.templateID)
        // Without a connection, the inviter is the only member of the new one.
        let memberCount = connection?.members.count ?? 1
        if memberCount >= capacity {
            throw ReplyError(
                .connectionLimit, "the connection is full, because its layout has space for \(capacity) lives")
        }
        if invitee.value.isCrowded { throw Self.crowdedError("your live") }
        if inviter.value.isCrowded { throw Self.crowdedError("the inviting live") }
        self.endCoHostRequest(from: inviterID, to: id)
        self.connect(id, to: inviterID, templateID: request.templateID)
        self.notifyOwner(of: inviterID, .coHostRequestAccepted(invitee: self.member(id)))
        return .done
    }

    /// Rejects the request of `inviterID` to the caller's live `id`.
    mutating func rejectCoHostRequest(
        _ id: LiveID, inviter inviterID: LiveID, _ caller: Caller
    ) throws(ReplyError) -> CallResult {
        _ = try self.live(id, forOwner: caller)
        guard self.endCoHostRequest(from: inviterID, to: id) != nil else {
            throw ReplyError(.noSuchConnection, "the live has no open request to you")
        }
        self.notifyOwner(of: inviterID, .coHostRequestRejected(invitee: self.member(id)))
        return .done
    }

    /// Ends a request that has expired, and notifies both owners.
    mutating func timeOutCoHostRequest(from inviter: LiveID, to invitee: LiveID) {
        guard self.endCoHostRequest(from: inviter, to: invitee) != nil else { return }
        let notice = NoticeContent.coHostRequestTimedOut(
            inviter: inviter, invitee: invitee, inviterMember: self.member(inviter),
            inviteeMember: self.member(invitee))
        self.notifyOwner(of: inviter, notice)
        self.notifyOwner(of: invitee, notice)
    }

    /// Makes the notice that the inviter's request was cancelled or has become void; sends nothing.
    mutating func coHostRequestCancelled(_ inviter: LiveID, _ invitee: LiveID) -> NoticeContent {
        .coHostRequestCancelled(
            inviter: self.member(inviter), invitee: invitee, inviteeMember: self.member(invitee))
    }

    /// The open request of one live to another; nil when there is none.
    func coHostRequest(from inviter: LiveID, to invitee: LiveID) -> CoHostRequest? {
        let row = self.journal[.request(inviter: LiveKey(self.app, inviter), invitee: invitee)]
        if case .request(let request)? = row { return request }
        return nil
    }

    /// Removes the open request and returns it; nil when there is none.
    @discardableResult
    mutating func endCoHostRequest(from inviter: LiveID, to invitee: LiveID) -> CoHostRequest? {
        guard let request = self.coHostRequest(from: inviter, to: invitee) else { return nil }
        self.journal[.request(inviter: LiveKey(self.app, inviter), invitee: invitee)] = nil
        self.updateLive(inviter) { live in live.outgoing.removeAll { $0 == invitee } }
        self.updateLive(invitee) { $0.incoming = nil }
        return request
    }
}

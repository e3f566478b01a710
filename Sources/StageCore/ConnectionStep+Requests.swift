// SPDX-License-Identifier: Apache-2.0
import CoreKit
import PlazaModel

/// Co-host requests (reference 8). Each ends exactly once (I13): whoever ends one takes it out first.
extension ConnectionStep {
    mutating func request(
        from: LiveID, to targets: [LiveID], layoutTemplate: Int, timeoutSeconds: Int64, _ extensionInfo: String,
        _ caller: Caller
    ) throws(ReplyError) -> CallResult {
        let inviter = try self.owned(from, by: caller)
        guard (1...Limits.coHostTargets).contains(targets.count) else {
            throw ReplyError(.badParameter, "a request names 1 to \(Limits.coHostTargets) lives")
        }
        let template = try CoHostTemplate.resolve(layoutTemplate, isVoice: inviter.value.isVoice)
        let expiresAt = try RequestTimeout.expiry(of: timeoutSeconds, from: self.moment.now)
        try RequestTimeout.check(extraInfo: extensionInfo)
        if inviter.value.isCrowded { throw Self.crowded("your live") }
        var pace = inviter.value.coHostPace
        if let wait = pace.count(at: self.moment.now) {
            throw ReplyError(
                .connectionTooFrequent, "a live sends \(Pace.burst) co-host requests at once, then one each second",
                retryAfter: wait.count)
        }
        self.update(from) { $0.coHostPace = pace }
        var codes: [LiveCode] = []
        for target in targets {
            let code = self.code(forAsking: target, from: from, template: template)
            codes.append(code)
            guard code.code == ConnectionCode.sent.rawValue else { continue }
            self.journal[.request(inviter: LiveKey(self.app, from), invitee: target)] = .request(
                request: CoHostRequest(inviter: from, invitee: target, templateID: template, expiresAt: expiresAt))
            self.update(from) { $0.outgoing.append(target) }
            self.update(target) { $0.incoming = from }
            self.notify(
                target,
                .coHostRequestReceived(
                    inviter: self.member(from), expiresAt: expiresAt, extensionInfo: extensionInfo))
        }
        return .coHost(codes: codes)
    }

    private mutating func code(forAsking target: LiveID, from: LiveID, template: Int) -> LiveCode {
        guard target != from, let inviter = self.live(from) else { return .coHost(target, .unknown, .badParameter) }
        guard let invitee = self.live(target) else { return .coHost(target, .noSuchLive, .noSuchRoom) }
        if invitee.value.isVoice != inviter.value.isVoice { return .coHost(target, .kindsDiffer, .wrongRoomKind) }
        if let connection = invitee.value.connection, connection == inviter.value.connection {
            return .coHost(target, .alreadyInvited, .alreadyConnected)
        }
        if invitee.value.incoming != nil { return .coHost(target, .alreadyInvited, .connectionPending) }
        if invitee.value.connection != nil { return .coHost(target, .connectedElsewhere, .connectedElsewhere) }
        let joined = self.connection(inviter.value.connection)
        let isFull = (joined?.members.count ?? 1) >= CoHostTemplate.capacity(of: joined?.templateID ?? template)
        if isFull || inviter.value.outgoing.count >= Limits.coHostTargets {
            return .coHost(target, .full, .connectionLimit)
        }
        return invitee.value.isCrowded ? .coHost(target, .full, .overLimit) : .coHost(target, .sent)
    }

    /// In voice connections the first six seats of each live take part (reference 7).
    private static func crowded(_ whose: String) -> ReplyError {
        ReplyError(
            .overLimit, "\(whose) has more than \(Limits.voiceCoHostSeats) occupied seats: too many for a connection")
    }

    mutating func cancelRequest(
        from: LiveID, to targets: [LiveID], _ caller: Caller
    ) throws(ReplyError) -> CallResult {
        let inviter = try self.owned(from, by: caller)
        guard targets.contains(where: inviter.value.outgoing.contains) else {
            throw ReplyError(.noSuchConnection, "none of these lives has an open request of yours")
        }
        for target in targets where self.endRequest(from, target) != nil {
            self.notify(target, .coHostRequestCancelled(inviter: self.member(from), invitee: target))
        }
        return .done
    }

    mutating func accept(
        _ id: LiveID, inviter inviterID: LiveID, _ caller: Caller
    ) throws(ReplyError) -> CallResult {
        let invitee = try self.owned(id, by: caller)
        guard let request = self.request(inviterID, id), let inviter = self.live(inviterID) else {
            if let connection = invitee.value.connection, self.live(inviterID)?.value.connection == connection {
                throw ReplyError(.alreadyConnected, "the lives are connected")
            }
            throw ReplyError(.noSuchConnection, "the live has no open request to you")
        }
        guard invitee.value.connection == nil else {
            throw ReplyError(.connectedElsewhere, "you are connected with others")
        }
        let joined = self.connection(inviter.value.connection)
        let capacity = CoHostTemplate.capacity(of: joined?.templateID ?? request.templateID)
        if (joined?.members.count ?? 1) >= capacity {
            throw ReplyError(.connectionLimit, "the connection is full: its layout takes \(capacity) lives")
        }
        if invitee.value.isCrowded { throw Self.crowded("your live") }
        if inviter.value.isCrowded { throw Self.crowded("the live that asks") }
        self.endRequest(inviterID, id)
        self.connect(id, to: inviterID, templateID: request.templateID)
        self.notify(inviterID, .coHostRequestAccepted(invitee: self.member(id)))
        return .done
    }

    mutating func reject(
        _ id: LiveID, inviter inviterID: LiveID, _ caller: Caller
    ) throws(ReplyError) -> CallResult {
        _ = try self.owned(id, by: caller)
        guard self.endRequest(inviterID, id) != nil else {
            throw ReplyError(.noSuchConnection, "the live has no open request to you")
        }
        self.notify(inviterID, .coHostRequestRejected(invitee: self.member(id)))
        return .done
    }

    mutating func requestTimedOut(_ inviter: LiveID, _ invitee: LiveID) {
        guard self.endRequest(inviter, invitee) != nil else { return }
        self.notify(inviter, .coHostRequestTimedOut(inviter: inviter, invitee: invitee))
        self.notify(invitee, .coHostRequestTimedOut(inviter: inviter, invitee: invitee))
    }

    /// The open request of one live to another.
    private func request(_ inviter: LiveID, _ invitee: LiveID) -> CoHostRequest? {
        let row = self.journal[.request(inviter: LiveKey(self.app, inviter), invitee: invitee)]
        if case .request(let request)? = row { return request }
        return nil
    }

    /// Takes the open request out and returns it; nil: there is none.
    @discardableResult
    mutating func endRequest(_ inviter: LiveID, _ invitee: LiveID) -> CoHostRequest? {
        guard let request = self.request(inviter, invitee) else { return nil }
        self.journal[.request(inviter: LiveKey(self.app, inviter), invitee: invitee)] = nil
        self.update(inviter) { $0.outgoing.removeAll { $0 == invitee } }
        self.update(invitee) { $0.incoming = nil }
        return request
    }
}

// SPDX-License-Identifier: Apache-2.0
import CoreKit
import PlazaModel

/// Co-host requests (reference 8). Each ends exactly once (I13): whoever ends one takes it out first.
extension ConnectionStep {
    mutating func request(
        from: LiveID, to targets: [LiveID], layoutTemplate: Int, timeoutSeconds: Int64, _ extensionInfo: String,
        _ caller: Caller
    ) throws(ReplyError) -> CallResult {
        let isVoice = try self.owned(from, by: caller).isVoice
        guard (1...Limits.coHostTargets).contains(targets.count) else {
            throw ReplyError(.badParameter, "a request names 1 to \(Limits.coHostTargets) lives")
        }
        let expiresAt = try RequestTimeout.expiry(of: timeoutSeconds, from: self.moment.now)
        try RequestTimeout.check(extraInfo: extensionInfo)
        let template = layoutTemplate == 0 ? (isVoice ? 2 : 600) : layoutTemplate
        var codes: [LiveCode] = []
        for target in targets {
            let code = self.code(forAsking: target, from: from)
            codes.append(LiveCode(live: target, code: code))
            guard code == ConnectionCode.sent else { continue }
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

    private func code(forAsking target: LiveID, from: LiveID) -> Int {
        guard target != from, let inviter = self.live(from) else { return ConnectionCode.unknown }
        guard let invitee = self.live(target) else { return ConnectionCode.noSuchLive }
        if invitee.isVoice != inviter.isVoice { return ConnectionCode.kindsDiffer }
        let isConnectedHere = invitee.connection != nil && invitee.connection == inviter.connection
        if isConnectedHere || invitee.incoming != nil { return ConnectionCode.alreadyInvited }
        if invitee.connection != nil { return ConnectionCode.connectedElsewhere }
        let members = self.connection(inviter.connection)?.members.count ?? 1
        let isFull = members >= Limits.coHostLives || inviter.outgoing.count >= Limits.coHostTargets
        return isFull ? ConnectionCode.full : ConnectionCode.sent
    }

    mutating func cancelRequest(
        from: LiveID, to targets: [LiveID], _ caller: Caller
    ) throws(ReplyError) -> CallResult {
        let inviter = try self.owned(from, by: caller)
        guard targets.contains(where: inviter.outgoing.contains) else {
            throw ReplyError(.noSuchConnection, "none of these lives has an open request of yours")
        }
        for target in targets where self.endRequest(from, target) {
            self.notify(target, .coHostRequestCancelled(inviter: self.member(from), invitee: target))
        }
        return .done
    }

    mutating func accept(
        _ id: LiveID, inviter inviterID: LiveID, _ caller: Caller
    ) throws(ReplyError) -> CallResult {
        let invitee = try self.owned(id, by: caller)
        guard invitee.incoming == inviterID, let inviter = self.live(inviterID) else {
            if let connection = invitee.connection, self.live(inviterID)?.connection == connection {
                throw ReplyError(.alreadyConnected, "the lives are connected")
            }
            throw ReplyError(.noSuchConnection, "the live has no open request to you")
        }
        guard invitee.connection == nil else {
            throw ReplyError(.connectedElsewhere, "you are connected with others")
        }
        if let members = self.connection(inviter.connection)?.members, members.count >= Limits.coHostLives {
            throw ReplyError(.connectionLimit, "a connection has at most \(Limits.coHostLives) lives")
        }
        let key = ConnectionKey.request(inviter: LiveKey(self.app, inviterID), invitee: id)
        guard case .request(let request)? = self.journal[key] else {
            throw ReplyError(.noSuchConnection, "the live has no open request to you")
        }
        self.endRequest(inviterID, id)
        self.connect(id, to: inviterID, templateID: request.templateID)
        self.notify(inviterID, .coHostRequestAccepted(invitee: self.member(id)))
        return .done
    }

    mutating func reject(
        _ id: LiveID, inviter inviterID: LiveID, _ caller: Caller
    ) throws(ReplyError) -> CallResult {
        _ = try self.owned(id, by: caller)
        guard self.endRequest(inviterID, id) else {
            throw ReplyError(.noSuchConnection, "the live has no open request to you")
        }
        self.notify(inviterID, .coHostRequestRejected(invitee: self.member(id)))
        return .done
    }

    mutating func requestTimedOut(_ inviter: LiveID, _ invitee: LiveID) {
        guard self.endRequest(inviter, invitee) else { return }
        self.notify(inviter, .coHostRequestTimedOut(inviter: inviter, invitee: invitee))
        self.notify(invitee, .coHostRequestTimedOut(inviter: inviter, invitee: invitee))
    }

    /// Takes the open request out; false: there is none.
    @discardableResult
    mutating func endRequest(_ inviter: LiveID, _ invitee: LiveID) -> Bool {
        let key = ConnectionKey.request(inviter: LiveKey(self.app, inviter), invitee: invitee)
        guard self.journal[key] != nil else { return false }
        self.journal[key] = nil
        self.update(inviter) { $0.outgoing.removeAll { $0 == invitee } }
        self.update(invitee) { $0.incoming = nil }
        return true
    }
}

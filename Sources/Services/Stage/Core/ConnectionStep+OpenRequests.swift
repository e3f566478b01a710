// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel

/// Lists the open requests of a live for its owner, who may have missed the notices about them (R8.25, R10.21).
extension ConnectionStep {
    /// Answers a query, which changes no row; it is `mutating` because the step remembers which rows it has looked up.
    ///
    /// - Throws: when the caller may not act for the live (see `live(_:forOwner:)`).
    mutating func answer(query command: ConnectionCommand, by caller: Caller) throws(ReplyError) -> CallResult {
        switch command {
        case .openRequests(let live, _): try self.openCoHostRequests(of: live, by: caller)
        case .openBattleRequests(let live, _): try self.openBattleRequests(of: live, by: caller)
        // Never reached: the machine passes only queries.
        default: throw ReplyError(.internalError, "not a query")
        }
    }

    /// The open co-host requests that the live has made, oldest first, and the request that the live has received.
    private mutating func openCoHostRequests(of id: LiveID, by caller: Caller) throws(ReplyError) -> CallResult {
        let live = try self.live(id, forOwner: caller)
        var sent: [OpenCoHostRequest] = []
        for invitee in live.value.outgoing {
            if let request = self.coHostRequest(from: id, to: invitee) { sent.append(self.listItem(request)) }
        }
        // A live receives at most one open request at a time.
        var received: [OpenCoHostRequest] = []
        if let inviter = live.value.incoming, let request = self.coHostRequest(from: inviter, to: id) {
            received.append(self.listItem(request))
        }
        return .coHostRequests(sent: sent, received: received, at: self.moment.now)
    }

    /// The request as the list shows it.
    private mutating func listItem(_ request: CoHostRequest) -> OpenCoHostRequest {
        OpenCoHostRequest(
            inviter: self.member(request.inviter), invitee: self.member(request.invitee),
            expiresAt: request.expiresAt, extensionInfo: request.extensionInfo ?? "")
    }

    /// The live's open battle request: one item for each invitee if the live has sent the request, or one item if the
    /// live has received it.
    ///
    /// A live has at most one battle request at a time.
    private mutating func openBattleRequests(of id: LiveID, by caller: Caller) throws(ReplyError) -> CallResult {
        let live = try self.live(id, forOwner: caller)
        var sent: [OpenBattleRequest] = []
        var received: [OpenBattleRequest] = []
        if let battle = self.battle(live.value.battleRequest), battle.isRequested {
            for invitee in battle.invitees where battle.inviter == id || invitee.live == id {
                let request = OpenBattleRequest(
                    battle: battle.id, inviter: self.member(battle.inviter), invitee: self.member(invitee.live),
                    hasAccepted: invitee.hasAccepted, expiresAt: battle.expiresAt,
                    durationSeconds: battle.durationSeconds, extensionInfo: battle.extensionInfo)
                if battle.inviter == id { sent.append(request) } else { received.append(request) }
            }
        }
        return .battleRequests(sent: sent, received: received, at: self.moment.now)
    }
}

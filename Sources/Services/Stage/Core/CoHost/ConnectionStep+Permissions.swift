// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel

/// Decides who may act for a live in connections and battles (R8.22, R15.8).
extension ConnectionStep {
    /// The live `id`, if `caller` may act for it as its owner; the app's server may act for every live.
    ///
    /// - Throws: when the live is not running, or the caller was kicked from it or is not its owner.
    mutating func live(_ id: LiveID, forOwner caller: Caller) throws(ReplyError) -> CopyOnWrite<HostedLive> {
        guard let live = self.live(id) else {
            throw ReplyError(.noSuchRoom, "the live does not exist or has ended")
        }
        if caller.role == .server { return live }
        // The fence of a live without kicked users is empty. It rejects only callers without a ticket (a proof of a
        // join). So the fence is read only if it can reject the caller.
        if live.value.hasRevocations || caller.ticket == nil, let rejection = self.fence(of: id).rejection(of: caller) {
            throw rejection
        }
        guard live.value.owner.userID == caller.userID else {
            throw ReplyError(.needsOwner, "only the owner of the live may do this")
        }
        return live
    }

    /// The live `id`, if `caller` may act for it as a host: the owner, an admin or the app's server.
    ///
    /// - Throws: as `live(_:forOwner:)` does, but not for an admin.
    mutating func live(_ id: LiveID, forHost caller: Caller) throws(ReplyError) -> CopyOnWrite<HostedLive> {
        do throws(ReplyError) {
            return try self.live(id, forOwner: caller)
        } catch {
            // Only the error `needsOwner` does not apply to admins.
            guard error.code == .needsOwner, let live = self.live(id), live.value.admins.contains(caller.userID) else {
                throw error.code == .needsOwner
                    ? ReplyError(.needsOwnerOrAdmin, "only the owner and admins may do this") : error
            }
            return live
        }
    }
}

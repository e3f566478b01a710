// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel

/// Decides who may act for a live in connections and battles (R8.22, R15.8).
extension ConnectionStep {
    /// The live that `caller` acts for.
    ///
    /// - Throws: when the live is not running, or the caller was kicked from it or is not its owner.
    mutating func ownedLive(_ id: LiveID, by caller: Caller) throws(ReplyError) -> CopyOnWrite<HostedLive> {
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

    /// The live that `caller` acts for, as its owner or an admin.
    ///
    /// - Throws: as `ownedLive` does.
    mutating func hostedLive(_ id: LiveID, by caller: Caller) throws(ReplyError) -> CopyOnWrite<HostedLive> {
        do throws(ReplyError) {
            return try self.ownedLive(id, by: caller)
        } catch {
            // An admin may act although it is not the owner. All other errors apply to admins too.
            guard error.code == .needsOwner, let live = self.live(id), live.value.admins.contains(caller.userID) else {
                throw error.code == .needsOwner
                    ? ReplyError(.needsOwnerOrAdmin, "only the owner and admins may do this") : error
            }
            return live
        }
    }
}

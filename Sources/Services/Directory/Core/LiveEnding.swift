// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel

/// The end of a live (I1, docs/RULES.md).
///
/// The directory decides the end once. The end then passes through all machines in the order of R18.5.
extension DirectoryMachine {
    /// Ends the live.
    ///
    /// - Parameters:
    ///   - key: the live.
    ///   - row: the row of the live, which is running.
    ///   - caller: the caller; nil if the dismissal policy ends the live.
    ///   - rows: the partition's rows; the rows with the live's bans and mutes are removed.
    ///   - now: the time of the end.
    /// - Returns: the effects. One of them is the command `release`, which removes the owner's claim (the right to run
    ///   this live and no other). The command is written in the transaction of the end. Therefore the owner can create
    ///   another live once the caller has the reply.
    func endLive(
        _ key: LiveKey, _ row: inout LiveRow, for caller: Caller?, in rows: inout DirectoryRows, at now: Timestamp
    ) -> [Effect] {
        // A dismissal counts as an end by the server.
        let reason: LiveEndReason = caller?.role == .user ? .endedByHost : .endedByServer
        row.ended = reason
        row.isClosing = true
        row.removeAt = now + Self.endedLifetime
        row.dismissAt = nil
        rows.removeSanctions(of: key)
        let ending = Ending(
            reason: reason, caller: caller, epoch: row.epoch, createdAt: row.info.createTime, endedAt: now,
            info: self.policies[key.app].hasWebhooks ? row.info : nil)
        let release = DirectoryCommand.release(owner: row.info.liveOwner.userID, live: key.live, thenReply: nil)
        return [
            .connection(ConnectionInput(app: key.app, .ended(live: key.live, ending: ending))),
            .directory(DirectoryInput(app: key.app, release)),
        ]
    }

    /// Makes the id of an ended live reusable; called when all machines have handled the end.
    func makeIDReusable(_ key: LiveKey, _ epoch: Int64, in rows: inout DirectoryRows) {
        guard case .live(var row)? = rows[.live(key)], row.epoch == epoch else { return }
        row.isClosing = nil
        rows[.live(key)] = .live(row: row)
    }

    /// Passes a repeated `end` on to the fan-out, the last machine to handle an end, which replies when it has done so.
    func repeatEnd(_ call: LiveCall, _ row: LiveRow, into effects: inout [Effect]) {
        guard row.ended != nil else {
            // The running live is a newer live with the same id, which the call must not end.
            effects.append(.requestForgotten(call.caller, call.key.app))
            return
        }
        effects.append(.barrage(BarrageInput(call.key, .repeatEnding(caller: call.caller))))
    }
}

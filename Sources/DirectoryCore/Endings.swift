// SPDX-License-Identifier: Apache-2.0
import CoreKit
import PlazaModel

/// How lives end (I1): once, here, and then through every machine in the order of the reference, section 19.
extension DirectoryMachine {
    /// Ends the live for good.
    ///
    /// - Parameters:
    ///   - key: the live.
    ///   - room: its row, which runs.
    ///   - caller: whose call it is; nil: a rule of the app ends it.
    ///   - rows: the partition's rows; bans and mutes go with the live.
    ///   - now: the time.
    /// - Returns: what is told. The owner's claim goes in the same transaction, so a create that follows the answer
    ///   finds it gone.
    func end(
        _ key: LiveKey, _ room: inout RoomRow, for caller: Caller?, in rows: inout DirectoryRows, at now: Timestamp
    ) -> [Effect] {
        let reason: LiveEndReason = caller?.role == .user ? .endedByHost : .endedByServer
        room.ended = reason
        room.isClosing = true
        room.removeAt = now + Self.endedLifetime
        room.dismissAt = nil
        rows[.bans(key)] = nil
        rows[.mutes(key)] = nil
        let ending = Ending(
            reason: reason, caller: caller, epoch: room.epoch, createdAt: room.info.createTime, endedAt: now,
            info: self.policies[key.app].hasWebhooks ? room.info : nil)
        let release = DirectoryCommand.release(owner: room.info.liveOwner.userID, live: key.live, thenReply: nil)
        return [
            .connection(ConnectionInput(app: key.app, .ended(live: key.live, ending: ending))),
            .directory(DirectoryInput(app: key.app, release)),
        ]
    }

    /// The end has passed all machines: the live's name is free.
    func closed(_ key: LiveKey, _ epoch: Int64, in rows: inout DirectoryRows) {
        guard case .room(var room)? = rows[.room(key)], room.epoch == epoch else { return }
        room.isClosing = nil
        rows[.room(key)] = .room(row: room)
    }

    /// An end that was sent again: the fan-out has its answer, or will have it when the end has come there.
    func repeatEnd(_ call: RoomCall, _ room: RoomRow, into effects: inout [Effect]) {
        guard room.ended != nil else {
            effects.append(.forgotten(call.caller, call.key.app))
            return
        }
        effects.append(.barrage(BarrageInput(call.key, .repeatEnding(caller: call.caller))))
    }
}

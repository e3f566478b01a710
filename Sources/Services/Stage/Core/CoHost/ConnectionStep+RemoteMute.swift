// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel

/// Lets a host mute another live of the connection; only the viewers of the host's own live hear the change (R8.13).
extension ConnectionStep {
    /// Mutes or unmutes the live `target` for the viewers of the live `id`; `target` is not notified.
    mutating func muteRemote(
        _ id: LiveID, _ target: LiveID, _ isMuted: Bool, _ caller: Caller
    ) throws(ReplyError) -> CallResult {
        let live = try self.live(id, forHost: caller)
        guard let connection = live.value.connection, target != id, self.live(target)?.value.connection == connection
        else {
            throw ReplyError(.noSuchConnection, "the live to mute is not connected with this one")
        }
        if live.value.muted.contains(target) == isMuted { return .done }
        self.updateLive(id) { mutingLive in
            if isMuted { mutingLive.muted.append(target) } else { mutingLive.muted.removeAll { $0 == target } }
        }
        self.markChanged(id, .coHostMuted(live: target, isMuted: isMuted))
        return .done
    }

    /// Removes the mute that the live `id` set on `target`, which has left the connection.
    mutating func removeMute(of target: LiveID, by id: LiveID) {
        guard self.live(id)?.value.muted.contains(target) == true else { return }
        self.updateLive(id) { mutingLive in mutingLive.muted.removeAll { $0 == target } }
    }
}

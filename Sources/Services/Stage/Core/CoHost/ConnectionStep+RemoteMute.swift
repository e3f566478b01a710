// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel

/// A host mutes the sound of another live of the connection for its own viewers (R8.13).
extension ConnectionStep {
    /// Mutes or unmutes the live `other` for the viewers of the live `id`; `other` is not notified (R8.13).
    mutating func muteRemote(
        _ id: LiveID, _ other: LiveID, _ isMuted: Bool, _ caller: Caller
    ) throws(ReplyError) -> CallResult {
        let live = try self.hostedLive(id, by: caller)
        guard let connection = live.value.connection, other != id, self.live(other)?.value.connection == connection
        else {
            throw ReplyError(.noSuchConnection, "the live to mute is not connected with this one")
        }
        if live.value.muted.contains(other) == isMuted { return .done }
        self.updateLive(id) {
            if isMuted { $0.muted.append(other) } else { $0.muted.removeAll { $0 == other } }
        }
        self.markChanged(id, .coHostMuted(live: other, isMuted: isMuted))
        return .done
    }

    /// Removes the mute that the live `id` set on `other`, which has left the connection.
    mutating func removeMute(of other: LiveID, by id: LiveID) {
        guard self.live(id)?.value.muted.contains(other) == true else { return }
        self.updateLive(id) { $0.muted.removeAll { $0 == other } }
    }
}

// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel

/// Empties the stage of a live that has ended (R18.3).
extension SeatStep {
    /// Empties the stage, because the live has ended, and sets when its row is removed.
    ///
    /// The open requests are dropped without notices, because clients are notified of the live's end.
    mutating func clearStage() {
        self.stage.removalTime = self.moment.now + SeatMachine.retentionAfterEnd
        self.requests = SeatRequests()
        for index in self.stage.seats.indices { self.stage.seats[index].occupant = nil }
        self.stage.closedDevices = ClosedDevices()
        self.stage.connection = nil
        self.stage.battle = nil
        self.stage.otherBattles = nil
    }
}

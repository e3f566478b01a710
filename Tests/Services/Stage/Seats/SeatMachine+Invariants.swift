// SPDX-License-Identifier: Apache-2.0
import MachineKit
import MachineTestSupport
import PlazaModel

@testable import StageCore

extension SeatMachine: CheckedMachine {
    func violations(in rows: Journal<SeatKey, SeatRow>, at now: Timestamp) -> [String] {
        var violations: [String] = []
        for key in rows.sortedKeys {
            switch (key, rows[key]) {
            case (.stage(let live), .stage(let stage)?):
                violations += self.check(stage.value, rows.requests(live)).map { "\(key.text): \($0)" }
            case (.requests(let live, _), .requests(let requests)?):
                if rows.stage(live)?.removalTime != nil || rows.stage(live) == nil {
                    violations.append("\(key.text): I13: requests without an open live")
                }
                // Only the first of several pages, which has the page count, may be empty.
                if requests.open.isEmpty, requests.pageCount == nil { violations.append("\(key.text): an empty row") }
                if requests.open.count > Limits.seatRequestsPerRow {
                    violations.append("\(key.text): I16: too many requests in one row")
                }
                if requests.open.contains(where: { $0.expiresAt <= now }) {
                    violations.append("\(key.text): I13: a request outlived its time")
                }
            case (.fence, .fence?): break
            case (.callHistory, .callHistory(let history)?):
                if history.window.due <= now { violations.append("\(key.text): I15: outcomes outlived their time") }
            default: violations.append("\(key.text): a row of a kind that does not fit its key")
            }
        }
        return violations
    }

    /// Lists the violations in one stage and the open requests of its live.
    private func check(_ stage: SeatStage, _ requests: SeatRequests) -> [String] {
        var violations: [String] = []
        let seatedUsers = stage.seats.compactMap { $0.occupant?.user.userID }
        if Set(seatedUsers).count != seatedUsers.count { violations.append("I11: a user on two seats") }
        if stage.seats.map(\.index) != Array(stage.seats.indices) { violations.append("I11: seats out of order") }
        if stage.seats.contains(where: { $0.isLocked && $0.occupant != nil }) {
            violations.append("I11: a user on a locked seat")
        }
        for seat in stage.seats {
            guard let occupant = seat.occupant else { continue }
            let user = occupant.user.userID
            for device in Device.allCases {
                let isOn =
                    switch device {
                    case .microphone: occupant.isMicrophoneOn
                    case .camera: occupant.isCameraOn
                    }
                let mayOpen = !seat.isLocked(device) && !stage.closedDevices.contains(user, device)
                if occupant.allows(device) != mayOpen {
                    violations.append("permission for the \(device) does not follow from the locks")
                }
                if isOn, !mayOpen { violations.append("a locked \(device) is on") }
            }
        }
        if !(stage.closedDevices.microphones + stage.closedDevices.cameras).allSatisfy(seatedUsers.contains) {
            violations.append("I16: a closed device of a user without a seat")
        }
        let occupants = stage.seats.compactMap(\.occupant)
        let areRolesCorrect = occupants.allSatisfy { $0.role == stage.role(of: $0.user.userID) }
        if !areRolesCorrect { violations.append("an occupant with a role it does not have") }
        if requests.open.count > Limits.openSeatRequests { violations.append("I16: too many open requests") }
        if requests.open.contains(where: { seatedUsers.contains($0.guest.userID) }) {
            violations.append("I13: an open request of a seated user")
        }
        let guestsAndHosts = requests.open.map { "\($0.guest.userID.text)/\($0.host?.userID.text ?? "")" }
        if Set(guestsAndHosts).count != guestsAndHosts.count {
            violations.append("I13: two open requests of the same guest and host")
        }
        return violations
    }
}

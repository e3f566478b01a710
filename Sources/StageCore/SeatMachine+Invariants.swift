// SPDX-License-Identifier: Apache-2.0
package import CoreKit
import PlazaModel

extension SeatMachine {
    /// What is wrong with the rows; empty when the invariants hold.
    ///
    /// For tests and simulation.
    package func checkInvariants(of journal: Journal<SeatKey, SeatRow>, at now: Timestamp) -> [String] {
        var wrong: [String] = []
        for key in journal.sortedKeys {
            switch (key, journal[key]) {
            case (.stage(let live), .stage(let stage)?):
                wrong += self.check(stage.value, journal.requests(live)).map { "\(key.text): \($0)" }
            case (.requests(let live), .requests(let requests)?):
                if journal.stage(live)?.goneAt != nil || journal.stage(live) == nil {
                    wrong.append("\(key.text): I13: requests without an open live")
                }
                if requests.open.isEmpty { wrong.append("\(key.text): an empty row") }
                if requests.open.contains(where: { $0.expiresAt <= now }) {
                    wrong.append("\(key.text): I13: a request outlived its time")
                }
            case (.floors, .floors?): break
            case (.outcomes, .outcomes(let window)?):
                if window.due <= now { wrong.append("\(key.text): I15: outcomes outlived their time") }
            default: wrong.append("\(key.text): a row of another kind")
            }
        }
        return wrong
    }

    private func check(_ stage: SeatStage, _ requests: SeatRequests) -> [String] {
        var wrong: [String] = []
        let seated = stage.seats.compactMap { $0.occupant?.user.userID }
        if Set(seated).count != seated.count { wrong.append("I11: a user on two seats") }
        if stage.seats.map(\.index) != Array(stage.seats.indices) { wrong.append("I11: seats out of order") }
        if stage.seats.contains(where: { $0.isLocked && $0.occupant != nil }) {
            wrong.append("I11: someone on a locked seat")
        }
        for seat in stage.seats {
            guard let occupant = seat.occupant else { continue }
            let user = occupant.user.userID
            for device in Device.allCases {
                let mayOpen = !seat.isLocked(device) && !stage.closed.contains(user, device)
                if occupant.allows(device) != mayOpen { wrong.append("a \(device) that its locks do not explain") }
                if occupant.isOn(device), !mayOpen { wrong.append("a locked \(device) is on") }
            }
        }
        if !(stage.closed.microphones + stage.closed.cameras).allSatisfy(seated.contains) {
            wrong.append("I16: a device closed to someone who does not sit")
        }
        let roles = stage.seats.compactMap(\.occupant).allSatisfy { $0.role == stage.role(of: $0.user.userID) }
        if !roles { wrong.append("an occupant with a role it does not have") }
        if requests.open.count > Limits.openSeatRequests { wrong.append("I16: too many open requests") }
        if requests.open.contains(where: { seated.contains($0.guest.userID) }) {
            wrong.append("I13: an open request of someone who sits")
        }
        let names = requests.open.map { "\($0.guest.userID.text)/\($0.host?.userID.text ?? "")" }
        if Set(names).count != names.count { wrong.append("I13: the same request twice") }
        return wrong
    }
}

// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import PlazaModel
internal import ProtocolClient

/// A guest applies for a seat, sits, and leaves it, again and again.
extension StageWorkload {
    func seat(until isOver: () -> Bool) async throws(Stall) {
        var round = 0
        while !isOver() {
            round += 1
            try await self.seatOnce(round)
        }
    }

    private func seatOnce(_ round: Int) async throws(Stall) {
        let (host, guest) = (self.hosts[0], self.guest)
        let before = guest.notices.count
        try await self.call(
            guest.client, guest.name, "seat.apply", CallParams(live: guest.live, timeout: 120),
            done: [.requestRepeated, .requestConflict, .alreadySeated, .userAlreadyOnSeat])
        try await self.call(
            host.client, host.name, "seat.acceptApplication", CallParams(live: host.live, user: guest.user),
            done: [.requestGone, .alreadySeated, .userAlreadyOnSeat])
        try await self.wait(self.viewers[0], "the guest on a seat (round \(round))") { self.isSeated($0) }
        try await self.wait(guest, "the answer to its application (round \(round))") {
            !self.ends($0, from: before).isEmpty
        }
        try await self.call(
            guest.client, guest.name, "seat.leave", CallParams(live: guest.live), done: [.notOnSeat])
        try await self.wait(self.viewers[0], "the guest off its seat (round \(round))") { !self.isSeated($0) }
        let ends = self.ends(guest, from: before)
        self.history.withLock { $0.requests.append(.init(name: "the guest's application \(round)", ends: ends)) }
        try? await Task.sleep(for: .milliseconds(300))
    }

    private func isSeated(_ witness: Witness) -> Bool {
        witness.stage?.seats.contains { $0.occupant?.user.userID == self.guest.user } ?? false
    }

    private func ends(_ witness: Witness, from index: Int) -> [String] {
        witness.notices.dropFirst(index).compactMap { notice in
            switch notice {
            case .applicationAnswered(_, let accepted): accepted ? "accepted" : "rejected"
            case .applicationNoResponse(let reason): "no response: \(reason)"
            default: nil
            }
        }
    }
}

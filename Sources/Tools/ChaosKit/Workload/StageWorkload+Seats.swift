// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import PlazaModel
internal import ProtocolClient

/// The part of the workload with seats.
extension StageWorkload {
    /// Lets the guest apply for a seat, take it and leave it, repeatedly.
    func runSeats(until isOver: () -> Bool) async throws(Stall) {
        var round = 0
        while !isOver() {
            round += 1
            try await self.seatGuest(round)
        }
    }

    /// Runs one application from its request to the guest's leaving, and records the ends of the application.
    private func seatGuest(_ round: Int) async throws(Stall) {
        let (host, guest) = (self.hosts[0], self.guest)
        let noticesBefore = guest.notices.count
        try await self.call(
            guest.client, guest.name, "seat.apply", CallParams(live: guest.live, timeout: 120),
            alreadyDone: [.requestRepeated, .requestConflict, .alreadySeated, .userAlreadyOnSeat])
        try await self.call(
            host.client, host.name, "seat.acceptApplication", CallParams(live: host.live, user: guest.user),
            alreadyDone: [.requestGone, .alreadySeated, .userAlreadyOnSeat])
        try await self.wait(self.viewers[0], "the guest on a seat (round \(round))") { self.isSeated($0) }
        try await self.wait(guest, "the answer to its application (round \(round))") {
            !self.applicationEnds($0, from: noticesBefore).isEmpty
        }
        try await self.call(
            guest.client, guest.name, "seat.leave", CallParams(live: guest.live), alreadyDone: [.notOnSeat])
        try await self.wait(self.viewers[0], "the guest off its seat (round \(round))") { !self.isSeated($0) }
        self.recordRequest(
            "the guest's application \(round)", of: guest, from: noticesBefore, Self.applicationEnd)
        try? await Task.sleep(for: .milliseconds(300))
    }

    /// Whether the guest is on a seat of the last stage that a witness has received.
    private func isSeated(_ witness: Witness) -> Bool {
        witness.stage?.seats.contains { $0.occupant?.user.userID == self.guest.user } ?? false
    }

    /// Records a request with its ends among a witness's notices, from the notice at `index` on.
    ///
    /// `end` returns the end that a notice tells, such as `accepted`; nil if the notice tells none.
    func recordRequest(
        _ name: String, of witness: Witness, from index: Int, _ end: (NoticeContent) -> String?
    ) {
        let ends = zip(witness.notices, witness.noticeTimes).dropFirst(index).compactMap { notice, time in
            end(notice).map { ($0, time) }
        }
        self.history.withLock {
            $0.requests.append(.init(name: name, ends: ends.map(\.0), times: ends.map(\.1)))
        }
    }

    /// The ends of an application among a witness's notices, from the notice at `index` on.
    private func applicationEnds(_ witness: Witness, from index: Int) -> [String] {
        witness.notices.dropFirst(index).compactMap(Self.applicationEnd)
    }

    /// The end of an application that a notice tells.
    private static func applicationEnd(_ notice: NoticeContent) -> String? {
        switch notice {
        case .applicationAnswered(_, let accepted): accepted ? "accepted" : "rejected"
        case .applicationNoResponse(let reason): "no response: \(reason)"
        default: nil
        }
    }
}

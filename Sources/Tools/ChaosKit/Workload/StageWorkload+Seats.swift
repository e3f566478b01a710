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
        try await self.wait(self.viewers[0], "the guest on a seat (round \(round))") { $0.sees(guest) }
        try await self.wait(guest, "the answer to its application (round \(round))") {
            $0.hasNotice(from: noticesBefore, Self.applicationEnd)
        }
        try await self.call(
            guest.client, guest.name, "seat.leave", CallParams(live: guest.live), alreadyDone: [.notOnSeat])
        try await self.wait(self.viewers[0], "the guest off its seat (round \(round))") { !$0.sees(guest) }
        self.recordRequest(
            "the guest's application \(round)", of: guest, from: noticesBefore, Self.applicationEnd)
        try? await Task.sleep(for: .milliseconds(300))
    }

    /// Lets the second live's host invite the talker repeatedly; the talker takes the seat and leaves it, or does not
    /// answer.
    func runInvitations(until isOver: () -> Bool) async throws(Stall) {
        var round = 0
        while !isOver() {
            round += 1
            // A copy of a repeated invitation may be open without our knowledge, so from then on the talker accepts
            // each invitation.
            let isAccepted = !round.isMultiple(of: 2) || self.hasRepeated("seat.invite")
            try await self.inviteTalker(round, isAccepted: isAccepted)
        }
    }

    /// Runs one invitation from its call to its end, and records its ends.
    private func inviteTalker(_ round: Int, isAccepted: Bool) async throws(Stall) {
        let (host, talker, viewer) = (self.hosts[1], self.talker, self.viewers[1])
        let noticesBefore = host.notices.count
        try await self.call(
            host.client, host.name, "seat.invite",
            CallParams(live: host.live, user: talker.user, timeout: isAccepted ? 120 : 1),
            alreadyDone: [.requestRepeated, .requestConflict, .userAlreadyOnSeat])
        if isAccepted {
            // After an earlier attempt was applied, the answer is `failed` or `requestGone`.
            try await self.call(
                talker.client, talker.name, "seat.acceptInvitation",
                CallParams(live: talker.live, user: host.user),
                alreadyDone: [.failed, .requestGone, .alreadySeated, .userAlreadyOnSeat])
            try await self.wait(viewer, "the talker on a seat (round \(round))") { $0.sees(talker) }
        }
        try await self.wait(host, "the end of its invitation (round \(round))") {
            $0.hasNotice(from: noticesBefore, Self.invitationEnd)
        }
        if isAccepted {
            try await self.call(
                talker.client, talker.name, "seat.leave", CallParams(live: talker.live), alreadyDone: [.notOnSeat])
            try await self.wait(viewer, "the talker off its seat (round \(round))") { !$0.sees(talker) }
        }
        // An unanswered invitation that was sent twice may have been applied twice, and then ends twice.
        if isAccepted || !self.hasRepeated("seat.invite") {
            self.recordRequest("\(host.name)'s invitation \(round)", of: host, from: noticesBefore, Self.invitationEnd)
        }
        try? await Task.sleep(for: .milliseconds(300))
    }

    /// Records a request with its ends among a witness's notices, from the notice at `index` on.
    ///
    /// `end` returns the end that a notice reports, such as `accepted`; nil if the notice reports none.
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

    /// The end of an application that a notice reports; nil for any other notice.
    private static func applicationEnd(_ notice: NoticeContent) -> String? {
        switch notice {
        case .applicationAnswered(_, let accepted): accepted ? "accepted" : "rejected"
        case .applicationNoResponse(let reason): "no response: \(reason)"
        default: nil
        }
    }

    /// The end of an invitation that a notice reports; nil for any other notice.
    private static func invitationEnd(_ notice: NoticeContent) -> String? {
        switch notice {
        case .invitationAnswered(_, let accepted): accepted ? "accepted" : "rejected"
        case .invitationNoResponse(_, let reason): "no response: \(reason)"
        default: nil
        }
    }
}

extension Witness {
    /// Whether another witness is on a seat of the last stage that this one has received.
    fileprivate func sees(_ other: Witness) -> Bool {
        self.stage?.seats.contains { $0.occupant?.user.userID == other.user } ?? false
    }

    /// Whether one of the notices from `index` on reports an end, for which `end` returns a text.
    fileprivate func hasNotice(from index: Int, _ end: (NoticeContent) -> String?) -> Bool {
        self.notices.dropFirst(index).contains { end($0) != nil }
    }
}

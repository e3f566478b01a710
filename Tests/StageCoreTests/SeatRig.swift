// SPDX-License-Identifier: Apache-2.0
import CoreKit
import PlazaModel
import StageCore
import Testing

/// One live `room` of `olga`, with admins `adam` and `anna`, and a seat machine that is checked after every step.
struct SeatRig {
    static let room = LiveKey("demo", "room")
    var rig = Rig(SeatMachine())
    var callers = Callers()

    /// A voice live unless `template` says otherwise, so that the number of seats is free.
    static func live(
        seats: Int = 4, mode: TakeSeatMode = .apply, keepsOwner: Bool = false, admins: [UserID] = ["adam", "anna"],
        template: Int = 70
    ) -> LiveInfo {
        LiveInfo(
            liveID: "room", keepOwnerOnSeat: keepsOwner, maxSeatCount: seats, seatMode: mode,
            seatTemplate: template, liveOwner: info("olga"), admins: admins)
    }

    init(_ live: LiveInfo? = SeatRig.live()) {
        if let live { _ = self.tell(.opened(epoch: 7, info: live)) }
    }

    /// Users who are not in the room, as presence sees it.
    var absent: Set<UserID> = []

    mutating func tell(
        _ command: SeatCommand, sourceLocation: SourceLocation = #_sourceLocation
    ) -> [Effect] {
        let effects = self.rig.send(SeatInput(Self.room, command))
        self.check(sourceLocation)
        guard let vouched = effects.vouched(absent: self.absent) else { return effects }
        // Presence answers at once.
        switch vouched {
        case .success(let input): return self.tell(input.command, sourceLocation: sourceLocation)
        case .failure(let refusal): return [refusal.effect]
        }
    }

    mutating func call(
        _ user: UserID, sourceLocation: SourceLocation = #_sourceLocation, _ command: (Caller) -> SeatCommand
    ) -> [Effect] {
        self.tell(command(self.callers.user(user)), sourceLocation: sourceLocation)
    }

    mutating func pass(
        milliseconds: Int64, sourceLocation: SourceLocation = #_sourceLocation
    ) -> [Effect] {
        let effects = self.rig.pass(milliseconds: milliseconds)
        self.check(sourceLocation)
        return effects
    }

    private func check(_ sourceLocation: SourceLocation) {
        let wrong = self.rig.machine.checkInvariants(of: self.rig.journal, at: self.rig.moment.now)
        #expect(wrong == [], sourceLocation: sourceLocation)
    }

    var stage: SeatStage? {
        if case .stage(let stage)? = self.rig.journal[.stage(Self.room)] { stage.value } else { nil }
    }

    /// Who sits where.
    var seated: [UserID?] { self.stage?.seats.map { $0.occupant?.user.userID } ?? [] }

    func notice(to user: UserID, _ content: NoticeContent) -> Effect {
        .notice(Notice(to: UserKey("demo", user), live: "room", at: self.rig.moment.now, content: content))
    }

    /// The record as it is now, beside what led to it in the feed.
    func published(_ events: [StageEvent]) -> [Effect] {
        guard let record = self.stage?.record else { return [] }
        return [
            .stage(record), .barrage(BarrageInput(Self.room, .tell(content: .stage(record: record, events: events)))),
        ]
    }

    /// What the connection machine is told of the seats as they are now.
    var seatsTold: Effect {
        .connection(ConnectionInput(app: "demo", .seatsChanged(live: "room", seats: self.stage?.seats ?? [])))
    }

    func success(_ result: CallResult, to caller: Caller, changed: Bool = false) -> Effect {
        .success(
            result, to: caller, app: "demo",
            seen: changed ? Seen(.stages, "room", revision: self.stage?.revision ?? 0) : nil)
    }
}

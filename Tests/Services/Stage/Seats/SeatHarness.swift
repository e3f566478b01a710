// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel
import StageCore
import Testing

/// One live `room` of `olga`, with admins `adam` and `anna`, and a seat machine that is checked after every step.
struct SeatHarness: CheckedHarness {
    static let room = LiveKey("demo", "room")
    var machine = MachineHarness(SeatMachine(itemInterval: Milliseconds(0)))
    var callers = Callers()

    /// The info of a live; by default a voice live, because its number of seats can be chosen.
    static func live(
        seats: Int = 4, mode: TakeSeatMode = .apply, keepsOwner: Bool = false, admins: [UserID] = ["adam", "anna"],
        template: Int = 70
    ) -> LiveInfo {
        LiveInfo(liveID: "room", liveOwner: userInfo("olga")) {
            ($0.keepOwnerOnSeat, $0.maxSeatCount, $0.seatMode) = (keepsOwner, seats, mode)
            ($0.seatTemplate, $0.admins) = (template, admins)
        }
    }

    init(_ live: LiveInfo? = SeatHarness.live()) {
        if let live { _ = self.handle(.opened(epoch: 7, info: live)) }
    }

    /// Users who are not in the live.
    var absent: Set<UserID> = []

    /// Handles a command, checks the invariants and returns the effects.
    mutating func handle(
        _ command: SeatCommand, sourceLocation: SourceLocation = #_sourceLocation
    ) -> [Effect] {
        let effects = self.send(SeatInput(Self.room, command), sourceLocation: sourceLocation)
        guard let reply = effects.membershipReply(absent: self.absent) else { return effects }
        // Offers are answered by presence at once.
        switch reply {
        case .success(let input): return self.handle(input.command, sourceLocation: sourceLocation)
        case .failure(let rejection): return [rejection.effect]
        }
    }

    /// Handles a call of `user`.
    mutating func call(
        _ user: UserID, sourceLocation: SourceLocation = #_sourceLocation, _ command: (Caller) -> SeatCommand
    ) -> [Effect] {
        self.handle(command(self.callers.user(user)), sourceLocation: sourceLocation)
    }

    /// The stage of the live; nil before it is opened and after it is removed.
    var stage: SeatStage? {
        if case .stage(let stage)? = self.machine.journal[.stage(Self.room)] { stage.value } else { nil }
    }

    /// The occupants by seat.
    var seated: [UserID?] { self.stage?.seats.map { $0.occupant?.user.userID } ?? [] }

    /// The expected notice to `user`.
    func notice(to user: UserID, _ content: NoticeContent) -> Effect {
        .notice(Notice(to: UserKey("demo", user), live: "room", at: self.machine.moment.now, content: content))
    }

    /// The expected record and feed item of the stage as it is now.
    func published(_ events: [StageEvent]) -> [Effect] {
        guard let record = self.stage?.record else { return [] }
        return [
            .stage(record),
            .barrage(BarrageInput(Self.room, .publish(content: .stage(record: record, events: events)))),
        ]
    }

    /// The expected report of the seats to the connection machine.
    var seatsReport: Effect {
        .connection(ConnectionInput(app: "demo", .seatsChanged(live: "room", seats: self.stage?.seats ?? [])))
    }

    /// The expected reply; it requires the stage's revision if the call has changed the stage.
    func success(_ result: CallResult, to caller: Caller, changesStage: Bool = false) -> Effect {
        .success(
            result, to: caller, app: "demo",
            required: changesStage ? RequiredRevision(.stages, "room", revision: self.stage?.revision ?? 0) : nil)
    }
}

// SPDX-License-Identifier: Apache-2.0
import MachineKit
import MachineTestSupport
import PlazaModel
import StageCore
import Testing

/// One live `room` of `olga`, with admins `adam` and `anna`, and a seat machine that is checked after every step.
///
/// In a call, a seat index of -1 means any free seat.
struct SeatHarness: CheckedHarness {
    static let room = LiveKey("demo", "room")
    /// The interval of 0 ms between feed items means that no feed item is delayed.
    var machine = MachineHarness(SeatMachine(itemInterval: Milliseconds(0)))
    var callers = Callers()

    /// The info of a live, by default with the voice template 70: only a voice live chooses its number of seats.
    static func live(
        seats: Int = 4, mode: TakeSeatMode = .apply, keepsOwner: Bool = false, admins: [UserID] = ["adam", "anna"],
        template: Int = 70
    ) -> LiveInfo {
        LiveInfo(liveID: "room", liveOwner: userInfo("olga")) {
            ($0.keepOwnerOnSeat, $0.maxSeatCount, $0.seatMode) = (keepsOwner, seats, mode)
            ($0.seatTemplate, $0.admins) = (template, admins)
        }
    }

    /// The users of whom presence says that they are not in the live.
    var absent: Set<UserID> = []

    /// A harness that has opened its live with epoch 7.
    init(_ live: LiveInfo = SeatHarness.live()) { self.init(opening: live) }

    /// A harness whose live is not open yet.
    static var unopened: SeatHarness { SeatHarness(opening: nil) }

    private init(opening live: LiveInfo?) {
        if let live { _ = self.handle(.opened(epoch: 7, info: live)) }
    }

    /// Handles a command, checks the invariants and returns the effects.
    mutating func handle(
        _ command: SeatCommand, sourceLocation: SourceLocation = #_sourceLocation
    ) -> [Effect] {
        let effects = self.send(SeatInput(Self.room, command), sourceLocation: sourceLocation)
        guard let reply = effects.membershipReply(absent: self.absent) else { return effects }
        // The machine has asked presence whether the guest is in the live. The harness answers for presence, at once.
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
        if case .stage(let stage)? = self.machine.rows[.stage(Self.room)] { stage.value } else { nil }
    }

    /// The occupant of each seat, by the seat's index; nil stands for an empty seat.
    var seated: [UserID?] { self.stage?.seats.map { $0.occupant?.user.userID } ?? [] }

    /// The expected notice to `user`.
    func notice(to user: UserID, _ content: NoticeContent) -> Effect {
        .notice(Notice(to: UserKey("demo", user), live: "room", at: self.machine.moment.now, content: content))
    }

    /// The expected record and feed item of the stage as it is now.
    func published(_ events: [StageEvent]) -> [Effect] {
        guard let record = self.stage?.record else {
            Issue.record("there is no stage that could be published")
            return []
        }
        return [
            .stage(record),
            .barrage(BarrageInput(Self.room, .publish(content: .stage(record: record, events: events)))),
        ]
    }

    /// The expected report of the seats to the connection machine.
    var seatsReport: Effect {
        .connection(ConnectionInput(app: "demo", .seatsChanged(live: "room", seats: self.stage?.seats ?? [])))
    }

    /// The expected reply to a call; if the call has changed the stage, its reply requires the stage's new revision.
    func success(_ result: CallResult, to caller: Caller, changesStage: Bool = false) -> Effect {
        .success(
            result, to: caller, app: "demo",
            required: changesStage ? RequiredRevision(.stages, "room", revision: self.stage?.revision ?? 0) : nil)
    }
}

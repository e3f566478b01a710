// SPDX-License-Identifier: Apache-2.0
import ClusterKit
import LivePlazaKit
import LoadKit
import PlazaModel
import TestSupport
import Testing

/// Seats over real processes: what follows from one store's call in another's state (reference 19), in its order.
@Suite(.serialized, .enabled(if: LiveCluster.kafkaHome != nil, "needs a real Kafka: set KAFKA_HOME"))
struct SeatClusterTests {
    /// A host, a guest and a watcher in one live, each a real client.
    private struct Room {
        let live: LiveID
        let host: Person
        let guest: Person
        let watcher: Person

        init(_ harness: ClusterHarness, on hub: ClientHub) async throws {
            self.live = LiveID(ClusterHarness.name("room"))
            self.host = Person("host", harness.client("\(self.live)-host", on: hub))
            self.guest = Person("guest", harness.client("\(self.live)-guest", on: hub))
            self.watcher = Person("watcher", harness.client("\(self.live)-watcher", on: hub))
            try await self.host.call("live.create", CallParams(live: self.live), live: self.live)
            for person in [self.host, self.guest, self.watcher] { try await self.call(person, "live.join") }
        }

        func user(_ person: Person) -> String { "\(self.live)-\(person.name)" }

        @discardableResult
        func call(_ person: Person, _ method: String, _ params: CallParams = CallParams()) async throws -> CallResult {
            var params = params
            params.live = self.live
            return try await person.call(method, params, live: self.live)
        }

        func refuse(_ person: Person, _ code: ReplyCode, _ method: String, _ params: CallParams) async throws {
            var params = params
            params.live = self.live
            try await person.expectRefusal(code, method, params)
        }

        /// Waits until the watcher sees a stage that came about by an event that `match` picks.
        func watch(
            _ what: String, _ match: ([StageEvent], StageRecord) -> Bool
        ) async throws -> StageRecord {
            try await self.watcher.see(what) { content in
                if case .stage(let record, let events) = content, match(events, record) { record } else { nil }
            }
        }
    }

    @Test(.timeLimit(.minutes(3)))
    func `a guest is invited, seated, silenced, locked out, kicked; the owner goes and sits again`() async throws {
        try await LiveCluster.with(LiveCluster.options(realKafka: 1)) { cluster in
            let hub = try ClientHub()
            defer { hub.stop() }
            let room = try await Room(try ClusterHarness(cluster), on: hub)
            try await Self.invite(room)
            try await Self.silence(room)
            try await Self.lockOut(room)
            try await Self.leaveAndKick(room)
            try await Self.ownerReturns(room)
        }
    }

    private static func invite(_ room: Room) async throws {
        try await room.refuse(room.host, .notMember, "seat.invite", CallParams(user: "nobody-here"))
        try await room.call(
            room.host, "seat.invite", CallParams(user: room.user(room.guest), seatIndex: 3, timeout: 60))
        _ = try await room.guest.notice("an invitation") { content in
            if case .invitationReceived(_, 3, _, _) = content { true } else { nil }
        }
        try await room.call(room.guest, "seat.acceptInvitation", CallParams(user: room.user(room.host)))
        _ = try await room.host.notice("the answer") { content in
            if case .invitationAnswered(_, true) = content { true } else { nil }
        }
        let stage = try await room.watch("the guest on its seat") { events, _ in
            events.contains { if case .seatTaken(3, _) = $0 { true } else { false } }
        }
        #expect(stage.layout.canvas.templateID == 600)
        #expect(stage.layout.regions.map(\.userID.text) == [room.user(room.host), room.user(room.guest)])
        #expect(stage.layout.regions.map(\.width) == [540, 540])
    }

    private static func silence(_ room: Room) async throws {
        try await room.call(room.guest, "seat.device", CallParams(microphone: true))
        _ = try await room.watch("an open microphone") { $1.seats[3].occupant?.isMicrophoneOn == true }
        try await room.call(
            room.host, "seat.lockDevice", CallParams(user: room.user(room.guest), device: "microphone"))
        _ = try await room.guest.notice("that its microphone was closed") { content in
            if case .deviceClosedByAdmin(.microphone, _) = content { true } else { nil }
        }
        _ = try await room.watch("a closed microphone") { $1.seats[3].occupant?.allowOpenMicrophone == false }
        try await room.refuse(room.guest, .microphoneNeedsHost, "seat.device", CallParams(microphone: true))
    }

    private static func lockOut(_ room: Room) async throws {
        try await room.call(room.host, "seat.lock", CallParams(seatIndex: 3, locked: true))
        _ = try await room.guest.notice("that it was put off its seat") { content in
            if case .kickedOffSeat(3, _) = content { true } else { nil }
        }
        _ = try await room.watch("the seat left, then locked") { events, _ in
            events.map(\.text) == ["left 3", "locked 3"]
        }
        try await room.refuse(room.guest, .seatLocked, "seat.apply", CallParams(seatIndex: 3))
    }

    private static func leaveAndKick(_ room: Room) async throws {
        try await room.call(room.guest, "seat.apply", CallParams(seatIndex: 4, timeout: 60))
        _ = try await room.host.notice("an application") { content in
            if case .applicationReceived = content { true } else { nil }
        }
        try await room.call(room.guest, "live.leave")
        _ = try await room.host.notice("that the applicant has gone") { content in
            if case .applicationCancelled = content { true } else { nil }
        }
        try await room.call(room.guest, "live.join")
        try await room.call(room.guest, "seat.apply", CallParams(seatIndex: 4, timeout: 60))
        try await room.call(room.host, "seat.acceptApplication", CallParams(user: room.user(room.guest)))
        _ = try await room.watch("the guest on its seat again") { $1.seats[4].occupant != nil }
        try await room.call(room.host, "audience.kick", CallParams(user: room.user(room.guest)))
        _ = try await room.watch("the seat of the kicked guest free") { events, _ in
            events.contains { if case .seatLeft(4, _) = $0 { true } else { false } }
        }
    }

    private static func ownerReturns(_ room: Room) async throws {
        try await room.call(room.host, "live.leave")
        _ = try await room.watch("the owner's seat empty") { $1.seats[0].occupant == nil }
        try await room.call(room.host, "live.join")
        _ = try await room.watch("the owner on its seat again") { $1.seats[0].occupant?.role == .owner }
    }
}

extension StageEvent {
    /// The event as far as this test looks at it.
    fileprivate var text: String {
        switch self {
        case .seatLeft(let index, _): "left \(index)"
        case .seatLocked(let index): "locked \(index)"
        default: "other"
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
import MachineKit
import MachineTestSupport
import PlazaModel
import StageCore
import Testing

/// The largest states of the seat machine and the connection machine.
///
/// `minKilobytes` has a minimum for each kind: a smaller row or record would show that the state is not the largest.
@Suite struct StageSizeTests {
    /// Rules: R17.3, R17.6.
    @Test func `I16 every row and record of the largest stage is smaller than half of the broker's largest record`() {
        var seats = SizeHarness(SeatMachine(policies: Largest.policies))
        let key = Largest.key
        /// Sends a command; returns the code of the rejection, if there is one.
        func send(_ command: SeatCommand) -> [ReplyCode] { seats.send(SeatInput(key, command)).rejections }
        #expect(send(.opened(epoch: Largest.offset, info: Largest.info)) == [])
        #expect(send(.userBack(user: Largest.profile(0))) == [])
        // Of the 50 seats, the owner has one, and the server places users on 48. One stays free, so that users can be
        // invited. A seat index of -1 means any free seat. After each call, presence verifies that the user is in the
        // live.
        for index in 1..<49 {
            let caller = Largest.server(counter: Int64(index))
            #expect(send(.place(user: Largest.user(index), seatIndex: -1, caller: caller)) == [])
            #expect(
                send(
                    .guestMembershipVerified(
                        user: Largest.profile(index), offer: .placement(seatIndex: -1), caller: caller)) == [])
        }
        for index in 0..<Limits.floorsPerLive {
            _ = send(.floor(user: Largest.user(50_000 + index), ticket: Ticket(Largest.offset + Int64(index))))
        }
        let extraInfo = Largest.quotationMarks(bytes: Limits.extraInfoBytes)
        for index in 0..<Limits.openSeatRequests {
            let caller = Largest.server(counter: Int64(1000 + index))
            let offer = SeatOffer.invitation(seatIndex: -1, timeoutSeconds: 1800, extraInfo: extraInfo)
            let guest = Largest.profile(1000 + index)
            #expect(
                send(
                    .invite(
                        user: guest.userID, seatIndex: -1, timeoutSeconds: 1800, extraInfo: extraInfo, caller: caller))
                    == [])
            #expect(send(.guestMembershipVerified(user: guest, offer: offer, caller: caller)) == [])
        }
        // One request more than the limit.
        let lateApplicant = Largest.caller(5000, counter: 1)
        #expect(
            send(.apply(seatIndex: -1, timeoutSeconds: 1800, extraInfo: extraInfo, caller: lateApplicant)) == [
                .overloaded
            ])
        // The 500 requests fill 10 rows of 50.
        #expect(seats.partition.rowCount(of: "requests") == 10)
        #expect(send(.requests(caller: Largest.server(counter: 1))) == [])
        // A report that is larger than any possible one: it has nine lives with twelve seats each, and nine battles, in
        // each of which all nine lives take part.
        let lives = (0..<Limits.coHostLives).map { Largest.live($0) }
        let members = lives.enumerated().map { index, live in
            ConnectionMember(
                live: live, host: Largest.profile(index), joinedAt: Largest.now,
                seats: index == 0 ? nil : Largest.seats(of: live))
        }
        let battles = (0..<Limits.coHostLives).map { number in
            BattleView(
                id: BattleID(Largest.word(number, bytes: 32)), extensionInfo: extraInfo, durationSeconds: 86_400,
                startTime: Largest.now, endTime: Largest.now,
                // 1 << 53 is the largest integer that JSON readers represent exactly.
                sides: lives.enumerated().map {
                    BattleSide(live: $1, host: Largest.profile($0), score: 1 << 53)
                }, ended: .allMemberExit)
        }
        let view = ConnectionView(
            id: ConnectionID(Largest.word(0, bytes: 32)), members: members, mutedLives: Array(lives.dropFirst()))
        let report = SeatCommand.connection(
            view: view, battle: battles[0], revision: 1, events: members.map { .coHostJoined(member: $0) },
            otherBattles: Array(battles.dropFirst()))
        _ = send(report)
        // The report itself is a record too, in the seat machine's inbox.
        seats.sizes.note(.seat(SeatInput(key, report)))
        seats.noteRows()
        seats.sizes.expectBounded(minKilobytes: [
            "row stage": 150, "row requests": 30, "row floors": 60, "stages": 150, "barrage.inbox": 150, "replies": 350,
            "seat.inbox": 150,
        ])
    }

    /// Rules: R17.6.
    @Test
    func `I16 every row and record of the largest connection is smaller than half of the broker's largest record`() {
        var connections = SizeHarness(ConnectionMachine(policies: Largest.policies))
        /// Sends a command; returns the code of the rejection, if there is one.
        func send(_ command: ConnectionCommand) -> [ReplyCode] {
            connections.send(ConnectionInput(app: Largest.app, command)).rejections
        }
        var counter: Int64 = 0
        /// The caller of the next call of the app's server.
        func nextServerCall() -> Caller {
            counter += 1
            return Largest.server(counter: counter)
        }
        let extraInfo = Largest.quotationMarks(bytes: Limits.extraInfoBytes)
        let lives = (0..<Limits.coHostLives).map { Largest.live($0) }
        for (index, live) in lives.enumerated() {
            _ = send(.opened(live: live, owner: Largest.profile(index), isVoice: false))
            _ = send(.rights(live: live, admins: Largest.info.admins))
            // The first live has the maximum number of floors (lowest valid tickets of users), each other live has one.
            for user in 0..<(index == 0 ? Limits.floorsPerLive : 1) {
                _ = send(
                    .floor(live: live, user: Largest.user(user), ticket: Ticket(Largest.offset + Int64(user))))
            }
        }
        let invitees = Array(lives.dropFirst())
        #expect(
            send(
                .request(
                    from: lives[0], to: invitees, layoutTemplate: 600, timeoutSeconds: 1800, extensionInfo: extraInfo,
                    caller: nextServerCall())) == [])
        for live in invitees { #expect(send(.accept(live: live, inviter: lives[0], caller: nextServerCall())) == []) }
        for live in lives { _ = send(.seatsChanged(live: live, seats: Largest.seats(of: live))) }
        for live in invitees {
            #expect(send(.muteRemote(live: lives[0], other: live, isMuted: true, caller: nextServerCall())) == [])
        }
        #expect(
            send(
                .requestBattle(
                    from: lives[0], to: invitees, durationSeconds: 86_400, needResponse: false, timeoutSeconds: 1800,
                    extensionInfo: extraInfo, caller: nextServerCall())) == [])
        // Large outcomes, the details of the battle, fill the idempotency window of the server's session.
        for _ in 0..<IdempotencyLimits.maxOutcomes {
            #expect(send(.battleInfo(battle: nil, live: lives[0], caller: nextServerCall())) == [])
        }
        connections.noteRows()
        connections.sizes.expectBounded(minKilobytes: [
            "row live": 10, "row connection": 3, "row battle": 8, "row floors": 60, "row outcomes": 100,
            "seat.inbox": 60, "user.notices": 4, "replies": 8,
        ])
    }
}

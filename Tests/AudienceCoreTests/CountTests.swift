// SPDX-License-Identifier: Apache-2.0
import AudienceCore
import CoreKit
import PlazaModel
import Testing

@Suite struct CountTests {
    @Test func `counts of a live are at least a second apart, and the last value is always told`() {
        var room = Room()
        var told: [CountRecord] = []
        for index in 1...25 {
            let user = UserInfo(userID: UserID("u\(index)"))
            let effects = room.send(
                .join(caller: Room.caller(user, 1)), room.did([.joined(isFirst: true, count: index)]))
            for case .count(let record) in effects { told.append(record) }
            room.now = room.now + Milliseconds(150)
        }
        #expect(room.rows.nextDue != nil)
        for case .count(let record) in room.tick(after: .seconds(1)) { told.append(record) }
        for (a, b) in zip(told, told.dropFirst()) { #expect((b.at - a.at).count >= 1000) }
        #expect(told.first?.count == 1)
        #expect(told.last?.count == 25)
        #expect(told.last?.totalViewers == 25)
        #expect(room.tick(after: .seconds(5)).isEmpty)
    }

    @Test func `repeat visits count again in the total`() {
        var room = Room()
        for visit in 1...3 {
            _ = room.send(
                .join(caller: Room.caller(Room.alice, Int64(2 * visit))), room.did([.joined(isFirst: true, count: 1)]))
            _ = room.send(
                .leave(caller: Room.caller(Room.alice, Int64(2 * visit + 1), ticket: room.offset)),
                room.did([.left(user: Room.alice, isLast: true, count: 0)]))
        }
        #expect(room.rows.live(Room.key)?.totalViewers == 3)
        #expect(room.rows.live(Room.key)?.count == 0)
    }

    @Test func `a new live's count is told before its first viewer`() {
        let machine = AudienceMachine(partition: 0)
        var rows = AudienceMachine.Rows()
        let moment = Moment(now: Timestamp(milliseconds: 5), offset: 9)
        let steps = machine.plan([(moment, AudienceInput(Room.key, .opened(epoch: 7, owner: Room.owner)))], in: &rows)
        var effects: [Effect] = []
        machine.conclude(steps[0], .nothing, in: &rows, into: &effects)
        #expect(
            effects == [
                .count(CountRecord(app: "demo", live: "stage-1", epoch: 7, count: 0, totalViewers: 0, at: moment.now))
            ])
    }
}

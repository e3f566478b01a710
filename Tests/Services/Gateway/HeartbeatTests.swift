// SPDX-License-Identifier: Apache-2.0
import Concurrency
import Gateway
import MachineKit
import PlazaModel
import PlazaWire
import Testing

/// Heartbeats and assertions that a gateway sends to presence.
@Suite(.serialized, .timeLimit(.minutes(1))) struct HeartbeatTests {
    private let room = FakeCluster.key("room")

    @Test func `I4 members are reported once per round, and a member with a closed socket once more`() throws {
        let cluster = try FakeCluster { $0.lease = Milliseconds(3600) }
        cluster.create("room")
        func beats(_ user: UserID) -> Int {
            cluster.state.withLock { $0.records }.reduce(0) { sum, record in
                guard record.topic == .audienceInbox, let value = record.value,
                    let input = try? Wire.decode(AudienceInput.self, from: value),
                    case .heartbeats(let beats) = input.command
                else { return sum }
                return sum + beats.filter { $0.user == user }.count
            }
        }
        let client = try cluster.viewer("bob", of: "room")
        let staying = try cluster.viewer("eve", of: "room")
        func wait(_ user: UserID, for count: Int) throws {
            _ = try cluster.record { record -> Bool? in
                guard case .audienceInbox = record.topic else { return nil }
                return beats(user) >= count ? true : nil
            }
        }
        try wait("bob", for: 3)
        let beat = try cluster.record { record -> Heartbeat? in
            guard record.topic == .audienceInbox, let value = record.value,
                let input = try? Wire.decode(AudienceInput.self, from: value),
                case .heartbeats(let beats) = input.command
            else { return nil }
            return beats.first { $0.user == "bob" }
        }
        #expect(beat.ticket == Ticket(101))
        #expect(beat.silentFor >= 0 && beat.silentFor < 3600)
        client.cut()
        let before = beats("eve")
        try wait("eve", for: before + 3)
        let gone = beats("bob")
        try wait("eve", for: before + 8)
        #expect(beats("bob") == gone, "silence after the last word")
        _ = try staying.call("ping")
    }

    @Test func `I5 after presence lost its state, all members are asserted with their tickets`() throws {
        let cluster = try FakeCluster()
        cluster.create("room")
        let viewers = try (0..<5).map { try cluster.viewer("u\($0)", of: "room") }
        let partition = PlazaTopic.partition(of: self.room.text, among: 4)
        cluster.gateway.received(PresenceEpochRecord(partition: (partition + 1) % 4, epoch: "x"))
        cluster.gateway.received(PresenceEpochRecord(partition: partition, epoch: "y"))
        var found: Set<UserID> = []
        while found.count < viewers.count {
            let members = try cluster.record { record -> [Presence]? in
                guard record.topic == .audienceInbox, let value = record.value,
                    let input = try? Wire.decode(AudienceInput.self, from: value), input.key == self.room,
                    case .assert(let members) = input.command, !members.allSatisfy({ found.contains($0.user.userID) })
                else { return nil }
                return members
            }
            #expect(members.allSatisfy { $0.ticket > Ticket(100) })
            found.formUnion(members.map(\.user.userID))
        }
        let asserts = { (record: TopicRecord) -> Bool in
            guard record.topic == .audienceInbox, let value = record.value,
                let input = try? Wire.decode(AudienceInput.self, from: value), case .assert = input.command
            else { return false }
            return true
        }
        let told = cluster.count(asserts)
        cluster.gateway.received(PresenceEpochRecord(partition: partition, epoch: "y"))
        #expect(try viewers[0].answersPing())
        #expect(cluster.count(asserts) == told, "the same epoch again")
    }
}

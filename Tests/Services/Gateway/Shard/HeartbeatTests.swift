// SPDX-License-Identifier: Apache-2.0
import Concurrency
import Gateway
import MachineKit
import PlazaModel
import PlazaWire
import Testing

/// The heartbeats and assertions that a gateway sends to presence.
///
/// A heartbeat says that a member, which is a viewer on this gateway, still watches. When presence has lost the state
/// of a partition, the gateway sends assertions, which list its members.
@Suite(.serialized, .timeLimit(.minutes(1))) struct HeartbeatTests {
    private let live = FakeCluster.key("room")

    @Test
    func `I4 each round sends every member's heartbeat, but soon none of a member whose socket is closed`()
        throws
    {
        // A lease, after which presence takes a silent member for lost, lasts nine rounds of heartbeats. It has 3600 ms
        // here, so a round takes 3600 / 9 = 400 ms.
        let cluster = try FakeCluster { $0.lease = Milliseconds(3600) }
        cluster.create("room")
        /// The number of heartbeats of a user that the gateway has written so far.
        func heartbeatCount(_ user: UserID) -> Int {
            cluster.state.withLock { $0.records }.reduce(0) { sum, record in
                guard let input = record.audienceInput, case .heartbeats(let heartbeats) = input.command else {
                    return sum
                }
                return sum + heartbeats.filter { $0.user == user }.count
            }
        }
        let bob = try cluster.viewer("bob", of: "room")
        let eve = try cluster.viewer("eve", of: "room")
        /// Waits until a user has had `count` heartbeats.
        func waitForHeartbeats(of user: UserID, count: Int) throws {
            // `waitForRecord` checks again whenever a record is written.
            _ = try cluster.waitForRecord { record -> Bool? in
                guard case .audienceInbox = record.topic else { return nil }
                return heartbeatCount(user) >= count ? true : nil
            }
        }
        try waitForHeartbeats(of: "bob", count: 3)
        let heartbeat = try cluster.waitForRecord { record -> Heartbeat? in
            guard let input = record.audienceInput, case .heartbeats(let heartbeats) = input.command else { return nil }
            return heartbeats.first { $0.user == "bob" }
        }
        #expect(heartbeat.ticket == Ticket(101), "bob joined first, with the fake cluster's first ticket, 101")
        #expect(
            heartbeat.silentFor >= 0 && heartbeat.silentFor < 3600,
            "the last sign of life is less than a lease of 3600 ms ago")
        // The test counts rounds by eve's heartbeats. When bob's socket is closed, the next three rounds may still send
        // his heartbeat, but the five rounds after these must not.
        bob.cutConnection()
        let roundsBefore = heartbeatCount("eve")
        try waitForHeartbeats(of: "eve", count: roundsBefore + 3)
        let bobsCount = heartbeatCount("bob")
        try waitForHeartbeats(of: "eve", count: roundsBefore + 8)
        #expect(heartbeatCount("bob") == bobsCount)
        // This use of eve's client keeps its connection open until here.
        _ = try eve.call("ping")
    }

    @Test func `I5 when presence has lost its state, the gateway asserts all members with their tickets, once`() throws
    {
        let cluster = try FakeCluster()
        cluster.create("room")
        let viewers = try (0..<5).map { try cluster.viewer("u\($0)", of: "room") }
        let partition = PlazaTopic.partition(of: self.live.text, among: FakeCluster.partitionCount)
        // A new presence epoch says that presence has lost the state of a partition. The new epoch of another partition
        // causes no assertion of this live.
        let otherPartition = (partition + 1) % FakeCluster.partitionCount
        cluster.gateway.received(PresenceEpochRecord(partition: otherPartition, epoch: "x"))
        cluster.gateway.received(PresenceEpochRecord(partition: partition, epoch: "y"))
        // The gateway may assert the members in several records. Each round waits for one with a new user.
        var assertedUsers: Set<UserID> = []
        while assertedUsers.count < viewers.count {
            let members = try cluster.waitForRecord { record -> [MemberSession]? in
                guard let input = record.audienceInput, input.key == self.live,
                    case .assert(let members) = input.command,
                    !members.allSatisfy({ assertedUsers.contains($0.user.userID) })
                else { return nil }
                return members
            }
            #expect(members.allSatisfy { $0.ticket > Ticket(100) }, "the fake cluster's tickets begin at 101")
            assertedUsers.formUnion(members.map(\.user.userID))
        }
        let isAssertion = { (record: TopicRecord) -> Bool in
            guard let input = record.audienceInput, case .assert = input.command else { return false }
            return true
        }
        let assertionCount = cluster.recordCount(isAssertion)
        // The same epoch arrives again.
        cluster.gateway.received(PresenceEpochRecord(partition: partition, epoch: "y"))
        #expect(try viewers[0].getsPong())
        #expect(
            cluster.recordCount(isAssertion) == assertionCount, "a repeated epoch causes no assertion")
    }
}

// SPDX-License-Identifier: Apache-2.0
import Concurrency
import Foundation
import MachineKit
import PlazaModel
import ServiceShell
import TestSupport
import Testing

/// Presence in its shell (the run loop of an instance), with a Redis of its own, on two kinds of broker.
///
/// Each test runs on the in-memory broker and, where Kafka is installed, on a real Kafka at the same time. All tests
/// share this Kafka and its consumer group, so the tests run one at a time.
@Suite(.serialized, .timeLimit(.minutes(3))) struct PresenceShellTests {
    static let modes: [KafkaMode] = RealKafka.isAvailable ? [.embedded, .full] : [.embedded]

    private let live = LiveKey("test", LiveID("presence-\(UUID().uuidString.prefix(8))"))
    /// Distinguishes the sessions of this run from those of earlier runs on the same broker.
    private let runID = UUID().uuidString.prefix(8)

    @Test func `I4 a silent viewer expires within two seconds of its lease, even across a change of owner`() async {
        await ConcurrentCase.runBlocking(Self.modes) { mode in
            let harness = try PresenceShellHarness(mode, leaseSeconds: 6)
            let firstShell = harness.start("one")
            try harness.write(.opened(epoch: 1, owner: UserInfo(userID: "host")), self.live)
            try harness.write(.join(caller: self.caller("alice", counter: 1)), self.live)
            try harness.write(.join(caller: self.caller("bob", counter: 1)), self.live)
            try harness.read(until: { PresenceShellHarness.ticket($0, session: self.session("bob")) != nil })
            let ticket = try #require(PresenceShellHarness.ticket(harness.records, session: self.session("bob")))
            #expect(firstShell.stop())
            let secondShell = harness.start("two")
            // bob's gateway continues to send heartbeats; alice's does not, so her lease expires.
            let beat = Heartbeat(session: self.session("bob"), user: "bob", ticket: Ticket(ticket), silentFor: 0)
            try harness.read(
                until: { PresenceShellHarness.joinsAndLeaves($0, self.live).contains { $0.text == "-alice" } },
                meanwhile: { try harness.write(.heartbeats(beats: [beat]), self.live) })
            try harness.write(.leave(caller: self.caller("bob", counter: 2, ticket: ticket)), self.live)
            try harness.read(until: {
                PresenceShellHarness.joinsAndLeaves($0, self.live).contains { $0.text == "-bob" }
                    && PresenceShellHarness.lastCount($0, self.live)?.count == 0
            })
            let changes = PresenceShellHarness.joinsAndLeaves(harness.records, self.live)
            #expect(changes.map(\.text) == ["+alice", "+bob", "-alice", "-bob"])
            let joinedAt = try #require(PresenceShellHarness.joinTime(harness.records, session: self.session("alice")))
            let leftAt = try #require(changes.first { $0.text == "-alice" }).at
            // The lease lasts 6 s and expires at most 2 s later. The time in which no instance owned the partition,
            // here at most 4 s, is added to the lease: 6 + 2 + 4 = 12 s.
            #expect((6000...12_000).contains((leftAt - joinedAt).count))
            #expect(PresenceShellHarness.lastCount(harness.records, self.live)?.totalViewers == 2)
            #expect(secondShell.stop())
        }
    }

    @Test func `I5 no viewer is lost when Redis dies and restarts empty`() async {
        await ConcurrentCase.runBlocking(Self.modes) { mode in
            let harness = try PresenceShellHarness(mode, leaseSeconds: 60)
            let shell = harness.start("one")
            try harness.write(.opened(epoch: 1, owner: UserInfo(userID: "host")), self.live)
            try harness.write(.join(caller: self.caller("alice", counter: 1)), self.live)
            try harness.read(until: {
                PresenceShellHarness.lastCount($0, self.live)?.count == 1
                    && PresenceShellHarness.ticket($0, session: self.session("alice")) != nil
            })
            let ticket = try #require(PresenceShellHarness.ticket(harness.records, session: self.session("alice")))
            harness.redis.kill()
            try harness.read(until: { PresenceShellHarness.lastCount($0, self.live)?.stale == true })
            try harness.redis.restart()
            let restartTime = MonotonicClock.now.milliseconds
            let member = MemberSession(
                session: self.session("alice"), user: UserInfo(userID: "alice"), ticket: Ticket(ticket), silentFor: 0)
            var lastAssertion: Int64 = 0
            try harness.read(
                until: { PresenceShellHarness.lastCount($0, self.live)?.stale == false },
                meanwhile: {
                    // In place of a gateway, the test asserts alice's session every 2 s.
                    guard MonotonicClock.now.milliseconds - lastAssertion > 2000 else { return }
                    lastAssertion = MonotonicClock.now.milliseconds
                    try harness.write(.assert(members: [member]), self.live)
                })
            // The count must be fresh again within 15 s; half a second is added for the test's own reads.
            #expect(MonotonicClock.now.milliseconds - restartTime < 15_500)
            #expect(PresenceShellHarness.lastCount(harness.records, self.live)?.count == 1)
            #expect(PresenceShellHarness.joinsAndLeaves(harness.records, self.live).map(\.text) == ["+alice"])
            #expect(shell.stop())
        }
    }

    @Test func `I4 after a failed attempt, presence processes inputs one at a time, and leases still expire`() async {
        await ConcurrentCase.runBlocking(Self.modes) { mode in
            let harness = try PresenceShellHarness(mode, leaseSeconds: 6)
            let firstShell = harness.start("one")
            try harness.write(.opened(epoch: 1, owner: UserInfo(userID: "host")), self.live)
            try harness.write(.join(caller: self.caller("alice", counter: 1)), self.live)
            try harness.read(until: { PresenceShellHarness.ticket($0, session: self.session("alice")) != nil })
            #expect(firstShell.stop())
            try harness.writeFailedAttempt(self.live)
            // 20 users join; with alice, the live then has 21 viewers.
            let users = (1...20).map { "viewer\($0)" }
            for user in users { try harness.write(.join(caller: self.caller(user, counter: 1)), self.live) }
            let secondShell = harness.start("two")
            try harness.read(until: { records in
                users.allSatisfy { PresenceShellHarness.ticket(records, session: self.session($0)) != nil }
            })
            try harness.read(until: { PresenceShellHarness.lastCount($0, self.live)?.totalViewers == 21 })
            #expect(PresenceShellHarness.lastCount(harness.records, self.live)?.totalViewers == 21)
            // Nobody sends heartbeats, so all leases expire. The ticks are processed one at a time too.
            try harness.read(until: { PresenceShellHarness.lastCount($0, self.live)?.count == 0 })
            let leaves = PresenceShellHarness.joinsAndLeaves(harness.records, self.live).filter {
                $0.text.hasPrefix("-")
            }
            #expect(Set(leaves.map(\.text)) == Set((users + ["alice"]).map { "-\($0)" }))
            #expect(leaves.count == 21, "expected that each viewer leaves once")
            #expect(secondShell.stop())
        }
    }

    /// The user's only session.
    private func session(_ user: String) -> SessionID { SessionID("\(user)-\(self.runID)") }

    /// The caller of call number `counter` of the user's session; a join has no ticket.
    private func caller(_ user: String, counter: Int64, ticket: Int64? = nil) -> Caller {
        Caller(
            user: UserInfo(userID: UserID(user)), role: .user,
            request: RequestID(session: self.session(user), counter: counter), replyTo: "gateway-1",
            ticket: ticket.map { Ticket($0) })
    }
}

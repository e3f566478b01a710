// SPDX-License-Identifier: Apache-2.0
import InspectKit
import MachineKit
import PlazaModel
import PlazaWire
import Testing

/// Tests of which users `plaza inspect` shows as present, from the records in presence's inbox.
///
/// Times are in seconds. A user is present from a join or heartbeat until a leave, or until the lease of 90 s ends.
@Suite struct PresenceTrackerTests {
    private typealias Fixture = InspectFixture

    private var tracker = PresenceTracker(lease: .seconds(90))

    /// Applies the record of a command; the offset of a join is its ticket.
    private mutating func apply(
        _ command: AudienceCommand, offset: Int64, at seconds: Int64, isRejected: Bool = false
    ) {
        let input = AudienceInput(Fixture.live, command)
        let entry = TopicEntry(
            .audienceInbox, offset: offset, time: Timestamp(milliseconds: seconds * 1000), key: Fixture.live.text,
            value: Wire.encode(input))
        self.tracker.apply(input, entry, isRejected: isRejected)
    }

    /// Advances the tracker's time, and returns the present users.
    private mutating func advance(to seconds: Int64) -> [UserID] {
        self.tracker.advance(to: Timestamp(milliseconds: seconds * 1000))
        return self.tracker.users(max: 10)
    }

    /// The heartbeat of a user whose last sign of life was `silence` ago.
    private static func heartbeat(
        _ user: UserID, ticket: Int64, silentFor silence: Milliseconds = Milliseconds(0)
    ) -> AudienceCommand {
        .heartbeats(beats: [
            Heartbeat(
                session: SessionID("s-\(user.text)"), user: user, ticket: Ticket(ticket), silentFor: silence.count)
        ])
    }

    @Test mutating func `a user is present after a join that was not rejected, and until the leave`() {
        // Alice joins, and Bob's join is rejected.
        self.apply(.join(caller: Fixture.caller("alice", 1, ticket: nil)), offset: 5, at: 10)
        self.apply(.join(caller: Fixture.caller("bob", 1, ticket: nil)), offset: 6, at: 10, isRejected: true)
        #expect(self.advance(to: 11) == ["alice"])
        self.apply(.leave(caller: Fixture.caller("alice", 2, ticket: 5)), offset: 7, at: 12)
        #expect(self.advance(to: 13) == [])
        // A heartbeat that arrives after the client has left does not make the client present again.
        self.apply(Self.heartbeat("alice", ticket: 5), offset: 8, at: 14)
        #expect(self.advance(to: 15) == [])
    }

    @Test mutating func `a heartbeat makes a user without a known join present, until the lease ends`() {
        // The heartbeat of second 100 reports a sign of life of second 90, so the lease ends in second 180.
        self.apply(Self.heartbeat("alice", ticket: 5, silentFor: .seconds(10)), offset: 90, at: 100)
        #expect(self.advance(to: 180) == ["alice"])
        #expect(self.advance(to: 182) == [])
    }

    @Test mutating func `a kicked user is not present, even after a heartbeat, until the user joins again`() {
        self.apply(.join(caller: Fixture.caller("alice", 1, ticket: nil)), offset: 5, at: 10)
        self.apply(
            .kick(user: "alice", reason: .byAdmin, caller: Fixture.caller("bob", 1)), offset: 9, at: 12)
        self.apply(Self.heartbeat("alice", ticket: 5), offset: 10, at: 13)
        #expect(self.advance(to: 14) == [])
        self.apply(.join(caller: Fixture.caller("alice", 2, ticket: nil)), offset: 11, at: 15)
        #expect(self.advance(to: 16) == ["alice"] && self.tracker.count == 1)
    }

    @Test mutating func `nobody is present after the live has been created again`() {
        self.apply(.join(caller: Fixture.caller("alice", 1, ticket: nil)), offset: 5, at: 10)
        self.apply(.opened(epoch: 9, owner: UserInfo(userID: "bob")), offset: 6, at: 11)
        #expect(self.advance(to: 12) == [])
    }
}

// SPDX-License-Identifier: Apache-2.0
import AudienceCore
import CoreKit
import PlazaModel
import Testing

/// What an app's backend hears of members (reference 14).
@Suite struct BackendTests {
    private static func room() -> Room {
        var policy = AppPolicy()
        policy.hasWebhooks = true
        return Room(policies: Policies(["demo": policy]))
    }

    private static func heard(_ effects: [Effect]) -> [WebhookContent] {
        effects.compactMap { if case .webhook(let event) = $0 { event.content } else { nil } }
    }

    private static func state(_ isOnline: Bool, _ cause: MemberCause, _ users: [UserInfo]) -> [WebhookContent] {
        [.memberState(isOnline: isOnline, cause: cause, users: users)]
    }

    @Test func `a backend hears of entering and leaving, of a lost heartbeat and its return, each by its cause`() {
        var room = Self.room()
        var effects = room.send(
            .join(caller: Room.caller(Room.alice, 1)), room.did([.joined(isFirst: true, count: 1)]))
        #expect(Self.heard(effects) == Self.state(true, .enter, [Room.alice]))
        let ticket = Ticket(room.offset)
        effects = room.send(
            .join(caller: Room.caller(Room.alice, 1, session: "s2")), room.did([.joined(isFirst: false, count: 1)]))
        #expect(Self.heard(effects).isEmpty)
        effects = room.tick(after: .seconds(91), [.expired(live: Room.key, user: Room.alice, count: 0)])
        #expect(Self.heard(effects) == Self.state(false, .heartbeatInterrupt, [Room.alice]))
        let beat = Beat(session: "s1", user: "alice", ticket: ticket, silentFor: 0)
        effects = room.send(.heartbeats(beats: [beat]), room.did([.back(user: Room.alice, count: 1)]))
        #expect(Self.heard(effects) == Self.state(true, .heartbeatRecover, [Room.alice]))
        effects = room.send(
            .leave(caller: Room.caller(Room.alice, 2, ticket: ticket.offset)),
            room.did([.left(user: Room.alice, isLast: true, count: 0)]))
        #expect(Self.heard(effects) == Self.state(false, .leave, [Room.alice]))
        effects = room.send(
            .kick(user: "bob", reason: .byAdmin, caller: Room.caller(Room.owner, 1)),
            room.did([.kicked(user: Room.bob, count: 0)]))
        #expect(Self.heard(effects) == Self.state(false, .leave, [Room.bob]))
    }

    @Test func `those whose leases end together are told together, in parts`() {
        var room = Self.room()
        let users = (0..<450).map { UserInfo(userID: UserID("u\($0)")) }
        let effects = room.tick(
            after: .seconds(91), users.map { .expired(live: Room.key, user: $0, count: 0) })
        let heard = Self.heard(effects)
        #expect(heard.count == 3)
        var told: [UserInfo] = []
        for case .memberState(false, .heartbeatInterrupt, let part) in heard { told += part }
        #expect(told == users)
    }

    @Test func `I5 a backend hears nothing of a loss of the leases, and one without a hook nothing at all`() {
        var room = Self.room()
        _ = room.send(.join(caller: Room.caller(Room.alice, 1)), room.did([.joined(isFirst: true, count: 1)]))
        let ticket = Ticket(room.offset)
        var effects = room.begin("e2")
        let beat = Beat(session: "s1", user: "alice", ticket: ticket, silentFor: 0)
        effects += room.send(.heartbeats(beats: [beat]), room.did([.back(user: Room.alice, count: 1)]))
        effects += room.tick(after: .seconds(12))
        #expect(Self.heard(effects).isEmpty)
        var other = Room()
        let joined = other.send(
            .join(caller: Room.caller(Room.alice, 1)), other.did([.joined(isFirst: true, count: 1)]))
        #expect(Self.heard(joined).isEmpty)
    }
}

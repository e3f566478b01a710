// SPDX-License-Identifier: Apache-2.0
import MachineKit
import MachineTestSupport
import PlazaModel
import Testing

@testable import DirectoryCore

/// Creates that are sent again: a repeated create, and a late retry.
///
/// A late retry is a copy of a call that is sent more than 60 s after the first copy. A claim is the row by which an
/// owner's partition stores the one live that the owner runs.
///
/// In `DirectoryHarness.withLive`, alice owns the live `show`, which she created with her call 1.
@Suite struct RepeatedCreateTests {
    @Test func `I15 a repeated create gets the same reply and opens nothing`() {
        var directory = DirectoryHarness()
        let first = directory.sendWithFollowUps(createCommand(by: user("alice", call: 1)))
        let repeated = directory.sendWithFollowUps(createCommand(by: user("alice", call: 1)))
        // The last effect of the first call is its reply.
        #expect(repeated == first.suffix(1))
        // When the live has ended, the repeated create still gets the same reply, and opens no live.
        _ = directory.sendWithFollowUps(.end(live: live, caller: user("alice", call: 2)))
        _ = directory.advance(.seconds(2))
        #expect(directory.sendWithFollowUps(createCommand(by: user("alice", call: 1))) == repeated)
        #expect(directory.liveRow?.ended == .endedByHost)
        directory.expectInvariants()
    }

    /// Rules: R16.8.
    @Test func `I15 a repeated create whose outcome is forgotten opens nothing`() {
        var directory = DirectoryHarness.withLive()
        _ = directory.sendWithFollowUps(.end(live: live, caller: user("alice", call: 2)))
        // alice's session has two idempotency windows: at her partition for creates, and at the live's partition. A
        // window expires 60 s after its last call, rounded up to a multiple of 10 s.
        // Call 3, a create that alice's partition rejects, extends only the first window, to 55 + 60 = 115 s.
        _ = directory.advance(.seconds(55))
        #expect(codes(directory.sendWithFollowUps(createCommand(by: user("alice", call: 3), "a b"))) == [.badRoomID])
        // After 55 + 30 = 85 s, alice repeats call 1. Her partition still knows the call. The live's partition does
        // not, because its window expired after 70 s at the latest.
        _ = directory.advance(.seconds(30))
        #expect(codes(directory.sendWithFollowUps(createCommand(by: user("alice", call: 1)))) == [.requestForgotten])
        #expect(directory.liveRow?.ended == .endedByHost)
        directory.expectInvariants()
    }

    @Test func `I15 a repeated create that was rejected is rejected again, even if it would succeed now`() {
        var directory = DirectoryHarness.withLive()
        let first = directory.sendWithFollowUps(createCommand(by: user("bob", call: 1)))
        #expect(codes(first) == [.roomExists])
        // Two seconds after the end of alice's live, its id is free.
        _ = directory.sendWithFollowUps(.end(live: live, caller: user("alice", call: 2)))
        _ = directory.advance(.seconds(2))
        #expect(directory.sendWithFollowUps(createCommand(by: user("bob", call: 1))) == first)
        directory.expectInvariants()
    }

    @Test func `I15 a create with the request id of a create for another owner opens nothing and leaves no claim`() {
        var directory = DirectoryHarness()
        _ = directory.sendWithFollowUps(createCommand(by: server(call: 1), owner: alice))
        let effects = directory.sendWithFollowUps(createCommand(by: server(call: 1), owner: UserInfo(userID: "bob")))
        #expect(results(effects).count == 1, "expected the reply to the first create")
        #expect(directory.rows[.claim(UserKey(app, "bob"))] == nil)
        directory.expectInvariants()
    }

    /// Rules: R16.11.
    @Test func `I15 a late retry is not applied, and gets its first outcome while that outcome is recorded`() {
        var directory = DirectoryHarness()
        var lateCreate = user("alice", call: 1, ticket: nil)
        lateCreate.isLateRetry = true
        let create = DirectoryCommand.create(live: live, changes: LiveChanges(), owner: alice, caller: lateCreate)
        #expect(codes(directory.sendWithFollowUps(create)) == [.requestForgotten])
        #expect(directory.rows.count == 0)
        // In this directory, the first copy of alice's call 1 has created the live.
        directory = DirectoryHarness.withLive()
        #expect(results(directory.sendWithFollowUps(create)).count == 1, "expected the reply to the first copy")
        // No first copy of call 2 was received.
        var lateUpdate = user("alice", call: 2)
        lateUpdate.isLateRetry = true
        let before = directory.liveRow
        #expect(
            codes(directory.send(.setMetadata(live: live, values: ["a": "1"], caller: lateUpdate))) == [
                .requestForgotten
            ])
        #expect(directory.liveRow == before)
        directory.expectInvariants()
    }
}

// SPDX-License-Identifier: Apache-2.0
import MachineKit
import MachineTestSupport
import PlazaModel
import Testing

@testable import DirectoryCore

/// Ends, updates and metadata of a live.
///
/// Presence is the machine that knows who is in a live; the fan-out is the machine that writes the feed.
///
/// In `DirectoryHarness.withLive`, alice owns the live, which she created with her call 1. Input 2 opens the live, so
/// the live's epoch is 2 and the tests' first input has offset 3. A revision is the offset of the input that changed
/// the live.
@Suite struct LiveCallTests {
    /// Rules: R3.55.
    @Test func `I1 a live ends once, the connection machine gets the end first, and the claim is released`() throws {
        var directory = DirectoryHarness.withLive()
        let liveRow = try #require(directory.liveRow)
        let caller = user("alice", call: 2)
        let ending = Ending(
            reason: .endedByHost, caller: caller, epoch: 2, createdAt: liveRow.info.createTime, endedAt: directory.now)
        let release = DirectoryCommand.release(owner: "alice", live: live, thenReply: nil)
        #expect(
            directory.send(.end(live: live, caller: caller)) == [
                .live(LiveRecord(app: app, info: liveRow.info, epoch: 2, revision: 3, ended: .endedByHost)),
                .connection(ConnectionInput(app: app, .ended(live: live, ending: ending))),
                .directory(DirectoryInput(app: app, release), key: "demo/alice"),
            ])
        #expect(directory.send(release) == [])
        directory.expectInvariants()
        #expect(codes(directory.sendWithFollowUps(.end(live: live, caller: user("alice", call: 3)))) == [.noSuchRoom])
        // alice's call 2 is sent again. The directory passes it on to the fan-out, which replied to the first copy and
        // now repeats its reply.
        #expect(
            directory.send(.end(live: live, caller: caller))
                == [.barrage(BarrageInput(key, .repeatEnding(caller: caller)))])
    }

    @Test func `I1 I15 a repeated end does not end a newer live with the same id`() {
        var directory = DirectoryHarness.withLive()
        let caller = user("alice", call: 2)
        _ = directory.sendWithFollowUps(.end(live: live, caller: caller))
        _ = directory.advance(.seconds(2))
        _ = directory.sendWithFollowUps(
            .create(live: live, changes: LiveChanges(), owner: alice, caller: user("alice", call: 3)))
        #expect(directory.liveRow?.ended == nil)
        #expect(codes(directory.sendWithFollowUps(.end(live: live, caller: caller))) == [.requestForgotten])
        #expect(directory.liveRow?.ended == nil)
        directory.expectInvariants()
    }

    /// The last machine that handles an end reports `closed`, with the epoch of the live.
    ///
    /// Rules: R3.7.
    @Test func `a live's id can be used again when all machines have handled the live's end`() {
        var directory = DirectoryHarness.withLive()
        _ = directory.send(.end(live: live, caller: user("alice", call: 2)))
        _ = directory.send(.release(owner: "alice", live: live, thenReply: nil))
        _ = directory.advance(.seconds(5))
        func create(call counter: Int64) -> [Effect] {
            directory.sendWithFollowUps(
                .create(live: live, changes: LiveChanges(), owner: alice, caller: user("alice", call: counter)))
        }
        #expect(codes(create(call: 3)) == [.createdTooOften])
        _ = directory.send(.closed(live: live, epoch: 1))
        #expect(
            codes(create(call: 4)) == [.createdTooOften], "expected a rejection, because the ended live has epoch 2")
        _ = directory.send(.closed(live: live, epoch: 2))
        #expect(results(create(call: 5)).count == 1)
        directory.expectInvariants()
    }

    @Test func `an ended live's row and its public record are removed after five minutes`() {
        var directory = DirectoryHarness.withLive()
        _ = directory.sendWithFollowUps(.end(live: live, caller: server(call: 1)))
        #expect(directory.liveRow?.ended == .endedByServer)
        #expect(directory.advance(Milliseconds(299_999)) == [])
        #expect(directory.advance(Milliseconds(1)) == [.liveRemoved(key)])
        #expect(directory.liveRow == nil)
        #expect(codes(directory.sendWithFollowUps(.end(live: live, caller: server(call: 2)))) == [.noSuchRoom])
        // A call's outcome is kept for 60 s, then the call's number for 300 s; each time is rounded up by at most 10 s.
        // After 70 + 310 = 380 s the idempotency windows are empty and removed.
        _ = directory.advance(.seconds(380))
        #expect(directory.rows.count == 0)
    }

    @Test func `I2 a viewer cannot change a live, and an admin can neither end it nor set another admin`() {
        // bob is an admin, carl a viewer.
        var directory = DirectoryHarness.withLive()
        directory.makeAdmin("bob", call: 2)
        let values = ["k": "v"]
        #expect(
            codes(directory.send(.setMetadata(live: live, values: values, caller: user("carl", call: 1))))
                == [.needsOwnerOrAdmin])
        #expect(
            codes(
                directory.send(
                    .updateInfo(live: live, changes: LiveChanges(notice: "n"), caller: user("carl", call: 2))))
                == [.needsOwnerOrAdmin])
        #expect(codes(directory.send(.end(live: live, caller: user("bob", call: 1)))) == [.needsOwner])
        #expect(
            codes(directory.send(.setAdmin(live: live, user: "carl", caller: user("bob", call: 2)))) == [.needsOwner])
        for caller in [user("bob", call: 3), user("alice", call: 3), server(call: 1)] {
            #expect(results(directory.send(.setMetadata(live: live, values: values, caller: caller))) == [.done])
        }
        directory.expectInvariants()
    }

    /// Rules: R3.36, R3.40, R3.65.
    @Test func `an update is stored, sent to the feed and the seat machine, and answered with the new info`() throws {
        var directory = DirectoryHarness.withLive()
        var info = try #require(directory.liveRow).info
        let caller = user("alice", call: 2)
        info.notice = "soon"
        info.isMessageDisable = true
        let changes = LiveChanges(notice: "soon", isMessageDisable: true)
        let reply = Reply(
            to: caller, app: app, .success(result: .live(info: info, epoch: 2, revision: 3)),
            required: RequiredRevision(.rooms, live, revision: 3))
        #expect(
            directory.send(.updateInfo(live: live, changes: changes, caller: caller)) == [
                .live(LiveRecord(app: app, info: info, epoch: 2, revision: 3)),
                .barrage(BarrageInput(key, .publish(content: .infoChanged(info: info, revision: 3)))),
                .barrage(BarrageInput(key, .rights(isMessageDisable: true, admins: [], isGiftEnabled: true))),
                .seat(SeatInput(key, .infoChanged(info: info))),
                .reply(reply),
            ])
        // The same update in a new call changes nothing: its only effect is the reply, with the revision of the last
        // change.
        let unchanged = directory.send(.updateInfo(live: live, changes: changes, caller: user("alice", call: 3)))
        #expect(
            unchanged == [
                .success(
                    .live(info: info, epoch: 2, revision: 3), to: user("alice", call: 3), app: app,
                    required: RequiredRevision(.rooms, live, revision: 3))
            ])
        #expect(
            codes(
                directory.send(
                    .updateInfo(live: live, changes: LiveChanges(seatTemplate: 70), caller: user("alice", call: 4))))
                == [.wrongRoomKind], "expected a rejection, because template 70 would make the video live a voice live")
    }

    /// Rules: R3.19.
    @Test func `changed limits are sent to presence, changed rights to the fan-out`() {
        var directory = DirectoryHarness.withLive(LiveChanges(isGiftEnabled: false, maxMemberCount: 10))
        func update(_ changes: LiveChanges, call counter: Int64) -> [Effect] {
            directory.send(.updateInfo(live: live, changes: changes, caller: user("alice", call: counter)))
        }
        let giftChange = update(LiveChanges(isGiftEnabled: true), call: 2)
        #expect(
            giftChange.contains(
                .barrage(BarrageInput(key, .rights(isMessageDisable: false, admins: [], isGiftEnabled: true)))))
        #expect(!giftChange.contains(.audience(AudienceInput(key, .rights(admins: [], maxMembers: 10)))))
        let limitChange = update(LiveChanges(maxMemberCount: 20), call: 3)
        #expect(limitChange.contains(.audience(AudienceInput(key, .rights(admins: [], maxMembers: 20)))))
        // When a live is created, its limits and its rights are sent.
        var newDirectory = DirectoryHarness()
        let opened = newDirectory.sendWithFollowUps(
            .create(
                live: live, changes: LiveChanges(isGiftEnabled: false, maxMemberCount: 10), owner: alice,
                caller: user("alice", call: 1)))
        #expect(opened.contains(.audience(AudienceInput(key, .rights(admins: [], maxMembers: 10)))))
        #expect(
            opened.contains(
                .barrage(BarrageInput(key, .rights(isMessageDisable: false, admins: [], isGiftEnabled: false)))))
    }

    /// Rules: R3.42, R3.45.
    @Test func `I2 the last write of a metadata key wins, and each change is published`() {
        var directory = DirectoryHarness.withLive()
        _ = directory.send(.setMetadata(live: live, values: ["a": "1", "b": "1"], caller: user("alice", call: 2)))
        let effects = directory.send(.setMetadata(live: live, values: ["b": "2"], caller: user("alice", call: 3)))
        #expect(directory.liveRow?.info.metaData == ["a": "1", "b": "2"])
        #expect(
            effects.contains(
                .barrage(
                    BarrageInput(key, .publish(content: .metadataChanged(set: ["b": "2"], removed: [], revision: 4))))))
        // "z" does not exist, and "b" is named twice.
        let deleted = directory.send(
            .deleteMetadata(live: live, keys: ["b", "z", "b"], caller: user("alice", call: 4)))
        #expect(directory.liveRow?.info.metaData == ["a": "1"])
        #expect(
            deleted.contains(
                .barrage(
                    BarrageInput(key, .publish(content: .metadataChanged(set: [:], removed: ["b"], revision: 5))))))
        #expect(
            codes(directory.send(.deleteMetadata(live: live, keys: ["z"], caller: user("alice", call: 5))))
                == [.noSuchMetadataKey])
    }

    /// Rules: R3.43.
    @Test func `I2 a metadata call over any limit changes nothing`() {
        var directory = DirectoryHarness.withLive()
        let eightValues = Dictionary(
            uniqueKeysWithValues: (0..<8).map { ("k\($0)", String(repeating: "v", count: 2000)) })
        _ = directory.send(.setMetadata(live: live, values: eightValues, caller: user("alice", call: 2)))
        let before = directory.liveRow
        let longestValue = String(repeating: "v", count: 2048)
        let cases: [(values: [String: String], code: ReplyCode)] = [
            // A live has at most ten keys, of which eight are used.
            (["a": "1", "b": "2", "c": "3"], .tooManyMetadataKeys),
            (["a": longestValue + "v"], .metadataValueTooLong),
            // A value has at most 2048 bytes, and at most 4096 as JSON, where a control character has six: 683 * 6 =
            // 4098.
            (["a": String(repeating: "\u{1}", count: 683)], .metadataValueTooLong),
            // All values together have at most 16 KB (16,384 bytes), of which 8 * 2000 = 16,000 bytes are used.
            (["a": longestValue], .metadataTooLong),
            // A key has at most 50 bytes.
            ([String(repeating: "k", count: 51): "v"], .metadataKeyTooLong),
            // A key has no control character and is not empty, and a call has at least one key.
            (["a\n": "v"], .badParameter),
            (["": "v"], .badParameter),
            ([:], .badParameter),
        ]
        for (index, (values, code)) in cases.enumerated() {
            let caller = user("alice", call: Int64(10 + index))
            let effects = directory.send(.setMetadata(live: live, values: values, caller: caller))
            #expect(codes(effects) == [code])
            #expect(effects.count == 1, "expected the rejection alone")
            #expect(directory.liveRow == before)
        }
        // A call exactly at the limits is accepted: 8 + 2 = 10 keys, and 16,000 + 300 + 84 = 16,384 bytes in all
        // values.
        let remaining = ["a": String(repeating: "v", count: 300), "b": String(repeating: "v", count: 84)]
        #expect(
            results(directory.send(.setMetadata(live: live, values: remaining, caller: user("alice", call: 30)))) == [
                .done
            ])
        directory.expectInvariants()
    }
}

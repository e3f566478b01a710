// SPDX-License-Identifier: Apache-2.0
import CoreKit
import PlazaModel
import Testing

@testable import DirectoryCore

/// What an app's backend hears of its lives.
@Suite struct BackendEventTests {
    /// A directory in which alice runs the live, of an app with a backend.
    private func directory() -> DirectoryHarness {
        var policy = AppPolicy()
        policy.hasWebhooks = true
        var directory = DirectoryHarness()
        directory.machine = DirectoryMachine(policies: Policies([app: policy]))
        _ = directory.settle(
            .create(live: live, changes: LiveChanges(), owner: alice, caller: user("alice", 1, ticket: nil)))
        return directory
    }

    private func told(_ effects: [Effect]) -> [WebhookContent] {
        effects.compactMap { if case .webhook(let event) = $0, event.key == key { event.content } else { nil } }
    }

    @Test func `a changed info is told with who changed it, one that is as it was is not`() throws {
        var directory = self.directory()
        let update = DirectoryCommand.updateInfo(
            live: live, changes: LiveChanges(notice: "soon"), caller: user("alice", 2))
        let effects = directory.send(update)
        let info = try #require(directory.room).info
        #expect(info.notice == "soon")
        #expect(self.told(effects) == [.roomUpdated(info: info, by: "alice")])
        #expect(self.told(directory.send(update)) == [], "sent again, it is answered and nothing else")
        let same = directory.send(
            .updateInfo(live: live, changes: LiveChanges(notice: "soon"), caller: user("alice", 3)))
        #expect(results(same).count == 1 && self.told(same) == [])
        let refused = directory.send(
            .updateInfo(live: live, changes: LiveChanges(notice: "mine"), caller: user("bob", 1)))
        #expect(codes(refused) == [.needsOwnerOrAdmin] && self.told(refused) == [])
    }

    @Test func `metadata that was set or deleted is told, keys that were not there are not`() {
        var directory = self.directory()
        let set = directory.send(
            .setMetadata(live: live, values: ["b": "2", "a": "1"], caller: server(1)))
        #expect(self.told(set) == [.metadataSet(values: ["a": "1", "b": "2"], by: "backend")])
        let same = directory.send(.setMetadata(live: live, values: ["b": "2"], caller: server(2)))
        #expect(results(same) == [.done] && same.count == 1, "what changes nothing is told to nobody")
        for (counter, values) in [[:], ["": "x"], ["c": "3", "": ""]].enumerated() {
            let none = directory.send(.setMetadata(live: live, values: values, caller: server(Int64(counter) + 3)))
            #expect(codes(none) == [.badParameter] && none.count == 1, "\(values)")
        }
        #expect(directory.room?.info.metaData == ["a": "1", "b": "2"])
        let deleted = directory.send(
            .deleteMetadata(live: live, keys: ["b", "none", "a"], caller: user("alice", 2)))
        #expect(self.told(deleted) == [.metadataDeleted(keys: ["a", "b"], by: "alice")])
    }

    @Test func `an admin is told when presence has vouched, and when it is none any more`() {
        var directory = self.directory()
        let caller = user("alice", 2)
        #expect(self.told(directory.send(.setAdmin(live: live, user: "bob", caller: caller))) == [])
        let vouched = directory.send(.setAdminVouched(live: live, user: "bob", caller: caller))
        #expect(
            self.told(vouched) == [.adminChanged(user: "bob", isAdmin: true, admins: ["bob"], by: "alice")])
        let revoked = directory.send(.revokeAdmin(live: live, user: "bob", caller: user("alice", 3)))
        #expect(self.told(revoked) == [.adminChanged(user: "bob", isAdmin: false, admins: [], by: "alice")])
    }

    @Test func `an end takes along what the live was, for apps with a backend alone`() throws {
        func ending(_ effects: [Effect]) -> Ending? {
            for case .connection(let input) in effects {
                if case .ended(_, let ending) = input.command { return ending }
            }
            return nil
        }
        var directory = self.directory()
        let info = try #require(directory.room).info
        let end = try #require(ending(directory.send(.end(live: live, caller: user("alice", 2)))))
        #expect(end.info == info)
        var other = DirectoryHarness.running()
        let bare = try #require(ending(other.send(.end(live: live, caller: user("alice", 2)))))
        #expect(bare.info == nil)
    }

    @Test func `an app without a backend is told nothing`() {
        var directory = DirectoryHarness.running()
        let effects = directory.send(
            .updateInfo(live: live, changes: LiveChanges(notice: "soon"), caller: user("alice", 2)))
        #expect(results(effects).count == 1 && self.told(effects) == [])
    }
}

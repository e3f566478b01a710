// SPDX-License-Identifier: Apache-2.0
import MachineTestSupport
import PlazaModel
import Testing

@testable import DirectoryCore

/// The webhook events that report changes of a live to an app's backend.
@Suite struct BackendEventTests {
    /// A directory in which alice has created the live `show` with her call 1, in an app with webhooks.
    private func directory() -> DirectoryHarness {
        var policy = AppPolicy()
        policy.hasWebhooks = true
        var directory = DirectoryHarness()
        directory.machine = DirectoryMachine(policies: Policies([app: policy]))
        _ = directory.sendWithFollowUps(
            .create(live: live, changes: LiveChanges(), owner: alice, caller: user("alice", call: 1, ticket: nil)))
        return directory
    }

    /// The contents of the webhook events about the live `show`.
    private func webhookContents(_ effects: [Effect]) -> [WebhookContent] {
        effects.compactMap { if case .webhook(let event) = $0, event.key == key { event.content } else { nil } }
    }

    /// Rules: R14.17.
    @Test func `an update is sent to the backend, with the user who made it, but only if it changes the info`() throws {
        var directory = self.directory()
        let update = DirectoryCommand.updateInfo(
            live: live, changes: LiveChanges(notice: "soon"), caller: user("alice", call: 2))
        let effects = directory.send(update)
        let info = try #require(directory.liveRow).info
        #expect(info.notice == "soon")
        #expect(self.webhookContents(effects) == [.roomUpdated(info: info, by: "alice")])
        #expect(
            self.webhookContents(directory.send(update)) == [], "expected only the reply, because the call is repeated")
        let unchanged = directory.send(
            .updateInfo(live: live, changes: LiveChanges(notice: "soon"), caller: user("alice", call: 3)))
        #expect(results(unchanged).count == 1 && self.webhookContents(unchanged) == [])
        let rejected = directory.send(
            .updateInfo(live: live, changes: LiveChanges(notice: "mine"), caller: user("bob", call: 1)))
        #expect(codes(rejected) == [.needsOwnerOrAdmin] && self.webhookContents(rejected) == [])
    }

    /// Rules: R14.18.
    @Test func `changed metadata is sent to the backend, and a deletion names only the keys that existed`() {
        var directory = self.directory()
        let set = directory.send(
            .setMetadata(live: live, values: ["b": "2", "a": "1"], caller: server(call: 1)))
        #expect(self.webhookContents(set) == [.metadataSet(values: ["a": "1", "b": "2"], by: "backend")])
        let unchanged = directory.send(.setMetadata(live: live, values: ["b": "2"], caller: server(call: 2)))
        #expect(results(unchanged) == [.done] && unchanged.count == 1, "expected the reply alone, without a change")
        // Invalid calls have no effect but their rejection: one without a key, and two with an empty key.
        for (index, values) in [[:], ["": "x"], ["c": "3", "": ""]].enumerated() {
            let rejected = directory.send(
                .setMetadata(live: live, values: values, caller: server(call: Int64(index) + 3)))
            #expect(codes(rejected) == [.badParameter] && rejected.count == 1, "\(values)")
        }
        #expect(directory.liveRow?.info.metaData == ["a": "1", "b": "2"])
        let deleted = directory.send(
            .deleteMetadata(live: live, keys: ["b", "none", "a"], caller: user("alice", call: 2)))
        #expect(self.webhookContents(deleted) == [.metadataDeleted(keys: ["a", "b"], by: "alice")])
    }

    /// Rules: R14.19.
    @Test func `a webhook event reports a new admin once membership is verified, and a revoked admin`() {
        var directory = self.directory()
        let caller = user("alice", call: 2)
        #expect(self.webhookContents(directory.send(.setAdmin(live: live, user: "bob", caller: caller))) == [])
        let verified = directory.send(.adminMembershipVerified(live: live, user: "bob", caller: caller))
        #expect(
            self.webhookContents(verified) == [.adminChanged(user: "bob", isAdmin: true, admins: ["bob"], by: "alice")]
        )
        let revoked = directory.send(.revokeAdmin(live: live, user: "bob", caller: user("alice", call: 3)))
        #expect(
            self.webhookContents(revoked) == [.adminChanged(user: "bob", isAdmin: false, admins: [], by: "alice")])
    }

    /// Rules: R14.16.
    @Test func `the end of a live passes the live's info on to the next machines only in apps with webhooks`() throws {
        /// The ending that the connection machine gets.
        func ending(_ effects: [Effect]) -> Ending? {
            for case .connection(let input) in effects {
                if case .ended(_, let ending) = input.command { return ending }
            }
            return nil
        }
        var directory = self.directory()
        let info = try #require(directory.liveRow).info
        let endingWithWebhooks = try #require(
            ending(directory.send(.end(live: live, caller: user("alice", call: 2)))))
        #expect(endingWithWebhooks.info == info)
        var directoryWithoutWebhooks = DirectoryHarness.withLive()
        let endingWithoutWebhooks = try #require(
            ending(directoryWithoutWebhooks.send(.end(live: live, caller: user("alice", call: 2)))))
        #expect(endingWithoutWebhooks.info == nil)
    }

    @Test func `an app without webhooks gets no events`() {
        var directory = DirectoryHarness.withLive()
        let effects = directory.send(
            .updateInfo(live: live, changes: LiveChanges(notice: "soon"), caller: user("alice", call: 2)))
        #expect(results(effects).count == 1 && self.webhookContents(effects) == [])
    }
}

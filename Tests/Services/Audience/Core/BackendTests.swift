// SPDX-License-Identifier: Apache-2.0
import AudienceCore
import MachineKit
import PlazaModel
import Testing

/// Webhook events that report to an app's backend which users are in a live (R14.13 and R14.14 in docs/RULES.md).
@Suite struct BackendTests {
    /// A live of an app with webhooks.
    private static func harness() -> AudienceHarness {
        var policy = AppPolicy()
        policy.hasWebhooks = true
        return AudienceHarness(policies: Policies(["demo": policy]))
    }

    /// The contents of the webhook events among the effects.
    private static func webhooks(_ effects: [Effect]) -> [WebhookContent] {
        effects.compactMap { if case .webhook(let event) = $0 { event.content } else { nil } }
    }

    /// A single event, which reports that these users are in the live (`isOnline`) or not, and why.
    private static func singleEvent(
        isOnline: Bool, _ cause: MemberCause, _ users: [UserInfo]
    ) -> [WebhookContent] {
        [.memberState(isOnline: isOnline, cause: cause, users: users)]
    }

    /// Rules: R14.13.
    @Test func `a backend is notified of joins, leaves, expiries and returns, each with its cause`() {
        var harness = Self.harness()
        var effects = harness.send(
            .join(caller: AudienceHarness.caller(AudienceHarness.alice, counter: 1)),
            redisResult: .changed([.joined(isFirst: true, count: 1)]))
        #expect(Self.webhooks(effects) == Self.singleEvent(isOnline: true, .enter, [AudienceHarness.alice]))
        let ticket = Ticket(harness.offset)
        effects = harness.send(
            .join(caller: AudienceHarness.caller(AudienceHarness.alice, counter: 1, session: "s2")),
            redisResult: .changed([.joined(isFirst: false, count: 1)]))
        #expect(Self.webhooks(effects).isEmpty, "expected no event, because alice is in the live already")
        effects = harness.tick(
            after: .seconds(91), changes: [.expired(live: AudienceHarness.key, user: AudienceHarness.alice, count: 0)])
        #expect(
            Self.webhooks(effects) == Self.singleEvent(isOnline: false, .heartbeatInterrupt, [AudienceHarness.alice]))
        let heartbeat = AudienceHarness.heartbeat(of: "alice", ticket: ticket)
        effects = harness.send(
            .heartbeats(beats: [heartbeat]), redisResult: .changed([.returned(user: AudienceHarness.alice, count: 1)]))
        #expect(Self.webhooks(effects) == Self.singleEvent(isOnline: true, .heartbeatRecover, [AudienceHarness.alice]))
        effects = harness.send(
            .leave(caller: AudienceHarness.caller(AudienceHarness.alice, counter: 2, ticket: ticket.offset)),
            redisResult: .changed([.left(user: AudienceHarness.alice, isLast: true, count: 0)]))
        #expect(Self.webhooks(effects) == Self.singleEvent(isOnline: false, .leave, [AudienceHarness.alice]))
        effects = harness.send(
            .kick(user: "bob", reason: .byAdmin, caller: AudienceHarness.caller(AudienceHarness.owner, counter: 1)),
            redisResult: .changed([.kicked(user: AudienceHarness.bob, count: 0)]))
        #expect(
            Self.webhooks(effects) == Self.singleEvent(isOnline: false, .leave, [AudienceHarness.bob]),
            "expected that a kick is reported as a leave")
    }

    /// Rules: R14.14.
    @Test func `users whose leases expire together are reported together, in events of limited size`() {
        var harness = Self.harness()
        let users = (0..<450).map { UserInfo(userID: UserID("u\($0)")) }
        let effects = harness.tick(
            after: .seconds(91), changes: users.map { .expired(live: AudienceHarness.key, user: $0, count: 0) })
        let events = Self.webhooks(effects)
        #expect(events.count == 3, "expected 200 + 200 + 50 users, because an event has at most 200")
        var reported: [UserInfo] = []
        for case .memberState(false, .heartbeatInterrupt, let group) in events { reported += group }
        #expect(reported == users)
    }

    @Test func `I5 a loss of the leases is not reported to a backend, and an app without webhooks gets no event`() {
        var harness = Self.harness()
        _ = harness.send(
            .join(caller: AudienceHarness.caller(AudienceHarness.alice, counter: 1)),
            redisResult: .changed([.joined(isFirst: true, count: 1)]))
        let ticket = Ticket(harness.offset)
        var effects = harness.beginEpoch("e2")
        let heartbeat = AudienceHarness.heartbeat(of: "alice", ticket: ticket)
        effects += harness.send(
            .heartbeats(beats: [heartbeat]), redisResult: .changed([.returned(user: AudienceHarness.alice, count: 1)]))
        effects += harness.tick(after: .seconds(12))
        #expect(Self.webhooks(effects).isEmpty)
        var harnessWithoutWebhooks = AudienceHarness()
        let joined = harnessWithoutWebhooks.send(
            .join(caller: AudienceHarness.caller(AudienceHarness.alice, counter: 1)),
            redisResult: .changed([.joined(isFirst: true, count: 1)]))
        #expect(Self.webhooks(joined).isEmpty)
    }
}

// SPDX-License-Identifier: Apache-2.0
import PlazaModel
import Testing

/// The JSON of public records, feed items, notices and replies is the one in the golden files.
@Suite struct GoldenRecordTests {
    /// Rules: R3.20.
    @Test func `records of rooms match the golden file`() throws {
        var ended = Samples.liveRecord
        ended.ended = .endedByHost
        var endedByServer = Samples.liveRecord
        endedByServer.ended = .endedByServer
        try GoldenFile(name: "rooms").expectWireFormat(
            of: [("running", Samples.liveRecord), ("ended", ended), ("endedByServer", endedByServer)],
            mapFields: ["metaData"])
    }

    /// Rules: R1.9.
    @Test func `records of stages match the golden file`() throws {
        // The battle of `Samples.stage` has ended because its time was over.
        var running = Samples.stage
        running.battle?.ended = nil
        var allLeft = Samples.stage
        allLeft.battle?.ended = .allMemberExit
        // The live is connected with lives that fight a battle in which it takes no part.
        var watching = Samples.emptyStage
        watching.otherBattles = [Samples.battle]
        try GoldenFile(name: "stages").expectWireFormat(
            of: [
                ("empty", Samples.emptyStage), ("running", running), ("timeOver", Samples.stage), ("allLeft", allLeft),
                ("watching", watching),
            ])
    }

    @Test func `records of audience counts and presence epochs match the golden file`() throws {
        // `Samples.count` is stale.
        var fresh = Samples.count
        fresh.stale = false
        try GoldenFile(name: "audience-counts").expectWireFormat(of: [("fresh", fresh), ("stale", Samples.count)])
        try GoldenFile(name: "audience-epochs").expectWireFormat(
            of: [("epoch", PresenceEpochRecord(partition: 7, epoch: "1f-2"))])
    }

    /// Rules: R11.2.
    @Test func `records of apps match the golden file`() throws {
        try GoldenFile(name: "apps").expectWireFormat(
            of: [
                ("empty", AppRecord(app: Samples.app, revision: 1, settings: AppSettings())),
                ("full", AppRecord(app: Samples.app, revision: 5, settings: Samples.appSettings)),
            ], mapFields: ["translations"])
    }

    /// Rules: R14.6.
    @Test func `webhook events match the golden file`() throws {
        try GoldenFile(name: "webhooks").expectWireFormat(
            of: Self.webhookContents.map { ($0, WebhookEvent(Samples.key, at: Samples.at, $1)) },
            mapFields: ["metaData", "values"])
        #expect(Set(Self.webhookContents.map(\.1.name)) == Set(WebhookName.allCases))
    }

    /// Rules: R5.2.
    @Test func `feed items match the golden file, in which the item's number n is the last member`() throws {
        try GoldenFile(name: "room-feed").expectWireFormat(
            of: Self.feedContents.map { name, content in (name, FeedEntry(n: 12, at: Samples.at, content: content)) },
            mapFields: ["metaData", "extensionInfo", "set"])
    }

    @Test func `notices match the golden file`() throws {
        let recipient = UserKey(Samples.app, "alice")
        try GoldenFile(name: "user-notices").expectWireFormat(
            of: Self.noticeContents.map { name, content in
                // Only the notice of a kick has a floor, the lowest ticket that the kicked user may still use.
                let floor: Ticket? = name.hasPrefix("kickedOut") ? Ticket(500) : nil
                return (name, Notice(to: recipient, live: Samples.live, at: Samples.at, floor: floor, content: content))
            })
    }

    @Test func `replies match the golden file`() throws {
        var cases = Self.callResults.map { name, result in
            (name, Reply(to: Samples.caller, app: Samples.app, .success(result: result)))
        }
        // This error says after which time the call may be tried again.
        cases.append(("failure", Reply(to: Samples.caller, app: Samples.app, .failure(error: Samples.error))))
        // The member `seen` is the revision that the gateway must have read before it sends the reply.
        for table in [RequiredRevision.Table.rooms, .stages, .apps] {
            let required = RequiredRevision(table, Samples.live, revision: 4)
            cases.append(
                (
                    "seen-\(table.rawValue)",
                    Reply(to: Samples.caller, app: Samples.app, .success(result: .done), required: required)
                ))
        }
        // This error has a reason: why the ticket is stale.
        cases.append(
            ("refusal", Reply(to: Samples.caller, app: Samples.app, .failure(error: Samples.staleTicket))))
        try GoldenFile(name: "replies").expectWireFormat(of: cases, mapFields: ["metaData", "values", "translations"])
    }
}

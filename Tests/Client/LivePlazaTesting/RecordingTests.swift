// SPDX-License-Identifier: Apache-2.0
import ConformanceSupport
import LivePlazaKit
import LivePlazaTesting
import Testing

/// Recordings of what a client sends and receives, and replays of recordings up to any time.
struct RecordingTests {
    @Test func `a replay up to a time shows the stores as they were at that time`() async throws {
        let cluster = SimulatedCluster(seed: 9)
        let host = try cluster.user("host")
        try host.createLive("eve", name: "Evening")
        let recorder = RecordingTransport(cluster.transport("viewer"), on: cluster)
        let viewer = AppUser("viewer", on: cluster, live: "eve", plaza: cluster.client("viewer", over: recorder))
        try await viewer.login()
        cluster.advance(by: .seconds(1))
        try await viewer.joinLive("eve")
        // The host sends eight messages. Meanwhile the viewer's connection is cut, and the viewer sends a message.
        var snapshots: [(elapsed: Duration, stores: StoreStates)] = []
        for step in 0..<8 {
            try host.say("step \(step)", in: "eve")
            if step == 3 { cluster.cutConnection(of: "viewer") }
            if step == 4 { try await viewer.plaza.barrageStore(liveID: "eve").sendTextMessage(text: "mine") }
            cluster.advance(by: .seconds(10))
            snapshots.append((cluster.elapsed, StoreStates(viewer.plaza, "eve")))
            cluster.advance(by: .seconds(1))
        }
        let lines = recorder.recording.lines
        // A recording must not contain the claims of the user's token, which are the second part of the token. Their
        // first 20 characters are the same in every token of this user.
        let claims = cluster.token("viewer").split(separator: ".")[1]
        #expect(!lines.contains(claims.prefix(20)))
        let recording = try #require(SessionRecording(lines: lines))
        #expect(recording == recorder.recording)

        let replay = SessionReplay(recording)
        for snapshot in snapshots {
            replay.advance(to: snapshot.elapsed)
            #expect(StoreStates(replay.plaza, "eve").differences(from: snapshot.stores) == [])
        }
        // Eight messages of the host, and one of the viewer.
        #expect(snapshots.last?.stores.messages.count == 9)
    }

    @Test func `a replay shows who is muted, at a host and at a viewer who was muted before the entry`() async throws {
        let cluster = SimulatedCluster(seed: 10)
        let recorders = ["host", "viewer"].map { RecordingTransport(cluster.transport($0), on: cluster) }
        let host = AppUser("host", on: cluster, live: "eve", plaza: cluster.client("host", over: recorders[0]))
        let viewer = AppUser("viewer", on: cluster, live: "eve", plaza: cluster.client("viewer", over: recorders[1]))
        try await host.login()
        try await host.createLive("eve")
        // The client reads the list of mutes when it enters. Of a mute with the same time, the client would assume that
        // the list includes it.
        cluster.advance(by: .seconds(1))
        for user in ["guest", "viewer"] {
            try await host.plaza.audienceStore(liveID: "eve").disableSendMessage(userID: user, isDisable: true)
        }
        cluster.advance(by: .seconds(1))
        try await viewer.login()
        try await viewer.joinLive("eve")
        cluster.advance(by: .seconds(2))
        for (user, recorder) in zip([host, viewer], recorders) {
            let stores = StoreStates(user.plaza, "eve")
            #expect(stores.audience.messageBannedUserList.map(\.userID) == ["guest", "viewer"])
            #expect(stores.allowsSending == (user.id == "host"))
            let replay = SessionReplay(recorder.recording)
            replay.advance(to: cluster.elapsed)
            #expect(StoreStates(replay.plaza, "eve").differences(from: stores) == [])
        }
    }

    @Test func `lines that are not a recording cannot be read, and an empty text is an empty recording`() {
        #expect(SessionRecording(lines: "{\"at\":1}") == nil)
        #expect(SessionRecording(lines: "hello") == nil)
        #expect(SessionRecording(lines: "")?.duration == .zero)
    }

    @Test func `a recording of an earlier version, with fractions of milliseconds, is read and written unchanged`()
        throws
    {
        let lines = """
            {"at":0.25,"kind":"connects"}
            {"at":12,"kind":"opened"}
            {"at":1500.75,"code":1006,"kind":"closed"}

            """
        let recording = try #require(SessionRecording(lines: lines))
        #expect(recording.lines == lines)
        #expect(recording.duration == .milliseconds(1500))
    }
}

/// Crowds: simulated users who act in a live, for tests of an app under load.
///
/// A crowd's host creates the live. The options of `Crowd` say how much the users do each second.
struct CrowdTests {
    @Test func `an app in the live of a crowd shows the crowd's messages, gifts and battle`() async throws {
        let cluster = SimulatedCluster(seed: 2)
        let crowd = try cluster.addCrowd(Crowd(viewers: 15, messagesPerSecond: 15, hasBattle: true), to: "party")
        let viewer = AppUser("viewer", on: cluster, live: "party")
        try await viewer.login()
        try await viewer.joinLive("party")
        let totalsBefore = crowd.totals
        cluster.advance(by: .seconds(60))
        crowd.stop()
        cluster.settle()
        let totalsAfter = crowd.totals
        let messagesInMinute = totalsAfter.messages - totalsBefore.messages
        // 15 messages a second are 900 in a minute, of which some are rejected while the feed is busy.
        #expect(messagesInMinute > 600)
        // The default is one gift a second: about 60 in a minute.
        #expect(totalsAfter.gifts > 30)
        #expect(viewer.hasReceived("onReceiveGift"))
        #expect(viewer.hasReceived("onAudienceLeft"))
        let messages = viewer.plaza.barrageStore(liveID: "party").state.value.messageList
        // A store keeps the newest 1000 messages.
        #expect(messages.count <= 1000)
        #expect(messages.map(\.sequence) == messages.map(\.sequence).sorted())
        let scores = viewer.plaza.battleStore(liveID: "party").state.value.battleScore
        // The crowd's host owns the live, so the gifts count for this host.
        #expect((scores["party-host"] ?? 0) > 0)
    }

    @Test func `users of a crowd whose joins are not answered act as soon as presence has handled the joins`() throws {
        let cluster = SimulatedCluster(seed: 4)
        try cluster.user("host").createLive("party")
        // Presence handles joins.
        cluster.stop(.presence)
        let crowd = try cluster.addCrowd(Crowd(viewers: 10, messagesPerSecond: 10, changesPerSecond: 0), to: "party")
        cluster.advance(by: .seconds(1))
        #expect(crowd.totals.messages == 0)
        cluster.start(.presence)
        cluster.advance(by: .seconds(5))
        // Ten messages a second are at most 50 in five seconds.
        #expect(crowd.totals.messages > 30)
    }

    @Test func `a user of a crowd makes no other call before the first join is answered`() throws {
        let cluster = SimulatedCluster(seed: 4)
        try cluster.user("host").createLive("party")
        // Without presence no join is answered. The crowd's only user would leave or join ten times a second.
        cluster.stop(.presence)
        let crowd = try cluster.addCrowd(
            Crowd(viewers: 1, messagesPerSecond: 0, giftsPerSecond: 0, likesPerSecond: 0, changesPerSecond: 10),
            to: "party")
        cluster.advance(by: .seconds(1))
        // Only the first join was made, and it has failed.
        #expect(crowd.totals.refused == 1)
    }

    @Test func `a cluster with a crowd and a client is released with its last reference`() async throws {
        weak var weakCluster: SimulatedCluster?
        do {
            let cluster = SimulatedCluster()
            weakCluster = cluster
            try cluster.addCrowd(Crowd(viewers: 3), to: "party")
            let viewer = AppUser("viewer", on: cluster, live: "party")
            try await viewer.login()
            cluster.advance(by: .seconds(1))
        }
        // The last work of the cluster's queue may still reference the cluster.
        let giveUpAt = ContinuousClock.now + .seconds(20)
        while weakCluster != nil, ContinuousClock.now < giveUpAt { try await Task.sleep(for: .milliseconds(10)) }
        #expect(weakCluster == nil)
    }

    @Test func `in real time a crowd acts without calls of the test`() async throws {
        let cluster = SimulatedCluster()
        let crowd = try cluster.addCrowd(Crowd(viewers: 5), to: "party")
        // The default is 40 messages a second, which are 800 at 20-fold speed: 100 messages take an eighth of a second.
        cluster.runInRealTime(speed: 20)
        let giveUpAt = ContinuousClock.now + .seconds(20)
        while crowd.totals.messages < 100, ContinuousClock.now < giveUpAt {
            try await Task.sleep(for: .milliseconds(20))
        }
        cluster.pause()
        #expect(crowd.totals.messages >= 100)
    }
}

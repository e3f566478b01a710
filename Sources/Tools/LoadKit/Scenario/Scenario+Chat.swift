// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel
internal import ProtocolClient

/// The first half of the scenario: two lives open, viewers find and join them, chat, and one viewer is kicked.
extension Scenario {
    /// Alice and Bob create and join their lives; Alice may not create a second one.
    func open() async throws(ScenarioFailure) {
        for participant in self.allUsers + [self.appServer] {
            _ = try await participant.waitForUpdate("the login's answer", within: 15) { update in
                if case .event(.loggedIn(let user)) = update { user } else { nil }
            }
        }
        for (host, live) in [(self.alice, self.aliceLive), (self.bob, self.bobLive)] {
            let created = try await host.call(
                "live.create", CallParams(live: live, liveName: "\(host.name)'s evening", categoryList: [7]), live: live
            )
            guard case .live(let info, _, _, _) = created else { throw ScenarioFailure("create gave \(created)") }
            try self.check(info.liveOwner.userID == self.user(host), "the owner is \(info.liveOwner)")
            try await self.join(host, live)
        }
        try await self.alice.expectRejection(
            .inAnotherRoom, "live.create", CallParams(live: LiveID("\(self.aliceLive)2")))
        self.report(
            "two hosts go live", "alice sees her live \(self.aliceLive), bob his live \(self.bobLive)",
            "alice may not open a second one: \(ReplyCode.inAnotherRoom.name)")
    }

    /// Four viewers find both lives in the list and join them; the audience and its count are correct.
    func enter() async throws(ScenarioFailure) {
        // Lists are ranked every 5 s, so a new live is listed within that time.
        let deadline = ContinuousClock.now + .seconds(12)
        var listedLives: Set<LiveID> = []
        while !listedLives.isSuperset(of: [self.aliceLive, self.bobLive]) {
            try self.check(ContinuousClock.now < deadline, "carol does not find both lives in the list: \(listedLives)")
            listedLives = try await self.listAllLives(self.carol)
            try? await Task.sleep(for: .milliseconds(250))
        }
        for viewer in [self.carol, self.dave, self.erin] { try await self.join(viewer, self.aliceLive) }
        try await self.join(self.frank, self.bobLive)
        for name in ["Carol", "Dave", "Erin"] {
            _ = try await self.alice.waitForFeedItem("the tip that \(name) joined") { content in
                if case .audienceJoined(let user, _) = content, user.userName == name { true } else { nil }
            }
        }
        _ = try await self.erin.waitForUpdate("a count of three") { update in
            if case .event(.counts(let count)) = update, count.count == 3 { true } else { nil }
        }
        let list = try await self.carol.call("audience.list", CallParams(live: self.aliceLive), live: self.aliceLive)
        guard case .audience(let page) = list else { throw ScenarioFailure("the audience list gave \(list)") }
        let names = page.members.map(\.user.userName).sorted()
        try self.check(names == ["Carol", "Dave", "Erin"], "the audience is \(names)")
        self.report(
            "viewers come", "carol walks the list and finds both lives", "alice sees carol, dave and erin join",
            "everybody is told a count of 3; the owner is not in it")
    }

    /// Three viewers send messages; all members receive them in the same order.
    func chat() async throws(ScenarioFailure) {
        for round in 1...3 {
            for sender in [self.carol, self.dave, self.erin] {
                let text = "\(sender.name) says \(round)"
                let sent = try await sender.call(
                    "barrage.sendText", CallParams(live: self.aliceLive, text: text), live: self.aliceLive)
                guard case .sent = sent else { throw ScenarioFailure("a barrage gave \(sent)") }
            }
        }
        let members = [self.alice, self.carol, self.dave, self.erin]
        for participant in members {
            _ = try await participant.waitForFeedItem("the last barrage") { content in
                if case .text(_, "Erin says 3", _) = content { true } else { nil }
            }
        }
        let orders = members.map { Array($0.texts.suffix(9)) }
        try self.check(Set(orders).count == 1 && orders[0].count == 9, "the orders differ: \(orders)")
        for participant in members {
            try self.check(participant.isFeedComplete, "\(participant.name) has holes: \(participant.numbers)")
        }
        self.report(
            "barrage flies", "nine messages of three viewers", "all four see them in the same order, without a hole")
    }

    /// Alice, but not Carol, may kick Dave, who can send nothing afterwards.
    func kick() async throws(ScenarioFailure) {
        try await self.carol.expectRejection(
            .needsOwnerOrAdmin, "audience.kick", CallParams(live: self.aliceLive, user: self.user(self.dave)))
        try await self.alice.call("audience.kick", CallParams(live: self.aliceLive, user: self.user(self.dave)))
        _ = try await self.dave.waitForNotice("that he was put out") { content in
            if case .kickedOut(.byAdmin, _) = content { true } else { nil }
        }
        try await self.dave.expectRejection(
            .notInRoom, "barrage.sendText", CallParams(live: self.aliceLive, text: "still here?"))
        _ = try await self.erin.waitForFeedItem("the tip that dave left") { content in
            if case .audienceLeft(let user) = content, user.userName == "Dave" { true } else { nil }
        }
        self.report(
            "alice puts dave out", "carol may not: \(ReplyCode.needsOwnerOrAdmin.name)",
            "dave is told once, and may not write any more: \(ReplyCode.notInRoom.name)", "erin sees him leave")
    }

    /// Joins a live and checks that presence has confirmed the join.
    func join(_ participant: DemoUser, _ live: LiveID) async throws(ScenarioFailure) {
        let joined = try await participant.call("live.join", CallParams(live: live), live: live)
        guard case .joined(_, _, let confirmed, _) = joined else { throw ScenarioFailure("a join gave \(joined)") }
        try self.check(confirmed, "\(participant.name)'s join is not confirmed")
    }

    /// Reads all pages of the list, 50 lives per page.
    func listAllLives(_ participant: DemoUser) async throws(ScenarioFailure) -> Set<LiveID> {
        var cursor = ""
        var listedLives: Set<LiveID> = []
        for _ in 0..<500 {
            let page = try await participant.call("live.list", CallParams(cursor: cursor, count: 50))
            guard case .lives(let items, let nextCursor) = page else { throw ScenarioFailure("a page gave \(page)") }
            for item in items {
                try self.check(
                    listedLives.insert(item.info.liveID).inserted, "\(item.info.liveID) is in the list twice")
            }
            guard !nextCursor.isEmpty else { return listedLives }
            cursor = nextCursor
        }
        throw ScenarioFailure("the list has no end")
    }
}

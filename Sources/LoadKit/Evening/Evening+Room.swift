// SPDX-License-Identifier: Apache-2.0
internal import LivePlazaKit
internal import PlazaModel

/// The first half: rooms open, viewers find and enter them, chat, and one is put out.
extension Evening {
    func open() async throws(EveningFailure) {
        for person in self.everybody + [self.shop] {
            _ = try await person.hear("the login's answer", within: 15) { update in
                if case .event(.loggedIn(let user)) = update { user } else { nil }
            }
        }
        for (host, live) in [(self.alice, self.aliceLive), (self.bob, self.bobLive)] {
            let created = try await host.call(
                "live.create", Params(live: live, liveName: "\(host.name)'s evening", categoryList: [7]), live: live)
            guard case .live(let info, _) = created else { throw EveningFailure("create gave \(created)") }
            try self.check(info.liveOwner.userID.text == self.user(host), "the owner is \(info.liveOwner)")
            try await self.join(host, live)
        }
        try await self.alice.expectRefusal(.inAnotherRoom, "live.create", Params(live: LiveID("\(self.aliceLive)2")))
        self.say(
            "two hosts go live", "alice sees her live \(self.aliceLive), bob his live \(self.bobLive)",
            "alice may not open a second one: \(ReplyCode.inAnotherRoom.name)")
    }

    func enter() async throws(EveningFailure) {
        // Lists are ranked anew each 5 s, so a new live is found within that time.
        let deadline = ContinuousClock.now + .seconds(12)
        var found: Set<LiveID> = []
        while !found.isSuperset(of: [self.aliceLive, self.bobLive]) {
            try self.check(ContinuousClock.now < deadline, "carol does not find both lives in the list: \(found)")
            found = try await self.walk(self.carol)
            try? await Task.sleep(for: .milliseconds(250))
        }
        for viewer in [self.carol, self.dave, self.erin] { try await self.join(viewer, self.aliceLive) }
        try await self.join(self.frank, self.bobLive)
        for name in ["Carol", "Dave", "Erin"] {
            _ = try await self.alice.see("the tip that \(name) joined") { content in
                if case .audienceJoined(let user) = content, user.userName == name { true } else { nil }
            }
        }
        _ = try await self.erin.hear("a count of three") { update in
            if case .event(.counts(let count)) = update, count.count == 3 { true } else { nil }
        }
        let list = try await self.carol.call("audience.list", Params(live: self.aliceLive), live: self.aliceLive)
        guard case .audience(let page) = list else { throw EveningFailure("the audience list gave \(list)") }
        let names = page.members.map(\.user.userName).sorted()
        try self.check(names == ["Carol", "Dave", "Erin"], "the audience is \(names)")
        self.say(
            "viewers come", "carol walks the list and finds both lives", "alice sees carol, dave and erin join",
            "everybody is told a count of 3; the owner is not in it")
    }

    func chat() async throws(EveningFailure) {
        for round in 1...3 {
            for sender in [self.carol, self.dave, self.erin] {
                let text = "\(sender.name) says \(round)"
                let sent = try await sender.call(
                    "barrage.sendText", Params(live: self.aliceLive, text: text), live: self.aliceLive)
                guard case .sent = sent else { throw EveningFailure("a barrage gave \(sent)") }
            }
        }
        let room = [self.alice, self.carol, self.dave, self.erin]
        for person in room {
            _ = try await person.see("the last barrage") { content in
                if case .text(_, "Erin says 3", _) = content { true } else { nil }
            }
        }
        let orders = room.map { Array($0.texts.suffix(9)) }
        try self.check(Set(orders).count == 1 && orders[0].count == 9, "the orders differ: \(orders)")
        for person in room { try self.check(person.isFeedWhole, "\(person.name) has holes: \(person.numbers)") }
        self.say(
            "barrage flies", "nine messages of three viewers", "all four see them in the same order, without a hole")
    }

    func kick() async throws(EveningFailure) {
        try await self.carol.expectRefusal(
            .needsOwnerOrAdmin, "audience.kick", Params(live: self.aliceLive, user: self.user(self.dave)))
        try await self.alice.call("audience.kick", Params(live: self.aliceLive, user: self.user(self.dave)))
        _ = try await self.dave.notice("that he was put out") { content in
            if case .kickedOut(.byAdmin, _) = content { true } else { nil }
        }
        try await self.dave.expectRefusal(
            .notInRoom, "barrage.sendText", Params(live: self.aliceLive, text: "still here?"))
        _ = try await self.erin.see("the tip that dave left") { content in
            if case .audienceLeft(let user) = content, user.userName == "Dave" { true } else { nil }
        }
        self.say(
            "alice puts dave out", "carol may not: \(ReplyCode.needsOwnerOrAdmin.name)",
            "dave is told once, and may not write any more: \(ReplyCode.notInRoom.name)", "erin sees him leave")
    }

    func join(_ person: Person, _ live: LiveID) async throws(EveningFailure) {
        let joined = try await person.call("live.join", Params(live: live), live: live)
        guard case .joined(_, _, let confirmed) = joined else { throw EveningFailure("a join gave \(joined)") }
        try self.check(confirmed, "\(person.name)'s join is not confirmed")
    }

    /// Walks all pages of the list, two lives at a time.
    func walk(_ person: Person) async throws(EveningFailure) -> Set<LiveID> {
        var cursor = ""
        var seen: Set<LiveID> = []
        for _ in 0..<500 {
            let page = try await person.call("live.list", Params(cursor: cursor, count: 50))
            guard case .lives(let items, let next) = page else { throw EveningFailure("a page gave \(page)") }
            for item in items {
                try self.check(seen.insert(item.info.liveID).inserted, "\(item.info.liveID) is in the list twice")
            }
            guard !next.isEmpty else { return seen }
            cursor = next
        }
        throw EveningFailure("the list has no end")
    }
}

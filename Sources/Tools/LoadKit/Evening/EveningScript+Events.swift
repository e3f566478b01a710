// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel

/// What each event does.
extension EveningScript {
    /// Performs an event of a live.
    ///
    /// - Returns: the time until the event comes again, in milliseconds.
    mutating func perform(
        _ event: Event, _ live: Int, at time: Int64, into actions: inout [EveningAction]
    ) -> Int64 {
        switch event {
        case .pace:
            let rate = self.lives[live].rate + Double.random(in: -1.5...1.5, using: &self.random)
            self.lives[live].rate = min(Self.rates.upperBound, max(Self.rates.lowerBound, rate))
            return 4_000
        case .text:
            let texts = EveningCast.sharedTexts + EveningCast.ownTexts[live % EveningCast.ownTexts.count]
            if let text = texts.randomElement(using: &self.random), let viewer = self.anyViewer(live) {
                actions.append(self.action(live, viewer, .text(text)))
            }
            return Int64(1_000 / self.lives[live].rate * Double.random(in: 0.6...1.4, using: &self.random))
        case .likes:
            let count = Int.random(in: 1...20, using: &self.random)
            if let viewer = self.anyViewer(live) { actions.append(self.action(live, viewer, .likes(count))) }
            return self.pause(1_000...3_000)
        case .gift:
            self.sendGift(live, into: &actions)
            return self.pause(4_000...12_000)
        case .visit:
            self.visit(live, into: &actions)
            return self.pause(5_000...10_000)
        case .seat:
            self.changeSeats(live, at: time, into: &actions)
            return self.pause(6_000...12_000)
        case .camera:
            self.reportDevices(live, into: &actions)
            return self.pause(4_000...8_000)
        case .speak:
            self.reportSpeaking(live, into: &actions)
            return 1_000
        case .stage:
            self.continueStage(live, at: time, into: &actions)
            return 3_000
        case .score:
            if self.stage == .battling, live < 2 {
                actions.append(self.hostAction(live, .score(Int.random(in: 1...9, using: &self.random))))
            }
            return self.pause(1_000...2_500)
        }
    }

    private func hostAction(_ live: Int, _ kind: EveningAction.Kind) -> EveningAction {
        EveningAction(live: live, user: self.cast[live].hostID, kind: kind)
    }

    private mutating func anyViewer(_ live: Int) -> Int? {
        // A set's own order is not the same in each process.
        self.lives[live].present.sorted().randomElement(using: &self.random)
    }

    /// Sends a gift, mostly a cheap one.
    ///
    /// While a battle runs, a gift also counts for the live that gets it.
    private mutating func sendGift(_ live: Int, into actions: inout [EveningAction]) {
        let indices = EveningCast.gifts.indices
        let gift = min(Int.random(in: indices, using: &self.random), Int.random(in: indices, using: &self.random))
        let count = gift < 2 ? Int.random(in: 1...5, using: &self.random) : 1
        guard let viewer = self.anyViewer(live) else { return }
        actions.append(self.action(live, viewer, .gift(gift, count: count)))
        if self.stage == .battling, live < 2 {
            actions.append(self.hostAction(live, .score(Int(EveningCast.gifts[gift].coins) * count)))
        }
    }

    /// A viewer comes or goes; the admin, and whoever sits, stays.
    private mutating func visit(_ live: Int, into actions: inout [EveningAction]) {
        let count = self.cast[live].viewerCount
        guard count > 1 else { return }
        let viewer = Int.random(in: 1..<count, using: &self.random)
        if !self.lives[live].present.contains(viewer) {
            self.lives[live].present.insert(viewer)
            actions.append(self.action(live, viewer, .join))
        } else if self.lives[live].seated[viewer] == nil, self.lives[live].present.count > count / 2 {
            self.lives[live].present.remove(viewer)
            actions.append(self.action(live, viewer, .leave))
        }
    }

    /// A guest comes to a seat, or the one who has sat the longest goes.
    private mutating func changeSeats(_ live: Int, at time: Int64, into actions: inout [EveningAction]) {
        let seated = self.lives[live].seated
        let longest = seated.min { ($0.value, $0.key) < ($1.value, $1.key) }
        if let longest, seated.count >= Self.maxGuests || time - longest.value > 40_000 {
            self.lives[live].seated[longest.key] = nil
            self.lives[live].levels[self.cast[live].viewerID(longest.key)] = nil
            actions.append(self.action(live, longest.key, .leaveSeat))
            return
        }
        let standing = self.lives[live].present.subtracting(seated.keys).subtracting([0]).sorted()
        guard let guest = standing.randomElement(using: &self.random) else { return }
        self.lives[live].seated[guest] = time
        actions.append(self.action(live, guest, .askForSeat))
    }

    /// The host's devices are open; a guest's microphone too, and its camera mostly.
    private mutating func reportDevices(_ live: Int, into actions: inout [EveningAction]) {
        actions.append(self.hostAction(live, .devices(microphone: true, camera: true)))
        for guest in self.lives[live].seated.keys.sorted() {
            let camera = Int.random(in: 0..<4, using: &self.random) > 0
            actions.append(self.action(live, guest, .devices(microphone: true, camera: camera)))
        }
    }

    /// The host mostly speaks, a guest now and then.
    ///
    /// Silence is reported once.
    private mutating func reportSpeaking(_ live: Int, into actions: inout [EveningAction]) {
        let host = self.cast[live].hostID
        var chances = [(user: host, percent: 75)]
        for guest in self.lives[live].seated.keys.sorted() {
            chances.append((user: self.cast[live].viewerID(guest), percent: 35))
        }
        for (user, percent) in chances {
            let speaks = Int.random(in: 0..<100, using: &self.random) < percent
            let level = speaks ? Int.random(in: 20...90, using: &self.random) : 0
            guard level > 0 || self.lives[live].levels[user] != nil else { continue }
            self.lives[live].levels[user] = level > 0 ? level : nil
            actions.append(EveningAction(live: live, user: user, kind: .speaking(level: level)))
        }
    }

    /// The host of the first live connects with the second and begins a battle, again and again.
    private mutating func continueStage(_ live: Int, at time: Int64, into actions: inout [EveningAction]) {
        guard live == 0, self.cast.count > 1 else { return }
        switch self.stage {
        case .apart: actions.append(self.hostAction(0, .connect(to: 1)))
        case .connected where time >= self.nextBattleAt:
            let seconds = Int.random(in: 60...120, using: &self.random)
            actions.append(self.hostAction(0, .battle(against: 1, seconds: seconds)))
        case .connected, .battling: break
        }
    }
}

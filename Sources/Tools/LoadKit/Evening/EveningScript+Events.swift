// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel

/// The actions that each event of the script causes.
extension EveningScript {
    /// Adds the actions of an event in the live with the number `live`.
    ///
    /// - Returns: the time until the next event of this kind, in milliseconds.
    mutating func perform(
        _ event: Event, _ live: Int, at time: Int64, into actions: inout [EveningAction]
    ) -> Int64 {
        switch event {
        case .messageRate:
            // The rate is in messages a second.
            let rate = self.lives[live].messageRate + Double.random(in: -1.5...1.5, using: &self.random)
            self.lives[live].messageRate = min(Self.rates.upperBound, max(Self.rates.lowerBound, rate))
            return 4_000
        case .text:
            let texts = EveningCast.sharedTexts + EveningCast.textsByLive[live % EveningCast.textsByLive.count]
            if let text = texts.randomElement(using: &self.random), let viewer = self.randomViewer(live) {
                actions.append(self.action(live, viewer, .text(text)))
            }
            // The next text follows after 60 % to 140 % of the mean interval.
            let meanInterval = 1_000 / self.lives[live].messageRate
            return Int64(meanInterval * Double.random(in: 0.6...1.4, using: &self.random))
        case .likes:
            let count = Int.random(in: 1...20, using: &self.random)
            if let viewer = self.randomViewer(live) { actions.append(self.action(live, viewer, .likes(count))) }
            return self.randomPause(1_000...3_000)
        case .gift:
            self.sendGift(live, into: &actions)
            return self.randomPause(4_000...12_000)
        case .visit:
            self.joinOrLeave(live, into: &actions)
            return self.randomPause(5_000...10_000)
        case .seat:
            self.changeSeats(live, at: time, into: &actions)
            return self.randomPause(6_000...12_000)
        case .devices:
            self.reportDevices(live, into: &actions)
            return self.randomPause(4_000...8_000)
        case .speaking:
            self.reportSpeaking(live, into: &actions)
            return 1_000
        case .stage:
            self.continueStage(live, at: time, into: &actions)
            return 3_000
        case .score:
            if self.isInBattle(live) {
                actions.append(self.hostAction(live, .score(Int.random(in: 1...9, using: &self.random))))
            }
            return self.randomPause(1_000...2_500)
        }
    }

    /// Whether the live is in a battle now; only the first two lives battle, with each other.
    private func isInBattle(_ live: Int) -> Bool { self.stage == .battling && live < 2 }

    private func hostAction(_ live: Int, _ kind: EveningAction.Kind) -> EveningAction {
        EveningAction(live: live, user: self.cast[live].hostID, kind: kind)
    }

    /// The number of a random viewer who is in the live; nil if there is none.
    private mutating func randomViewer(_ live: Int) -> Int? {
        // The viewers are sorted, because the order of a set differs between processes, but the same seed must give the
        // same evening.
        self.lives[live].present.sorted().randomElement(using: &self.random)
    }

    /// Sends a gift, usually a cheap one.
    ///
    /// While a battle runs, the price of the gift is also added to the score of the live.
    private mutating func sendGift(_ live: Int, into actions: inout [EveningAction]) {
        let indices = EveningCast.gifts.indices
        // The gifts are sorted by price, so the lower of two random indices usually belongs to a cheap gift.
        let giftIndex = min(Int.random(in: indices, using: &self.random), Int.random(in: indices, using: &self.random))
        // A call sends more than one gift only if the gift is one of the two cheapest.
        let count = giftIndex < 2 ? Int.random(in: 1...5, using: &self.random) : 1
        guard let viewer = self.randomViewer(live) else { return }
        actions.append(self.action(live, viewer, .gift(giftIndex, count: count)))
        if self.isInBattle(live) {
            actions.append(self.hostAction(live, .score(Int(EveningCast.gifts[giftIndex].coins) * count)))
        }
    }

    /// Makes a random viewer join the live, or leave it if the viewer is in it.
    ///
    /// The admin (the viewer with the number 0), the seated viewers, and at least half of all viewers stay.
    private mutating func joinOrLeave(_ live: Int, into actions: inout [EveningAction]) {
        let count = self.cast[live].viewerCount
        guard count > 1 else { return }
        let viewer = Int.random(in: 1..<count, using: &self.random)
        if !self.lives[live].present.contains(viewer) {
            self.lives[live].present.insert(viewer)
            actions.append(self.action(live, viewer, .join))
        } else if self.lives[live].seatedAt[viewer] == nil, self.lives[live].present.count > count / 2 {
            self.lives[live].present.remove(viewer)
            actions.append(self.action(live, viewer, .leave))
        }
    }

    /// A guest who has sat longer than this number of milliseconds leaves the seat at the next event `seat`.
    private static let maxSeatedTime: Int64 = 40_000

    /// Lets a viewer take a seat.
    ///
    /// If there are `maxGuests` guests, or a guest has sat longer than `maxSeatedTime`, the guest who has sat longest
    /// leaves its seat instead.
    private mutating func changeSeats(_ live: Int, at time: Int64, into actions: inout [EveningAction]) {
        let seatedAt = self.lives[live].seatedAt
        let longestSeated = seatedAt.min { ($0.value, $0.key) < ($1.value, $1.key) }
        if let (guest, satDownAt) = longestSeated,
            seatedAt.count >= Self.maxGuests || time - satDownAt > Self.maxSeatedTime
        {
            self.lives[live].seatedAt[guest] = nil
            self.lives[live].speakingLevels[self.cast[live].viewerID(guest)] = nil
            actions.append(self.action(live, guest, .leaveSeat))
            return
        }
        // The admin, who is the viewer with the number 0, takes no seat.
        let unseated = self.lives[live].present.subtracting(seatedAt.keys).subtracting([0]).sorted()
        guard let guest = unseated.randomElement(using: &self.random) else { return }
        self.lives[live].seatedAt[guest] = time
        actions.append(self.action(live, guest, .askForSeat))
    }

    /// Reports the devices of all seated users: all are open, except the camera of every fourth guest on average.
    private mutating func reportDevices(_ live: Int, into actions: inout [EveningAction]) {
        actions.append(self.hostAction(live, .devices(microphone: true, camera: true)))
        for guest in self.lives[live].seatedAt.keys.sorted() {
            let isCameraOn = Int.random(in: 0..<4, using: &self.random) > 0
            actions.append(self.action(live, guest, .devices(microphone: true, camera: isCameraOn)))
        }
    }

    /// Reports the speaking levels of all seated users: the host speaks in 75 % of the reports, a guest in 35 %.
    ///
    /// A user's silence is reported only once, after the user has spoken.
    private mutating func reportSpeaking(_ live: Int, into actions: inout [EveningAction]) {
        let host = self.cast[live].hostID
        var speakers = [(user: host, speakingPercent: 75)]
        for guest in self.lives[live].seatedAt.keys.sorted() {
            speakers.append((user: self.cast[live].viewerID(guest), speakingPercent: 35))
        }
        for (user, speakingPercent) in speakers {
            let speaks = Int.random(in: 0..<100, using: &self.random) < speakingPercent
            let level = speaks ? Int.random(in: 20...90, using: &self.random) : 0
            guard level > 0 || self.lives[live].speakingLevels[user] != nil else { continue }
            // Only users who speak have a stored level.
            self.lives[live].speakingLevels[user] = level > 0 ? level : nil
            actions.append(EveningAction(live: live, user: user, kind: .speaking(level: level)))
        }
    }

    /// Makes the host of the first live connect with the second live, or begin a battle with it.
    ///
    /// Does nothing for the other lives, while a battle runs, and before the next battle may begin. The property
    /// `stage` is what the runner has last read from the server.
    private mutating func continueStage(_ live: Int, at time: Int64, into actions: inout [EveningAction]) {
        guard live == 0, self.cast.count > 1 else { return }
        switch self.stage {
        case .disconnected: actions.append(self.hostAction(0, .connect(to: 1)))
        case .connected where time >= self.nextBattleAt:
            let seconds = Int.random(in: 60...120, using: &self.random)
            actions.append(self.hostAction(0, .battle(against: 1, seconds: seconds)))
        case .connected, .battling: break
        }
    }
}

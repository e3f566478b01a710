// SPDX-License-Identifier: Apache-2.0
package import CoreKit
package import PlazaModel

/// Who sends, as the window knows it: a number for the user, which costs no text per message.
package struct SenderMark: Hashable, Sendable {
    /// `StableHash` of the user's id; 0: nobody in particular, whose messages are nobody's share.
    package let hash: UInt64
    /// The host's words may fill the whole budget, and need no share of it (reference 12, level High).
    package let isHost: Bool

    /// Nobody in particular: facts, gifts, and what an app's server says.
    package static let nobody = SenderMark(hash: 0, isHost: true)

    /// The mark of a user.
    package init(_ user: UserID, isHost: Bool = false) { self.init(hash: StableHash.of(user.text), isHost: isHost) }

    private init(hash: UInt64, isHost: Bool) {
        self.hash = hash
        self.isHost = isHost
    }
}

/// What entered a feed in the last second, and who tried to send in it: plain numbers, quick to copy for undo.
///
/// Bounded by the budget: it keeps at most `total` admissions, the latest. Older ones make no difference, for what
/// they would still hold back, the later ones hold back too.
package struct AdmissionWindow: Sendable {
    /// One item that entered.
    struct Admission: Hashable, Sendable {
        /// Milliseconds.
        var at: Int64
        /// 0 when it is nobody's.
        var sender: UInt64
    }
    /// One sender of the last second.
    struct Tally: Hashable, Sendable {
        var sender: UInt64
        /// When it last sent, let in or not: who is always dropped is a sender too, or luck would decide.
        var lastTry: Int64
        /// How many of the admissions are its own.
        var admitted: Int64
    }
    /// What becomes of a message.
    package enum Verdict: Hashable, Sendable {
        case admitted
        case dropped(reason: DropReason, retryAfter: Milliseconds)
        /// The sender alone has sent as much as one may.
        case tooOften(retryAfter: Milliseconds)
    }

    /// A sliding second.
    static let span: Int64 = 1000

    /// A ring: `count` admissions from `head` on, oldest first.
    private(set) var ring: ContiguousArray<Admission> = []
    private(set) var head = 0
    /// How many admissions it holds.
    package private(set) var count = 0
    /// In the order of the senders' numbers.
    private(set) var tallies: ContiguousArray<Tally> = []
    /// No tally without an admission is over before this time: until then there is nothing to sweep.
    private(set) var sweepAt: Int64 = .max

    /// A window in which nothing entered.
    package init() {}

    /// A window as it was kept for undo.
    init(
        ring: ContiguousArray<Admission>, head: Int, count: Int, tallies: ContiguousArray<Tally>, sweepAt: Int64
    ) {
        self.ring = ring
        self.head = head
        self.count = count
        self.tallies = tallies
        self.sweepAt = sweepAt
    }

    /// The admissions, oldest first.
    var admissions: [Admission] { (0..<self.count).map { self[$0] } }

    private subscript(index: Int) -> Admission {
        let place = self.head + index
        return self.ring[place < self.ring.count ? place : place - self.ring.count]
    }

    /// Decides whether a message may enter now; it is counted by `enter`, or its try by `note`.
    ///
    /// - Parameters:
    ///   - feedClass: of the message.
    ///   - sender: who sends.
    ///   - rate: how many messages one user may send in a sliding second.
    ///   - budget: the feed's.
    ///   - now: the time of the input.
    /// - Returns: whether it enters, or why it does not and when it might.
    package mutating func verdict(
        on feedClass: FeedClass, from sender: SenderMark, rate: Int, under budget: FeedBudget, at now: Timestamp
    ) -> Verdict {
        let now = now.milliseconds
        self.expire(at: now)
        guard var limit = budget.limit(of: feedClass) else { return .admitted }
        if feedClass == .barrage, sender.isHost { limit = budget.total }
        if sender.hash != 0, self.count >= rate, let wait = self.wait(of: sender.hash, for: rate, at: now) {
            return .tooOften(retryAfter: wait)
        }
        if self.count >= limit {
            return .dropped(reason: .budget, retryAfter: self.wait(for: self.count - limit, at: now))
        }
        if !sender.isHost, sender.hash != 0, 2 * self.count > budget.total {
            self.sweep(at: now)
            let share = budget.share(among: self.tallies.count)
            // Who is not known yet has nothing, and may have one.
            if let wait = self.wait(of: sender.hash, for: share, at: now) {
                return .dropped(reason: .share, retryAfter: wait)
            }
        }
        return .admitted
    }

    /// When a class has room, if it has none at `now`.
    package mutating func wait(for feedClass: FeedClass, under budget: FeedBudget, at now: Timestamp) -> Milliseconds? {
        self.expire(at: now.milliseconds)
        guard let limit = budget.limit(of: feedClass), self.count >= limit else { return nil }
        return self.wait(for: self.count - limit, at: now.milliseconds)
    }

    /// How long until the admission at `index` is a second old.
    private func wait(for index: Int, at now: Int64) -> Milliseconds { Milliseconds(self[index].at + Self.span - now) }

    /// How long until `sender` has fewer than `limit` admissions; nil: it has fewer now.
    private func wait(of sender: UInt64, for limit: Int, at now: Int64) -> Milliseconds? {
        let place = self.place(of: sender)
        guard self.isKnown(sender, at: place) else { return nil }
        var surplus = Int(self.tallies[place].admitted) - limit
        guard surplus >= 0 else { return nil }
        for index in 0..<self.count where self[index].sender == sender {
            if surplus == 0 { return self.wait(for: index, at: now) }
            surplus -= 1
        }
        return Milliseconds(Self.span)
    }

    /// Counts a message that enters.
    package mutating func enter(from sender: SenderMark, under budget: FeedBudget, at now: Timestamp) {
        let now = now.milliseconds
        while self.count >= budget.total { self.popFirst() }
        self.append(Admission(at: now, sender: sender.hash))
        guard sender.hash != 0 else { return }
        var place = self.place(of: sender.hash)
        if self.isKnown(sender.hash, at: place) {
            self.tallies[place].admitted += 1
            self.tallies[place].lastTry = now
        } else {
            if self.tallies.count >= budget.total {
                self.makeRoom(atMost: budget.total, at: now)
                place = self.place(of: sender.hash)
            }
            self.tallies.insert(Tally(sender: sender.hash, lastTry: now, admitted: 1), at: place)
        }
    }

    /// Remembers a sender that was dropped.
    ///
    /// With as many senders as barrage has places, each has a share of one, and more of them would change nothing.
    package mutating func note(_ sender: SenderMark, under budget: FeedBudget, at now: Timestamp) {
        guard sender.hash != 0 else { return }
        let now = now.milliseconds
        var place = self.place(of: sender.hash)
        if self.isKnown(sender.hash, at: place) {
            self.tallies[place].lastTry = now
            return
        }
        if self.tallies.count >= budget.barrage {
            self.sweep(at: now)
            guard self.tallies.count < budget.barrage else { return }
            place = self.place(of: sender.hash)
        }
        self.tallies.insert(Tally(sender: sender.hash, lastTry: now, admitted: 0), at: place)
        self.sweepAt = min(self.sweepAt, now + Self.span)
    }

    /// Makes room for a sender that is let in: one that never was gives way, the one that tried longest ago.
    private mutating func makeRoom(atMost limit: Int, at now: Int64) {
        self.sweep(at: now)
        while self.tallies.count >= limit {
            var oldest: Int?
            for place in self.tallies.indices where self.tallies[place].admitted == 0 {
                if let known = oldest, self.tallies[known].lastTry <= self.tallies[place].lastTry { continue }
                oldest = place
            }
            guard let oldest else { return }
            self.tallies.remove(at: oldest)
        }
    }

    /// Forgets senders of which nothing is left in the last second.
    private mutating func sweep(at now: Int64) {
        if now < self.sweepAt { return }
        let horizon = now - Self.span
        self.tallies.removeAll { $0.admitted == 0 && $0.lastTry <= horizon }
        self.sweepAt = .max
        for tally in self.tallies where tally.admitted == 0 {
            self.sweepAt = min(self.sweepAt, tally.lastTry + Self.span)
        }
    }

    private mutating func expire(at now: Int64) {
        let horizon = now - Self.span
        while self.count > 0, self.ring[self.head].at <= horizon { self.popFirst() }
    }

    private mutating func append(_ admission: Admission) {
        if self.count == self.ring.count {
            if self.head != 0 {
                self.ring = ContiguousArray(self.admissions)
                self.head = 0
            }
            self.ring.append(admission)
        } else {
            let place = self.head + self.count
            self.ring[place < self.ring.count ? place : place - self.ring.count] = admission
        }
        self.count += 1
    }

    private mutating func popFirst() {
        let oldest = self.ring[self.head]
        self.head = self.head + 1 < self.ring.count ? self.head + 1 : 0
        self.count -= 1
        guard oldest.sender != 0 else { return }
        let place = self.place(of: oldest.sender)
        guard self.isKnown(oldest.sender, at: place) else { return }
        self.tallies[place].admitted -= 1
        guard self.tallies[place].admitted == 0 else { return }
        if self.tallies[place].lastTry <= oldest.at {
            self.tallies.remove(at: place)
        } else {
            self.sweepAt = min(self.sweepAt, self.tallies[place].lastTry + Self.span)
        }
    }

    private func isKnown(_ sender: UInt64, at place: Int) -> Bool {
        place < self.tallies.count && self.tallies[place].sender == sender
    }

    /// Where `sender` stands, or would stand.
    private func place(of sender: UInt64) -> Int {
        self.tallies.partitioningIndex { $0.sender >= sender }
    }
}

extension AdmissionWindow: Equatable {
    package static func == (a: AdmissionWindow, b: AdmissionWindow) -> Bool {
        a.count == b.count && a.tallies == b.tallies && (0..<a.count).allSatisfy { a[$0] == b[$0] }
    }
}

extension AdmissionWindow: Codable {
    /// Short, for it is written with every batch: times relative to the first, senders by their place in `users`.
    private enum CodingKeys: String, CodingKey {
        case from
        case ages
        case by
        case users
        case tries
    }

    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        let from = try values.decode(Int64.self, forKey: .from)
        let ages = try values.decode([Int64].self, forKey: .ages)
        let by = try values.decode([Int].self, forKey: .by)
        let users = try values.decode([UInt64].self, forKey: .users)
        let tries = try values.decode([Int64].self, forKey: .tries)
        guard ages.count == by.count, users.count == tries.count, by.allSatisfy({ (-1..<users.count).contains($0) }),
            zip(users, users.dropFirst()).allSatisfy({ $0 < $1 })
        else {
            throw DecodingError.dataCorruptedError(forKey: .by, in: values, debugDescription: "not an admission window")
        }
        for (user, age) in zip(users, tries) {
            self.tallies.append(Tally(sender: user, lastTry: from &+ age, admitted: 0))
        }
        for (age, place) in zip(ages, by) {
            self.ring.append(Admission(at: from &+ age, sender: place < 0 ? 0 : users[place]))
            if place >= 0 { self.tallies[place].admitted += 1 }
        }
        self.count = self.ring.count
        self.sweepAt = .min
    }

    package func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        let admissions = self.admissions
        let from = admissions.first?.at ?? self.tallies.first?.lastTry ?? 0
        try values.encode(from, forKey: .from)
        try values.encode(admissions.map { $0.at - from }, forKey: .ages)
        let by = admissions.map { admission in
            guard admission.sender != 0 else { return -1 }
            let place = self.place(of: admission.sender)
            return self.isKnown(admission.sender, at: place) ? place : -1
        }
        try values.encode(by, forKey: .by)
        try values.encode(self.tallies.map(\.sender), forKey: .users)
        try values.encode(self.tallies.map { $0.lastTry - from }, forKey: .tries)
    }
}

// SPDX-License-Identifier: Apache-2.0
package import CoreKit
package import PlazaModel

/// What entered a feed in the last second, and who tried to send in it.
///
/// Bounded by the budget: it keeps at most `total` admissions, the latest. Older ones make no difference, for what
/// they would still hold back, the later ones hold back too.
package struct AdmissionWindow: Equatable, Sendable {
    /// One item that entered.
    struct Admission: Equatable, Sendable {
        var at: Timestamp
        /// Set for messages of users, which share the budget evenly.
        var sender: UserID?
    }
    /// One sender of the last second.
    struct Tally: Equatable, Sendable {
        var user: UserID
        /// When it last sent, let in or not: who is always dropped is a sender too, or luck would decide.
        var lastTry: Timestamp
        /// How many of the admissions are its own.
        var admitted: Int
    }
    /// What becomes of a message.
    package enum Verdict: Hashable, Sendable {
        case admitted
        case dropped(reason: DropReason, retryAfter: Milliseconds)
    }

    /// A sliding second.
    static let span = Milliseconds.seconds(1)

    /// Oldest first; those before `head` are gone already.
    private var slots: [Admission] = []
    private var head = 0
    /// In the order of the users.
    private(set) var tallies: [Tally] = []

    /// A window in which nothing entered.
    package init() {}

    /// How many admissions it holds.
    package var count: Int { self.slots.count - self.head }
    /// The admissions, oldest first.
    var admissions: ArraySlice<Admission> { self.slots[self.head...] }

    package static func == (a: AdmissionWindow, b: AdmissionWindow) -> Bool {
        a.admissions == b.admissions && a.tallies == b.tallies
    }

    /// Decides whether a message enters now, and counts it when it does.
    package mutating func admit(
        _ feedClass: FeedClass, from sender: UserID?, under budget: FeedBudget, at now: Timestamp
    ) -> Verdict {
        self.expire(at: now)
        if let limit = budget.limit(of: feedClass) {
            let used = self.count
            if used >= limit {
                if let sender { self.noteTry(of: sender, atMost: budget.barrage, at: now) }
                return .dropped(reason: .budget, retryAfter: self.wait(for: self.head + used - limit, at: now))
            }
            if let sender, 2 * used > budget.total, let wait = self.waitForShare(of: sender, budget, at: now) {
                self.noteTry(of: sender, atMost: budget.barrage, at: now)
                return .dropped(reason: .share, retryAfter: wait)
            }
        }
        self.append(Admission(at: now, sender: sender), under: budget)
        return .admitted
    }

    /// How long until the admission in `slot` is a second old.
    private func wait(for slot: Int, at now: Timestamp) -> Milliseconds {
        self.slots[slot].at + Self.span - now
    }

    /// How long until `sender` has less than its even share; nil: it has less now.
    private mutating func waitForShare(
        of sender: UserID, _ budget: FeedBudget, at now: Timestamp
    ) -> Milliseconds? {
        self.sweep(at: now)
        let (index, isKnown) = self.index(of: sender)
        guard isKnown else { return nil }
        let admitted = self.tallies[index].admitted
        let share = budget.share(among: self.tallies.count)
        guard admitted >= share else { return nil }
        var surplus = admitted - share
        for slot in self.head..<self.slots.count where self.slots[slot].sender == sender {
            if surplus == 0 { return self.wait(for: slot, at: now) }
            surplus -= 1
        }
        return Self.span
    }

    private mutating func append(_ admission: Admission, under budget: FeedBudget) {
        while self.count >= budget.total { self.popFirst() }
        self.slots.append(admission)
        guard let sender = admission.sender else { return }
        let (index, isKnown) = self.index(of: sender)
        if isKnown {
            self.tallies[index].admitted += 1
            self.tallies[index].lastTry = admission.at
        } else {
            self.makeRoom(atMost: budget.barrage, at: admission.at)
            let tally = Tally(user: sender, lastTry: admission.at, admitted: 1)
            self.tallies.insert(tally, at: self.index(of: sender).index)
        }
    }

    /// Remembers a sender that was dropped.
    ///
    /// With as many senders as the budget has places, each has a share of one, and more of them would change nothing.
    private mutating func noteTry(of sender: UserID, atMost limit: Int, at now: Timestamp) {
        let (index, isKnown) = self.index(of: sender)
        if isKnown {
            self.tallies[index].lastTry = now
            return
        }
        if self.tallies.count >= limit { self.sweep(at: now) }
        guard self.tallies.count < limit else { return }
        self.tallies.insert(Tally(user: sender, lastTry: now, admitted: 0), at: self.index(of: sender).index)
    }

    /// Makes room for a sender that is let in: one that never was gives way, the one that tried longest ago.
    private mutating func makeRoom(atMost limit: Int, at now: Timestamp) {
        if self.tallies.count >= limit { self.sweep(at: now) }
        while self.tallies.count >= limit {
            let idle = self.tallies.enumerated().filter { $0.element.admitted == 0 }
            guard let oldest = idle.min(by: { $0.element.lastTry < $1.element.lastTry })?.offset else { return }
            self.tallies.remove(at: oldest)
        }
    }

    /// Forgets senders of which nothing is left in the last second.
    private mutating func sweep(at now: Timestamp) {
        let horizon = now - Self.span
        self.tallies.removeAll { $0.admitted == 0 && $0.lastTry <= horizon }
    }

    private mutating func expire(at now: Timestamp) {
        let horizon = now - Self.span
        while self.head < self.slots.count, self.slots[self.head].at <= horizon { self.popFirst() }
    }

    private mutating func popFirst() {
        let oldest = self.slots[self.head]
        self.head += 1
        if self.head >= 32, 2 * self.head >= self.slots.count {
            self.slots.removeFirst(self.head)
            self.head = 0
        }
        guard let sender = oldest.sender else { return }
        let (index, isKnown) = self.index(of: sender)
        guard isKnown else { return }
        self.tallies[index].admitted -= 1
        if self.tallies[index].admitted == 0, self.tallies[index].lastTry <= oldest.at {
            self.tallies.remove(at: index)
        }
    }

    private func index(of user: UserID) -> (index: Int, isKnown: Bool) {
        var low = 0
        var high = self.tallies.count
        while low < high {
            let middle = (low + high) / 2
            if self.tallies[middle].user < user { low = middle + 1 } else { high = middle }
        }
        return (low, low < self.tallies.count && self.tallies[low].user == user)
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
        let users = try values.decode([UserID].self, forKey: .users)
        let tries = try values.decode([Int64].self, forKey: .tries)
        guard ages.count == by.count, users.count == tries.count, by.allSatisfy({ (-1..<users.count).contains($0) }),
            zip(users, users.dropFirst()).allSatisfy({ $0 < $1 })
        else {
            throw DecodingError.dataCorruptedError(forKey: .by, in: values, debugDescription: "not an admission window")
        }
        self.tallies = zip(users, tries).map { user, age in
            Tally(user: user, lastTry: Timestamp(milliseconds: from &+ age), admitted: 0)
        }
        for (age, place) in zip(ages, by) {
            let sender = place < 0 ? nil : users[place]
            self.slots.append(Admission(at: Timestamp(milliseconds: from &+ age), sender: sender))
            if place >= 0 { self.tallies[place].admitted += 1 }
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        let from = self.admissions.first?.at ?? self.tallies.first?.lastTry ?? Timestamp(milliseconds: 0)
        try values.encode(from.milliseconds, forKey: .from)
        try values.encode(self.admissions.map { ($0.at - from).count }, forKey: .ages)
        let by = self.admissions.map { admission in
            guard let sender = admission.sender else { return -1 }
            let (index, isKnown) = self.index(of: sender)
            return isKnown ? index : -1
        }
        try values.encode(by, forKey: .by)
        try values.encode(self.tallies.map(\.user), forKey: .users)
        try values.encode(self.tallies.map { ($0.lastTry - from).count }, forKey: .tries)
    }
}

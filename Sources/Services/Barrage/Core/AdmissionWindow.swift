// SPDX-License-Identifier: Apache-2.0
package import MachineKit
package import PlazaModel

/// The sliding window of one second: the items that entered a feed, and the senders who tried to send messages.
///
/// The window contains only numbers, so that it is quickly copied for undo when the batch aborts.
///
/// The window contains at most as many admissions as the budget's `total`, the items that may enter in a second.
/// Control items and gifts enter even if the window is full; each then replaces the oldest admission before that
/// expires. The window stays full, so no message enters in their place.
package struct AdmissionWindow: Sendable {
    /// The admission of one item.
    struct Admission: Hashable, Sendable {
        /// The time of the admission in milliseconds.
        var at: Int64
        /// The hash of the sender; 0 for no user.
        var sender: UInt64
    }
    /// The admitted messages and the last attempt of one sender in the last second.
    struct Tally: Hashable, Sendable {
        /// The hash of the sender.
        var sender: UInt64
        /// The time of the sender's last admitted or dropped message, in milliseconds.
        ///
        /// Dropped messages count too, because each sender who tries must get a share of the budget, not only the
        /// senders who were admitted first.
        var lastAttempt: Int64
        /// The number of the sender's messages among the admissions in the window.
        var admitted: Int64
    }
    /// Whether a message enters the feed.
    package enum Decision: Hashable, Sendable {
        case admitted
        /// The feed's budget, or the sender's share of it, is used up.
        case dropped(reason: DropReason, retryAfter: Milliseconds)
        /// The sender has already sent as many messages as one user may send in a second.
        case tooOften(retryAfter: Milliseconds)
    }

    /// The length of the window in milliseconds: one second.
    static let span: Int64 = 1_000

    /// A ring buffer with `count` admissions; the oldest is at the index `head`.
    private(set) var ring: ContiguousArray<Admission> = []
    private(set) var head = 0
    /// The number of admissions in the window.
    package private(set) var count = 0
    /// One entry for each sender, sorted by sender.
    private(set) var tallies: ContiguousArray<Tally> = []
    /// A time in milliseconds before which no tally expires; until then `removeExpiredTallies(at:)` need not search.
    ///
    /// Only tallies without admissions expire. `.max` means that there is no such tally.
    private(set) var nextTallyExpiry: Int64 = .max

    /// Creates an empty window.
    package init() {}

    /// Restores a window from an undo record.
    init(
        ring: ContiguousArray<Admission>, head: Int, count: Int, tallies: ContiguousArray<Tally>, nextTallyExpiry: Int64
    ) {
        self.ring = ring
        self.head = head
        self.count = count
        self.tallies = tallies
        self.nextTallyExpiry = nextTallyExpiry
    }

    /// The admissions, oldest first.
    var admissions: [Admission] { (0..<self.count).map { self[$0] } }

    /// The admission at `index`; the oldest is at 0.
    private subscript(index: Int) -> Admission {
        let ringIndex = self.head + index
        return self.ring[ringIndex < self.ring.count ? ringIndex : ringIndex - self.ring.count]
    }

    /// Removes expired admissions, and decides whether a message may enter now.
    ///
    /// The decision is not recorded here: that is done by `recordAdmission` if the message enters, or by
    /// `recordAttempt` if it is dropped.
    ///
    /// - Parameters:
    ///   - feedClass: the class of the message.
    ///   - sender: the sender.
    ///   - rate: how many messages one user may send in a sliding second.
    ///   - budget: the feed's budget.
    ///   - now: the time of the input.
    /// - Returns: whether the message enters; if not, the reason and when to retry.
    package mutating func decide(
        on feedClass: FeedClass, from sender: SenderHash, rate: Int, under budget: FeedBudget, at now: Timestamp
    ) -> Decision {
        let now = now.milliseconds
        self.removeExpiredAdmissions(at: now)
        // Control items and gifts have no limit.
        guard var limit = budget.limit(of: feedClass) else { return .admitted }
        // The live's owner and the app's server may fill the whole budget.
        if feedClass == .barrage, sender.mayFillBudget { limit = budget.total }
        // A sender cannot have more admissions than the window. So the sender's tally is not searched while the whole
        // window has fewer than `rate` admissions.
        if sender.hash != 0, self.count >= rate, let wait = self.waitUntilBelow(rate, for: sender.hash, at: now) {
            return .tooOften(retryAfter: wait)
        }
        if self.count >= limit {
            // `count - limit + 1` admissions must expire. The last of them has the index `count - limit`.
            return .dropped(reason: .budget, retryAfter: self.waitUntilExpiry(of: self.count - limit, at: now))
        }
        // A share is how many messages each sender may have in the window. Shares apply while more than half of the
        // budget is used. A sender with hash 0 has no tally and no share.
        if !sender.mayFillBudget, sender.hash != 0, 2 * self.count > budget.total {
            self.removeExpiredTallies(at: now)
            let share = budget.share(among: self.tallies.count)
            // A sender without a tally has no admission yet, so its first message may enter.
            if let wait = self.waitUntilBelow(share, for: sender.hash, at: now) {
                return .dropped(reason: .share, retryAfter: wait)
            }
        }
        return .admitted
    }

    /// Removes expired admissions, and returns the time until an item of the class may enter; nil if it may enter now.
    package mutating func wait(for feedClass: FeedClass, under budget: FeedBudget, at now: Timestamp) -> Milliseconds? {
        self.removeExpiredAdmissions(at: now.milliseconds)
        guard let limit = budget.limit(of: feedClass), self.count >= limit else { return nil }
        return self.waitUntilExpiry(of: self.count - limit, at: now.milliseconds)
    }

    /// How long until the admission at `index` leaves the window.
    private func waitUntilExpiry(of index: Int, at now: Int64) -> Milliseconds {
        Milliseconds(self[index].at + Self.span - now)
    }

    /// How long until `sender` has fewer than `limit` admissions; nil if the sender already has fewer.
    private func waitUntilBelow(_ limit: Int, for sender: UInt64, at now: Int64) -> Milliseconds? {
        let tallyIndex = self.tallyIndex(of: sender)
        guard self.hasTally(of: sender, at: tallyIndex) else { return nil }
        var surplus = Int(self.tallies[tallyIndex].admitted) - limit
        guard surplus >= 0 else { return nil }
        // The sender's admissions expire in order. After `surplus + 1` of them have expired, fewer than `limit` are
        // left.
        for index in 0..<self.count where self[index].sender == sender {
            if surplus == 0 { return self.waitUntilExpiry(of: index, at: now) }
            surplus -= 1
        }
        // This line is reached only if a tally counts more admissions of its sender than the window contains, which
        // would be a fault.
        return Milliseconds(Self.span)
    }

    /// Records the admission of an item; `sender` is `nobody` for items that no user sent.
    package mutating func recordAdmission(from sender: SenderHash, under budget: FeedBudget, at now: Timestamp) {
        let now = now.milliseconds
        // Only a control item or a gift can find the window full.
        while self.count >= budget.total { self.removeOldestAdmission() }
        self.append(Admission(at: now, sender: sender.hash))
        guard sender.hash != 0 else { return }
        var index = self.tallyIndex(of: sender.hash)
        if self.hasTally(of: sender.hash, at: index) {
            self.tallies[index].admitted += 1
            self.tallies[index].lastAttempt = now
        } else {
            // There are at most as many tallies as the window may have admissions. At that limit, a tally without
            // admissions is removed for the new one.
            if self.tallies.count >= budget.total {
                self.removeIdleTallies(untilBelow: budget.total, at: now)
                index = self.tallyIndex(of: sender.hash)
            }
            self.tallies.insert(Tally(sender: sender.hash, lastAttempt: now, admitted: 1), at: index)
        }
    }

    /// Records that a message of the sender was dropped.
    ///
    /// When there are `budget.barrage` tallies, the share of each sender is already one message, the minimum. More
    /// tallies would not change the shares, so further senders are not recorded.
    package mutating func recordAttempt(_ sender: SenderHash, under budget: FeedBudget, at now: Timestamp) {
        guard sender.hash != 0 else { return }
        let now = now.milliseconds
        var index = self.tallyIndex(of: sender.hash)
        if self.hasTally(of: sender.hash, at: index) {
            self.tallies[index].lastAttempt = now
            return
        }
        if self.tallies.count >= budget.barrage {
            self.removeExpiredTallies(at: now)
            guard self.tallies.count < budget.barrage else { return }
            index = self.tallyIndex(of: sender.hash)
        }
        self.tallies.insert(Tally(sender: sender.hash, lastAttempt: now, admitted: 0), at: index)
        self.nextTallyExpiry = min(self.nextTallyExpiry, now + Self.span)
    }

    /// Removes tallies without admissions, the oldest attempt first, until fewer than `limit` tallies remain.
    private mutating func removeIdleTallies(untilBelow limit: Int, at now: Int64) {
        self.removeExpiredTallies(at: now)
        while self.tallies.count >= limit {
            var oldestIndex: Int?
            for index in self.tallies.indices where self.tallies[index].admitted == 0 {
                if let oldestIndex, self.tallies[oldestIndex].lastAttempt <= self.tallies[index].lastAttempt {
                    continue
                }
                oldestIndex = index
            }
            guard let oldestIndex else { return }
            self.tallies.remove(at: oldestIndex)
        }
    }

    /// Removes the tallies without an admission or an attempt in the last second.
    private mutating func removeExpiredTallies(at now: Int64) {
        if now < self.nextTallyExpiry { return }
        let lastExpiredTime = now - Self.span
        self.tallies.removeAll { $0.admitted == 0 && $0.lastAttempt <= lastExpiredTime }
        self.nextTallyExpiry = .max
        for tally in self.tallies where tally.admitted == 0 {
            self.nextTallyExpiry = min(self.nextTallyExpiry, tally.lastAttempt + Self.span)
        }
    }

    /// Removes the admissions that have left the window.
    private mutating func removeExpiredAdmissions(at now: Int64) {
        let lastExpiredTime = now - Self.span
        while self.count > 0, self.ring[self.head].at <= lastExpiredTime { self.removeOldestAdmission() }
    }

    /// Adds an admission to the ring buffer, which grows when it is full.
    private mutating func append(_ admission: Admission) {
        if self.count == self.ring.count {
            // The new admission is appended at the end of the array, so the oldest must be at its beginning.
            if self.head != 0 {
                self.ring = ContiguousArray(self.admissions)
                self.head = 0
            }
            self.ring.append(admission)
        } else {
            let index = self.head + self.count
            self.ring[index < self.ring.count ? index : index - self.ring.count] = admission
        }
        self.count += 1
    }

    /// Removes the oldest admission, and the sender's tally if the sender has no later admission or attempt.
    private mutating func removeOldestAdmission() {
        let oldest = self.ring[self.head]
        self.head = self.head + 1 < self.ring.count ? self.head + 1 : 0
        self.count -= 1
        guard oldest.sender != 0 else { return }
        let index = self.tallyIndex(of: oldest.sender)
        guard self.hasTally(of: oldest.sender, at: index) else { return }
        self.tallies[index].admitted -= 1
        guard self.tallies[index].admitted == 0 else { return }
        if self.tallies[index].lastAttempt <= oldest.at {
            self.tallies.remove(at: index)
        } else {
            self.nextTallyExpiry = min(self.nextTallyExpiry, self.tallies[index].lastAttempt + Self.span)
        }
    }

    /// Whether the tally at `index`, which `tallyIndex(of:)` returned, belongs to `sender`.
    private func hasTally(of sender: UInt64, at index: Int) -> Bool {
        index < self.tallies.count && self.tallies[index].sender == sender
    }

    /// The index of the tally of `sender`, or the index at which to insert it.
    private func tallyIndex(of sender: UInt64) -> Int {
        self.tallies.partitioningIndex { $0.sender >= sender }
    }
}

// The ring buffers of equal windows may begin at different indices, so the admissions are compared one by one.
extension AdmissionWindow: Equatable {
    package static func == (a: AdmissionWindow, b: AdmissionWindow) -> Bool {
        a.count == b.count && a.tallies == b.tallies && (0..<a.count).allSatisfy { a[$0] == b[$0] }
    }
}

extension AdmissionWindow: Codable {
    /// A short encoding, because every batch that changes a feed writes the window.
    ///
    /// `from` is the time of the first admission, or of an attempt if there is no admission. `ages` are the times of
    /// the admissions relative to `from`, `by` are the indices of their senders in `users` (-1 for no user), and
    /// `tries` are the times of the last attempts of `users` relative to `from`.
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
        let senderIndices = try values.decode([Int].self, forKey: .by)
        let senders = try values.decode([UInt64].self, forKey: .users)
        let attemptAges = try values.decode([Int64].self, forKey: .tries)
        guard ages.count == senderIndices.count, senders.count == attemptAges.count,
            senderIndices.allSatisfy({ (-1..<senders.count).contains($0) }),
            zip(senders, senders.dropFirst()).allSatisfy({ $0 < $1 })
        else {
            throw DecodingError.dataCorruptedError(forKey: .by, in: values, debugDescription: "not an admission window")
        }
        // A timestamp has bounds, so later sums and differences of times cannot overflow.
        func time(_ age: Int64) -> Int64 { Timestamp(milliseconds: from.saturatingAdd(age)).milliseconds }
        for (sender, age) in zip(senders, attemptAges) {
            self.tallies.append(Tally(sender: sender, lastAttempt: time(age), admitted: 0))
        }
        for (age, index) in zip(ages, senderIndices) {
            self.ring.append(Admission(at: time(age), sender: index < 0 ? 0 : senders[index]))
            if index >= 0 { self.tallies[index].admitted += 1 }
        }
        self.count = self.ring.count
        // `.min` makes `removeExpiredTallies(at:)` compute the time when it next runs.
        self.nextTallyExpiry = .min
    }

    package func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        let admissions = self.admissions
        let from = admissions.first?.at ?? self.tallies.first?.lastAttempt ?? 0
        try values.encode(from, forKey: .from)
        try values.encode(admissions.map { $0.at - from }, forKey: .ages)
        let senderIndices = admissions.map { admission in
            guard admission.sender != 0 else { return -1 }
            let index = self.tallyIndex(of: admission.sender)
            return self.hasTally(of: admission.sender, at: index) ? index : -1
        }
        try values.encode(senderIndices, forKey: .by)
        try values.encode(self.tallies.map(\.sender), forKey: .users)
        try values.encode(self.tallies.map { $0.lastAttempt - from }, forKey: .tries)
    }
}

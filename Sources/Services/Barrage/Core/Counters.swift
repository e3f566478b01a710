// SPDX-License-Identifier: Apache-2.0
package import MachineKit
package import PlazaModel

/// The pending counters of a feed: likes, speaking levels and the summary (the live's statistics).
///
/// Only the latest value of each kind is published, at most once in the kind's interval, and only while the budget
/// allows it (R12.1 and R11.8 in docs/RULES.md).
package struct Counters: Equatable, Sendable, Codable {
    /// A kind of counter; when several kinds are pending, they are published in the order of the cases.
    package enum Kind: Sendable, CaseIterable {
        case likes
        case speaking
        case summary

        /// The minimum time between two items of the kind.
        package var interval: Milliseconds {
            switch self {
            case .likes: .seconds(1)
            case .speaking: Milliseconds(500)
            case .summary: .seconds(5)
            }
        }
    }

    /// The latest likes that are not published yet.
    package struct Likes: Hashable, Sendable, Codable {
        package var sender: UserInfo
        package var count: Int64
    }

    /// A user who speaks, with the latest speaking level.
    package struct Voice: Hashable, Sendable, Codable {
        package var user: UserID
        package var level: Int
        /// When the user counts as silent, unless a new level is received before.
        package var until: Timestamp
    }

    /// How long a speaking level is valid, unless a new level replaces it.
    package static let voiceLifetime = Milliseconds.seconds(3)
    /// How long a changed summary waits before it is published, so that it includes further changes.
    package static let summaryDelay = Milliseconds.seconds(1)
    /// The minimum pause before another attempt to publish a counter that the budget did not allow.
    package static let retryInterval = Milliseconds(100)

    /// The pending likes; nil when no likes are pending.
    package var likes: CopyOnWrite<Likes>?
    /// The users who speak, sorted by user; at most one for each seat.
    package var voices: [Voice] = []
    /// Whether speaking levels have changed since they were last published.
    package var isSpeakingChanged = false
    /// When the changed summary may be published; nil when the summary has not changed.
    package private(set) var summaryReadyAt: Timestamp?
    // When each kind was last published.
    private var likesAt = Timestamp.distantPast
    private var speakingAt = Timestamp.distantPast
    private var summaryAt: Timestamp

    /// Creates the counters of a new live; the first summary is published one interval later at the earliest.
    init(openedAt: Timestamp) { self.summaryAt = openedAt }

    /// The earliest time at which the kind may be published.
    func nextPublishTime(_ kind: Kind) -> Timestamp {
        switch kind {
        case .likes: self.likesAt + kind.interval
        case .speaking: self.speakingAt + kind.interval
        case .summary: self.summaryReadyAt ?? (self.summaryAt + kind.interval)
        }
    }

    /// Whether the kind has a value to publish.
    func isPending(_ kind: Kind) -> Bool {
        switch kind {
        case .likes: self.likes != nil
        case .speaking: self.isSpeakingChanged
        case .summary: self.summaryReadyAt != nil
        }
    }

    /// Removes the pending value of a kind, returns it as a feed item, and counts the kind as published at `now`.
    ///
    /// - Parameters:
    ///   - kind: the kind, which must have a pending value.
    ///   - statistics: the live's current statistics.
    ///   - now: the time of the input.
    /// - Returns: the content of the feed item; nil when the kind is likes and no likes were pending.
    mutating func takePendingValue(of kind: Kind, _ statistics: LiveStatistics, at now: Timestamp) -> FeedContent? {
        switch kind {
        case .likes:
            self.likesAt = now
            guard let likes = self.likes?.value else { return nil }
            self.likes = nil
            return .likes(total: statistics.totalLikesReceived, sender: likes.sender, count: likes.count)
        case .speaking:
            self.speakingAt = now
            self.isSpeakingChanged = false
            let speakers = self.voices.map { Speaker(user: $0.user, level: $0.level) }
            // The highest level first; users with the same level in the order of their ids.
            return .speaking(users: speakers.sorted { ($1.level, $0.user) < ($0.level, $1.user) })
        case .summary:
            self.summaryAt = now
            self.summaryReadyAt = nil
            return .summary(statistics: statistics)
        }
    }

    /// Marks the summary as changed; must be called only if no summary is pending.
    ///
    /// - Returns: when the summary may be published.
    mutating func markSummaryChanged(at now: Timestamp) -> Timestamp {
        let readyAt = max(self.nextPublishTime(.summary), now + Self.summaryDelay)
        self.summaryReadyAt = readyAt
        return readyAt
    }

    /// Sets the speaking level of a user on a seat; level 0 means that the user is silent.
    mutating func setLevel(_ user: UserID, _ level: Int, at now: Timestamp) {
        let index = self.voices.firstIndex { $0.user >= user } ?? self.voices.count
        let isSpeaking = index < self.voices.count && self.voices[index].user == user
        if level == 0 {
            guard isSpeaking else { return }
            self.voices.remove(at: index)
            self.isSpeakingChanged = true
            return
        }
        let voice = Voice(user: user, level: level, until: now + Self.voiceLifetime)
        if isSpeaking {
            if self.voices[index].level != level { self.isSpeakingChanged = true }
            self.voices[index] = voice
        } else {
            self.voices.insert(voice, at: index)
            self.isSpeakingChanged = true
        }
    }

    /// Removes the voices for which `isRetained` is false.
    mutating func retainVoices(where isRetained: (Voice) -> Bool) {
        let countBefore = self.voices.count
        self.voices.removeAll { !isRetained($0) }
        if self.voices.count != countBefore { self.isSpeakingChanged = true }
    }
}

// SPDX-License-Identifier: Apache-2.0
package import CoreKit
package import PlazaModel

/// What waits to be told as counters: of each kind only the latest, at most once in its interval, and only while the
/// feed has room (reference 12, level Low).
package struct Counters: Equatable, Sendable, Codable {
    /// A kind of counter, in the order in which they are told.
    package enum Kind: Sendable, CaseIterable {
        case likes
        case speaking
        case summary

        /// The shortest time between two items of the kind.
        package var interval: Milliseconds {
            switch self {
            case .likes: .seconds(1)
            case .speaking: Milliseconds(500)
            case .summary: .seconds(5)
            }
        }
    }

    /// The latest likes that no item has told.
    package struct Likes: Hashable, Sendable, Codable {
        package var sender: UserInfo
        package var count: Int64
    }

    /// A user who was heard.
    package struct Voice: Hashable, Sendable, Codable {
        package var user: UserID
        package var level: Int
        /// Whoever is not heard of again falls silent then.
        package var until: Timestamp
    }

    /// How long a level holds that is not told again.
    package static let voiceLifetime = Milliseconds.seconds(3)
    /// How long a summary waits for more to change.
    package static let summaryDelay = Milliseconds.seconds(1)
    /// The shortest time after which a counter without room looks for some again.
    package static let retryInterval = Milliseconds(100)

    package var likes: Boxed<Likes>?
    /// In the order of the users; at most as many as there are seats.
    package var voices: [Voice] = []
    package var isSpeakingChanged = false
    /// When the summary, which has changed, may be told; nil: it has not.
    package private(set) var summaryReadyAt: Timestamp?
    // When each kind was last told.
    private var likesAt = Timestamp.distantPast
    private var speakingAt = Timestamp.distantPast
    private var summaryAt: Timestamp

    /// Counters of a live that begins: its first summary comes an interval later.
    init(openedAt: Timestamp) { self.summaryAt = openedAt }

    /// When the kind may be told again.
    func mayTell(_ kind: Kind) -> Timestamp {
        switch kind {
        case .likes: self.likesAt + kind.interval
        case .speaking: self.speakingAt + kind.interval
        case .summary: self.summaryReadyAt ?? self.summaryAt + kind.interval
        }
    }

    /// Whether the kind has something to tell.
    func isWaiting(_ kind: Kind) -> Bool {
        switch kind {
        case .likes: self.likes != nil
        case .speaking: self.isSpeakingChanged
        case .summary: self.summaryReadyAt != nil
        }
    }

    /// Takes what the kind tells.
    ///
    /// - Parameters:
    ///   - kind: which; it must be waiting.
    ///   - statistics: the live's figures as they are.
    ///   - now: the time of the input.
    /// - Returns: the item's content; nil when nothing was waiting.
    mutating func take(_ kind: Kind, _ statistics: LiveStatistics, at now: Timestamp) -> FeedContent? {
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
            return .speaking(users: speakers.sorted { ($1.level, $0.user) < ($0.level, $1.user) })
        case .summary:
            self.summaryAt = now
            self.summaryReadyAt = nil
            return .summary(statistics: statistics)
        }
    }

    /// The figures are others than the last summary said, and no summary is waiting yet.
    ///
    /// - Returns: when the summary may be told.
    mutating func summaryChanged(at now: Timestamp) -> Timestamp {
        let readyAt = max(self.mayTell(.summary), now + Self.summaryDelay)
        self.summaryReadyAt = readyAt
        return readyAt
    }

    /// Takes the level of a user on a seat; 0: it is silent.
    mutating func hear(_ user: UserID, _ level: Int, at now: Timestamp) {
        let index = self.voices.firstIndex { $0.user >= user } ?? self.voices.count
        let isKnown = index < self.voices.count && self.voices[index].user == user
        if level == 0 {
            guard isKnown else { return }
            self.voices.remove(at: index)
            self.isSpeakingChanged = true
            return
        }
        let voice = Voice(user: user, level: level, until: now + Self.voiceLifetime)
        if isKnown {
            if self.voices[index].level != level { self.isSpeakingChanged = true }
            self.voices[index] = voice
        } else {
            self.voices.insert(voice, at: index)
            self.isSpeakingChanged = true
        }
    }

    /// Keeps the voices that `isHeard` picks.
    mutating func keepVoices(where isHeard: (Voice) -> Bool) {
        let before = self.voices.count
        self.voices.removeAll { !isHeard($0) }
        if self.voices.count != before { self.isSpeakingChanged = true }
    }
}

// SPDX-License-Identifier: Apache-2.0
package import CoreKit
package import PlazaModel

/// How much of the past is read, and for how long (I16).
///
/// Who finds no room, or is too late, gets none of it: a client that comes back is told to take the snapshot, a newcomer
/// gets what is in memory.
package enum ReplayLimits {
    /// Items that one resume replays.
    package static let items = 1000
    /// Records of one partition that one pass reads.
    package static let span: Int64 = 200_000
    /// Records of a partition that are searched for a newcomer's messages.
    package static let searched: Int64 = 50_000
    /// Records that the first step of such a search reads; each further one reads twice as many.
    package static let firstStep: Int64 = 2000
    /// Requests that wait.
    package static let waiting = 10_000
    /// Partitions that are read at once.
    package static let partitions = 4
    /// Bytes of items that one pass keeps; there it ends.
    package static let passBytes = 16 << 20
    /// Bytes of items that were read and have not been sent yet; while there are more, no pass begins.
    package static let bytes = 64 << 20
    /// How long a client that comes back waits at most.
    package static let resumePatience = Milliseconds.seconds(3)
    /// How long a newcomer waits for older messages at most.
    package static let historyPatience = Milliseconds.seconds(1)
}

/// Who wants to know something of the past.
package struct ReplayID: Hashable, Sendable {
    /// The shard that asks.
    package var shard: Int
    /// The shard's own number of the question.
    package var number: UInt64

    /// Names a question.
    package init(shard: Int, number: UInt64) {
        self.shard = shard
        self.number = number
    }
}

/// A question about a live's past that memory does not answer.
package struct ReplayRequest: Hashable, Sendable {
    /// What is wanted.
    package enum Want: Hashable, Sendable {
        /// Every item after that number, for a client that comes back. Its record lies at that offset, where the reading
        /// begins: so what follows it is known to be all.
        case items(after: Int64, at: Int64)
        /// The last texts and custom messages, so many, for a newcomer; the reader goes back for them step by step.
        case messages(count: Int)
    }

    /// The live.
    package var key: LiveKey
    /// The live's incarnation.
    package var epoch: Int64
    /// What is wanted.
    package var want: Want
    /// The number of the first item that is in memory, if any is: what is wanted ends before it.
    package var before: Int64?
    /// The offset at which what is wanted ends.
    package var end: Int64

    /// A question.
    package init(_ key: LiveKey, epoch: Int64, _ want: Want, before: Int64?, end: Int64) {
        self.key = key
        self.epoch = epoch
        self.want = want
        self.before = before
        self.end = end
    }
}

/// Why somebody gets nothing of the past; metrics name it so.
package enum ReplayRefusal: String, Hashable, Sendable, CaseIterable {
    /// The position is of another live of that name.
    case otherLive
    /// Nothing says where the position's record is: no token, one of another place, or the partition cannot be read.
    case unknown
    /// More items, bytes or records lie between than are replayed.
    case tooMany
    /// The items are not kept any more, or the token is not true.
    case gone
    /// Too many wait already.
    case full
    /// It was not read in time.
    case late
}

/// What the past holds for somebody.
package enum ReplayAnswer: Hashable, Sendable {
    /// What was wanted, in order: all items, or as many messages as could be found in time.
    case found(ArraySlice<FeedPiece>)
    /// Nothing.
    case refused(ReplayRefusal)
}

/// A question with its answer.
package struct ReplayOutcome: Hashable, Sendable {
    /// Who asked.
    package var id: ReplayID
    /// What was asked.
    package var request: ReplayRequest
    /// What the past holds.
    package var answer: ReplayAnswer
    /// Where the live's feed stood at the request's end, if any of its items was seen.
    package var last: FeedToken?

    /// An outcome.
    package init(_ id: ReplayID, _ request: ReplayRequest, _ answer: ReplayAnswer, last: FeedToken? = nil) {
        self.id = id
        self.request = request
        self.answer = answer
        self.last = last
    }
}

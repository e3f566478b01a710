// SPDX-License-Identifier: Apache-2.0
package import MachineKit
package import PlazaModel

/// The limits of replays, which read from Kafka what the feed cache no longer has (I16 in docs/RULES.md).
///
/// A request that exceeds a limit is not served by a replay: a resuming client must load a snapshot, and a new viewer
/// gets only the cached messages.
package enum ReplayLimits {
    /// The largest number of items that one resume replays.
    package static let maxItems = 1000
    /// The largest number of records that one scan reads.
    package static let maxScanRecords: Int64 = 200_000
    /// The largest number of records that a search for a new viewer's messages reads.
    package static let maxSearchedRecords: Int64 = 50_000
    /// The number of records that the first step of such a search reads; each step reads twice as many as the one
    /// before.
    package static let firstStepRecords: Int64 = 2000
    /// A request counts once for its user's limit for each started 50,000 records that it may have to read (R12.22).
    package static let recordsPerCount: Int64 = 50_000
    /// The largest number of queued requests.
    package static let maxQueuedRequests = 10_000
    /// The largest number of partitions that are read concurrently.
    package static let maxConcurrentScans = 4
    /// The size of the collected items above which a scan ends early: 16 MiB.
    package static let maxScanBytes = 16 << 20
    /// The largest size of replayed items that are not sent yet: 64 MiB; above it, no scan begins.
    package static let maxUnsentBytes = 64 << 20
    /// How long a resuming client waits for its replay.
    package static let resumeTimeout = Milliseconds.seconds(3)
    /// How long a new viewer waits for the search for earlier messages.
    package static let historyTimeout = Milliseconds.seconds(1)
}

/// How much of the limits of the replay reader the replays of one app use now.
package struct ReplayUsage: Hashable, Sendable {
    /// The number of its scans that run.
    package var scanCount: Int
    /// The bytes of its items that were read and are not sent yet.
    package var unsentBytes: Int

    /// Creates a usage; by default nothing is used.
    package init(scanCount: Int = 0, unsentBytes: Int = 0) {
        self.scanCount = scanCount
        self.unsentBytes = unsentBytes
    }
}

/// Identifies a replay request.
package struct ReplayID: Hashable, Sendable {
    /// The requesting shard.
    package var shard: Int
    /// The request's number within the shard.
    package var number: UInt64

    /// Creates an id.
    package init(shard: Int, number: UInt64) {
        self.shard = shard
        self.number = number
    }
}

/// A request to read a live's feed items that are not cached.
package struct ReplayRequest: Hashable, Sendable {
    /// Which items to read.
    package enum Target: Hashable, Sendable {
        /// All items after number `after`, for a client that resumes; the scan begins at `startOffset`.
        ///
        /// `startOffset` is the offset of item `after`. If `after` is 0, because the client has received no item,
        /// `startOffset` is the offset up to which the feed was read when the client joined.
        case items(after: Int64, startOffset: Int64)
        /// The last `count` texts and custom messages, for a new viewer; the reader searches backwards step by step.
        case messages(count: Int)
    }

    /// The live.
    package var key: LiveKey
    /// The live's epoch, which distinguishes it from earlier lives with the same id.
    package var epoch: Int64
    /// Which items to read.
    package var target: Target
    /// The number of the first item that the requester has in its cache; nil if it has none.
    ///
    /// Only items with lower numbers are needed.
    package var beforeNumber: Int64?
    /// The offset before which the scan ends.
    package var endOffset: Int64

    /// Creates a request.
    package init(_ key: LiveKey, epoch: Int64, _ target: Target, beforeNumber: Int64?, endOffset: Int64) {
        self.key = key
        self.epoch = epoch
        self.target = target
        self.beforeNumber = beforeNumber
        self.endOffset = endOffset
    }

    /// How many times the request counts for its user's limit: once for each started `ReplayLimits.recordsPerCount`
    /// records that it may have to read.
    ///
    /// The token of a resume is not signed, so a client can choose where the scan begins, and thus how long it is.
    package var costForUser: Int {
        let recordCount =
            switch self.target {
            case .items(_, let startOffset):
                // `FeedCache` plans no longer scan. With the limit, the addition below cannot overflow.
                min(max(startOffset, self.endOffset) - startOffset, ReplayLimits.maxScanRecords)
            case .messages: min(self.endOffset, ReplayLimits.maxSearchedRecords)
            }
        return Int(max(1, (recordCount + ReplayLimits.recordsPerCount - 1) / ReplayLimits.recordsPerCount))
    }
}

/// The reason why items are not replayed; the raw values are metric labels.
package enum ReplayRefusal: String, Hashable, Sendable, CaseIterable {
    /// The position belongs to another live with the same id.
    case otherLive
    /// The offsets to read are unknown: the client sent no token or the token of another position, or the partition was
    /// not read up to its end yet.
    case unknown
    /// The number or size of the items, or the number of records to read, exceeds a limit of `ReplayLimits`.
    case tooMany
    /// The items are no longer in the log, or the token is wrong.
    case gone
    /// The user has made too many requests (R12.22).
    case tooFrequent
    /// The queue of requests is full, or the app has used up its share of the queue.
    case full
    /// The deadline passed before the items were read.
    case late
}

/// The answer to a request.
package enum ReplayAnswer: Hashable, Sendable {
    /// The items in order: all of them, or as many messages as were found in time.
    case found(ArraySlice<EncodedFeedItem>)
    /// No items, for this reason.
    case refused(ReplayRefusal)
}

/// A request with its answer.
package struct ReplayOutcome: Hashable, Sendable {
    /// Identifies the request.
    package var id: ReplayID
    /// The request.
    package var request: ReplayRequest
    /// The answer.
    package var answer: ReplayAnswer
    /// The token of the live's last item before the request's end offset, if one was read.
    package var latestToken: FeedToken?

    /// Creates an outcome.
    package init(_ id: ReplayID, _ request: ReplayRequest, _ answer: ReplayAnswer, latestToken: FeedToken? = nil) {
        self.id = id
        self.request = request
        self.answer = answer
        self.latestToken = latestToken
    }
}

// SPDX-License-Identifier: Apache-2.0
package import AudienceCore
package import MachineKit
package import PlazaModel
internal import RedisClient
package import ServiceShell

/// The store of one partition's leases in Redis; it executes the requests of a batch of inputs in one pipeline.
///
/// A lease is the entry of a session in a live, and expires after the session's last heartbeat. The requests write the
/// changes that they make to an outbox in Redis, from which the store reads the changes.
///
/// A former owner of the partition may wake up and send requests, and Redis may lose data. So each request names the
/// owner's generation (fencing token) and the epoch of the leases (one life of the lease data). The scripts, which
/// Redis runs, reject requests of an older generation or another epoch (docs/decisions/0003).
package final class LeaseStore {
    /// The maximum number of entries that are read at once from the outbox, which holds the changes until they are
    /// published.
    static let outboxPageLimit = 10_000
    /// How many times a batch is tried if the epoch changes during each attempt.
    private static let maxAttempts = 3

    /// The outcome of a batch.
    package enum BatchOutcome: Equatable, Sendable {
        /// The requests have no results: Redis could not be reached, a script failed, or the epoch changed during each
        /// attempt. `mayHaveRun`: whether Redis may have executed the requests. `detail`: the reason, for the log.
        case unavailable(mayHaveRun: Bool, detail: String)
        /// The result of each input, and the name of the new epoch; nil if no epoch began.
        ///
        /// `lastID` is the id of the last outbox entry that an input of this batch or of an earlier batch has made.
        case done(results: [LeaseResult], newEpoch: String?, lastID: Int64)
    }

    /// Why an attempt to execute a batch has no results.
    private enum Failure: Error {
        /// A later owner has opened the partition.
        case fenced
        /// The leases in Redis belong to another epoch than the requests name.
        case epochChanged
        /// Redis cannot be reached, or has sent too few replies.
        case unavailable(mayHaveRun: Bool, detail: String)
        /// A script has failed, or its reply is malformed, because Redis holds values that no script has written.
        case damaged(detail: String)
    }

    private let connection: any LeaseConnection
    /// The text with which all keys of the partition in Redis begin; it keeps them in one slot of a Redis cluster.
    private let hashTag: String
    /// How long a lease lasts after the session's last heartbeat.
    private let leaseDuration: Milliseconds
    /// The owner's fencing token.
    private var generation: Int64 = 0
    /// The number of epochs that this store has begun; makes the epochs' names unique.
    private var epochsBegun = 0
    /// Whether the values in Redis cannot be trusted; if so, the next epoch begins without reading them.
    private var isDamaged = false
    /// The server on which the partition is open, and the epoch of the leases on this server; nil when the partition
    /// must be opened first.
    private var openedPartition: (identity: RedisClient.Identity, epoch: String)?
    /// The number of sessions with a lease in the partition, as of the last reply.
    package private(set) var sessionCount = 0

    /// - Parameters:
    ///   - connection: the connection to Redis.
    ///   - partition: the inbox partition that the leases belong to.
    ///   - lease: how long a lease lasts after the session's last heartbeat.
    package init(_ connection: any LeaseConnection, partition: Int, lease: Milliseconds) {
        self.connection = connection
        self.hashTag = "{audience.\(partition)}"
        self.leaseDuration = lease
    }

    /// Sets the generation of the new owner.
    ///
    /// From the new owner's next request on, Redis rejects requests of earlier owners.
    package func acquired(generation: Int64) {
        self.generation = generation
        self.openedPartition = nil
    }

    /// Executes the requests of a batch.
    ///
    /// - Parameters:
    ///   - batch: the inputs, in order; a request whose offset was already executed changes nothing.
    ///   - cursor: the position up to which this owner has published the outbox.
    ///   - committedID: the id of the last entry whose publication is committed; entries up to it are deleted.
    ///   - needsEpoch: whether a new epoch must begin even if Redis still has the leases, because inputs were decided
    ///     without Redis and the leases may contradict these decisions.
    ///   - lives: returns all lives of the partition. It is called only after a script has failed, to remove the leases
    ///     of each live by its name.
    /// - Returns: the result of each input, or the reason why there are no results.
    /// - Throws: `.fenced` when a later owner has acquired the partition.
    package func execute(
        _ batch: [PlannedInput], from cursor: OutboxCursor, committedID: Int64, needsEpoch: Bool,
        lives: () -> [LiveKey]
    ) throws(ProcessorError) -> BatchOutcome {
        guard let first = batch.first else { return .done(results: [], newEpoch: nil, lastID: cursor.id) }
        var newEpoch: String?
        for _ in 0..<Self.maxAttempts {
            do throws(Failure) {
                let opened = try self.open(isFirstEpoch: cursor.epoch.isEmpty)
                // If an earlier attempt has begun an epoch, this attempt uses that epoch.
                let expectedEpoch = newEpoch ?? cursor.epoch
                let hasExpectedEpoch = Self.isEpoch(expectedEpoch, stillIn: opened)
                var epoch = expectedEpoch
                if !hasExpectedEpoch || (needsEpoch && newEpoch == nil) {
                    epoch = try self.beginEpoch(opened.identity, cursor, at: first.moment.now, lives)
                    newEpoch = epoch
                }
                let (results, lastID) = try self.runBatch(
                    batch, epoch: epoch, after: cursor.id, committedID: committedID)
                return .done(results: results, newEpoch: newEpoch, lastID: lastID)
            } catch {
                self.openedPartition = nil
                switch error {
                case .fenced: throw .fenced
                // The next attempt opens the partition again, and begins a new epoch.
                case .epochChanged: continue
                case .unavailable(let mayHaveRun, let detail):
                    return .unavailable(mayHaveRun: mayHaveRun, detail: detail)
                case .damaged(let detail):
                    // The caller decides this batch without the leases, as if Redis were not available. The next
                    // batch begins a new epoch.
                    self.isDamaged = true
                    return .unavailable(mayHaveRun: true, detail: detail)
                }
            }
        }
        return .unavailable(mayHaveRun: true, detail: "the epoch changed \(Self.maxAttempts) times")
    }

    /// Opens the partition again, and checks that Redis still has the leases of the cursor's epoch.
    ///
    /// - Returns: false if Redis cannot be reached, or has other leases or none.
    /// - Throws: `.fenced` when a later owner has acquired the partition.
    package func reopen(expectingEpochOf cursor: OutboxCursor) throws(ProcessorError) -> Bool {
        // Redis may have lost its data without closing the connection, so an earlier opening proves nothing.
        self.openedPartition = nil
        do {
            let opened = try self.open(isFirstEpoch: cursor.epoch.isEmpty)
            return Self.isEpoch(cursor.epoch, stillIn: opened)
        } catch {
            self.openedPartition = nil
            switch error {
            case .fenced: throw .fenced
            case .epochChanged, .unavailable: return false
            case .damaged:
                self.isDamaged = true
                return false
            }
        }
    }

    /// Whether an opened partition still has the leases of the epoch with this name.
    ///
    /// The name of an epoch ends with the run id of the Redis server. A server with another run id has restarted, and
    /// may have lost leases.
    private static func isEpoch(
        _ name: String, stillIn opened: (identity: RedisClient.Identity, epoch: String)
    ) -> Bool {
        opened.epoch == name && name.hasSuffix(opened.identity.runID)
    }

    /// Connects to Redis, and opens the partition, unless it is already open on this connection.
    ///
    /// To open the partition is to register this owner's generation in Redis, and to read the epoch of the leases.
    ///
    /// - Parameter isFirstEpoch: whether no owner of the partition has committed an epoch so far.
    /// - Returns: the server, and the name of the epoch of its leases; the name is empty if the server has no leases,
    ///   or if its values cannot be trusted.
    /// - Throws: `fenced`, `unavailable`, `damaged`.
    private func open(isFirstEpoch: Bool) throws(Failure) -> (identity: RedisClient.Identity, epoch: String) {
        let identity = try Self.convertingErrors(mayHaveRun: false) { () throws(RedisError) in
            try self.connection.connect()
        }
        if let opened = self.openedPartition, opened.identity == identity { return opened }
        // The empty name makes `execute` begin a new epoch. The script `begin` then checks the generation, as the
        // script `open` would, but needs no value that Redis holds.
        if self.isDamaged { return (identity: identity, epoch: "") }
        let reply = try self.runScript(
            LeaseScript.open.call(["\(self.generation)", isFirstEpoch ? "1" : "0"], hashTag: self.hashTag))
        guard let elements = reply.elements, elements.count == 2, let epoch = elements[0].text,
            let sessions = elements[1].integer
        else { throw .damaged(detail: "a malformed reply") }
        self.sessionCount = Int(sessions)
        let opened = (identity: identity, epoch: epoch)
        self.openedPartition = opened
        return opened
    }

    /// Begins a new epoch, and returns its name.
    ///
    /// The name consists of the owner's generation, the number of the epoch among those of this store, and the run id
    /// of the Redis server.
    private func beginEpoch(
        _ identity: RedisClient.Identity, _ cursor: OutboxCursor, at now: Timestamp, _ lives: () -> [LiveKey]
    ) throws(Failure) -> String {
        self.epochsBegun += 1
        let name = "\(self.generation).\(self.epochsBegun).\(identity.runID)"
        let isFirstEpoch = cursor.epoch.isEmpty
        // The head of begin.lua lists the arguments.
        let flags = [isFirstEpoch ? "1" : "0", self.isDamaged ? "1" : "0"]
        var arguments = ["\(self.generation)", name, "\(cursor.id)", "\(now.milliseconds)"] + flags
        if self.isDamaged { arguments += lives().map(\.text) }
        guard try self.runScript(LeaseScript.begin.call(arguments, hashTag: self.hashTag)).integer == 1 else {
            throw .damaged(detail: "a malformed reply")
        }
        self.isDamaged = false
        self.sessionCount = 0
        self.openedPartition = (identity: identity, epoch: name)
        return name
    }

    /// Sends the requests of a batch and reads the outbox, in one pipeline.
    ///
    /// More round trips follow only if the outbox has more than one page of entries.
    private func runBatch(
        _ batch: [PlannedInput], epoch: String, after publishedID: Int64, committedID: Int64
    ) throws(Failure) -> (results: [LeaseResult], lastID: Int64) {
        var calls: [RedisScriptCall] = []
        for planned in batch {
            for request in Self.requests(of: planned) {
                calls.append(
                    request.call(
                        hashTag: self.hashTag, generation: self.generation, epoch: epoch, lease: self.leaseDuration,
                        at: planned.moment))
            }
        }
        calls.append(self.outboxCall(epoch: epoch, committedID: committedID, after: publishedID))
        var replies = try self.runScripts(calls)
        guard let outbox = replies.popLast(), let lastOffset = batch.last?.moment.offset else {
            throw .unavailable(mayHaveRun: true, detail: "too few replies")
        }
        var page = try self.readPage(outbox)
        var entries = page.entries
        // Entries after the batch's last offset belong to a following batch.
        while page.isFull, let lastEntry = page.entries.last, lastEntry.offset <= lastOffset {
            page = try self.readPage(
                self.runScript(self.outboxCall(epoch: epoch, committedID: committedID, after: lastEntry.id)))
            entries += page.entries
        }
        return try Self.results(batch, replies, entries, after: publishedID)
    }

    /// The requests that are sent for an input.
    ///
    /// Redis counts a gap between requests that is longer than `Moment.maxGap` as a standstill of the partition, and
    /// extends the leases by the gap. While the machine handles inputs, the partition does not stand still. So a tick
    /// with the limit 0, which lets no lease expire, is sent for an input without a request. The same tick is sent
    /// before a query (a request that only reads), because the call of a query names no time.
    private static func requests(of planned: PlannedInput) -> [LeaseRequest] {
        guard let request = planned.request else { return [.tick(limit: 0)] }
        return request.isQuery ? [.tick(limit: 0), request] : [request]
    }

    /// Assigns each input its result and the outbox entries of its offset.
    ///
    /// After a crash, the inbox may be split into batches differently. An entry whose offset is after this batch then
    /// belongs to a following batch. An entry whose offset is before this batch belongs to an input that was decided
    /// without the leases, so the entry is never published.
    private static func results(
        _ batch: [PlannedInput], _ replies: [RedisReply], _ entries: [OutboxEntry], after publishedID: Int64
    ) throws(Failure) -> (results: [LeaseResult], lastID: Int64) {
        var results: [LeaseResult] = []
        var lastID = publishedID
        var nextReply = replies.startIndex
        var nextEntry = entries.startIndex
        for planned in batch {
            var result = LeaseResult.nothing
            for request in Self.requests(of: planned) {
                guard nextReply < replies.endIndex, let requestResult = request.result(replies[nextReply]) else {
                    throw .damaged(detail: "a malformed reply")
                }
                // A query is sent after its tick, so the query's result replaces the tick's.
                result = requestResult
                nextReply += 1
            }
            var changes: [LeaseChange] = []
            while nextEntry < entries.endIndex, entries[nextEntry].offset <= planned.moment.offset {
                let entry = entries[nextEntry]
                if entry.offset == planned.moment.offset { changes.append(entry.change) }
                lastID = max(lastID, entry.id)
                nextEntry += 1
            }
            // A script's reply does not contain the changes that it made; they are in the outbox. The result of a query
            // is not `.changed`, and stays as it is.
            if case .changed = result { result = .changed(changes) }
            results.append(result)
        }
        return (results, lastID)
    }

    /// The call that deletes the entries up to `committedID` from the outbox, and reads the entries after
    /// `publishedID`.
    private func outboxCall(epoch: String, committedID: Int64, after publishedID: Int64) -> RedisScriptCall {
        let arguments = ["\(self.generation)", epoch, "\(committedID)", "\(publishedID)", "\(Self.outboxPageLimit)"]
        return LeaseScript.outbox.call(arguments, hashTag: self.hashTag)
    }

    /// Reads the reply of the script `outbox`, and stores the number of sessions that it contains.
    ///
    /// - Returns: the entries, and whether the page is full, so that more entries may follow.
    /// - Throws: `damaged` when the reply is malformed.
    private func readPage(_ reply: RedisReply) throws(Failure) -> (entries: [OutboxEntry], isFull: Bool) {
        guard let elements = reply.elements, elements.count == 2, let sessions = elements[0].integer,
            let entries = elements[1].elements
        else { throw .damaged(detail: "a malformed outbox") }
        self.sessionCount = Int(sessions)
        // Entries that cannot be decoded count for `isFull`, too.
        return (entries.compactMap { OutboxEntry($0) }, entries.count >= Self.outboxPageLimit)
    }

    /// Runs one script; an error of the script becomes a `Failure`.
    private func runScript(_ call: RedisScriptCall) throws(Failure) -> RedisReply {
        guard let reply = try self.runScripts([call]).first else {
            throw .unavailable(mayHaveRun: true, detail: "no reply")
        }
        return reply
    }

    /// Runs scripts in one pipeline; an error of a script becomes a `Failure`.
    ///
    /// - Returns: one reply for each call.
    /// - Throws: `unavailable` when Redis does not answer; `fenced`, `epochChanged` or `damaged` when a script fails.
    private func runScripts(_ calls: [RedisScriptCall]) throws(Failure) -> [RedisReply] {
        let replies = try Self.convertingErrors(mayHaveRun: true) { () throws(RedisError) in
            try self.connection.run(calls)
        }
        guard replies.count == calls.count else { throw .unavailable(mayHaveRun: true, detail: "too few replies") }
        for case .error(let message) in replies {
            if message.hasPrefix("FENCED") { throw .fenced }
            if message.hasPrefix("EPOCH") { throw .epochChanged }
            throw .damaged(detail: message)
        }
        return replies
    }

    /// Runs `body`, and throws `unavailable` if it fails.
    ///
    /// `mayHaveRun` is true if `body` sends requests, which Redis may have executed even when `body` fails.
    private static func convertingErrors<R>(mayHaveRun: Bool, _ body: () throws(RedisError) -> R) throws(Failure) -> R {
        do throws(RedisError) {
            return try body()
        } catch {
            throw .unavailable(mayHaveRun: mayHaveRun && error.mayHaveRun, detail: "\(error)")
        }
    }
}

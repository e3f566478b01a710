// SPDX-License-Identifier: Apache-2.0
package import AudienceCore
package import MachineKit
package import PlazaModel
internal import RedisClient
package import ServiceShell

/// The leases of one partition in Redis: executes the requests of a batch in one pipeline, and reads the changes.
///
/// A former owner of the partition may wake up and send requests; Redis may lose data. So each script names the
/// owner's generation and the epoch of the leases, and rejects requests of an older generation or another epoch
/// (docs/decisions/0003).
package final class LeaseStore {
    /// How many outbox entries are read at once.
    static let pageLimit = 10_000
    /// How many times a batch is tried when the epoch changes meanwhile.
    private static let attempts = 3

    /// The outcome of a batch.
    package enum Outcome: Equatable, Sendable {
        /// Redis cannot be reached. `mayHaveRun`: whether Redis may have executed the requests.
        case unavailable(mayHaveRun: Bool, detail: String)
        /// The result of each input, the new epoch if one began, and the last outbox entry that the batch may
        /// publish.
        case done(results: [LeaseResult], newEpoch: String?, lastID: Int64)
    }

    private enum Failure: Error {
        case fenced
        case epochChanged
        case unavailable(mayHaveRun: Bool, detail: String)
        /// A script has failed, or its reply is malformed: Redis holds values that nobody has written so.
        case damaged(detail: String)
    }

    private let connection: any LeaseConnection
    private let key: String
    private let lease: Milliseconds
    private var generation: Int64 = 0
    private var epochsBegun = 0
    /// Whether the next epoch must begin without any of the values in Redis.
    private var isDamaged = false
    /// The server and the epoch that the current connection found when it opened the partition; nil when it must be
    /// opened first.
    private var opened: (identity: RedisClient.Identity, epoch: String)?
    /// The last known number of sessions with a lease in the partition.
    package private(set) var sessions = 0

    /// - Parameters:
    ///   - connection: the connection to Redis.
    ///   - partition: the inbox partition that the leases belong to.
    ///   - lease: how long a session lives after its last heartbeat.
    package init(_ connection: any LeaseConnection, partition: Int, lease: Milliseconds) {
        self.connection = connection
        self.key = "{audience.\(partition)}"
        self.lease = lease
    }

    /// Sets the generation of the new owner: from its next request on, requests of earlier owners are rejected.
    package func acquired(generation: Int64) {
        self.generation = generation
        self.opened = nil
    }

    /// Executes the requests of a batch.
    ///
    /// - Parameters:
    ///   - batch: the inputs, in order; a request whose offset was already executed changes nothing.
    ///   - cursor: the position up to which this owner has published the outbox.
    ///   - committedID: the last entry whose publication is committed; entries up to it are deleted.
    ///   - needsEpoch: whether a new epoch must begin, because something was decided without the leases.
    ///   - lives: returns all lives of the partition. It is called only after a script has failed: their leases are
    ///     then removed by name.
    /// - Returns: the result of each input, or the reason why Redis could not be reached.
    /// - Throws: `.fenced` when a later owner has acquired the partition.
    package func execute(
        _ batch: [PlannedInput], from cursor: OutboxCursor, committedID: Int64, needsEpoch: Bool,
        lives: () -> [LiveKey]
    ) throws(ProcessorError) -> Outcome {
        guard let first = batch.first else { return .done(results: [], newEpoch: nil, lastID: cursor.id) }
        var newEpoch: String?
        for _ in 0..<Self.attempts {
            do throws(Failure) {
                let found = try self.open(isFirst: cursor.epoch.isEmpty)
                let expected = newEpoch ?? cursor.epoch
                let isKnown = found.epoch == expected && expected.hasSuffix(found.identity.runID)
                var epoch = expected
                if !isKnown || needsEpoch && newEpoch == nil {
                    epoch = try self.beginEpoch(found.identity, cursor, at: first.moment.now, lives)
                    newEpoch = epoch
                }
                let (results, lastID) = try self.run(batch, epoch: epoch, after: cursor.id, committedID: committedID)
                return .done(results: results, newEpoch: newEpoch, lastID: lastID)
            } catch {
                self.opened = nil
                switch error {
                case .fenced: throw .fenced
                case .epochChanged: continue
                case .unavailable(let mayHaveRun, let detail):
                    return .unavailable(mayHaveRun: mayHaveRun, detail: detail)
                case .damaged(let detail):
                    // The next batch begins a new epoch, because this one counts as decided without the leases.
                    self.isDamaged = true
                    return .unavailable(mayHaveRun: true, detail: detail)
                }
            }
        }
        return .unavailable(mayHaveRun: true, detail: "the epoch went \(Self.attempts) times")
    }

    /// Connects and opens the partition, unless it is already open on this connection.
    ///
    /// - Parameter isFirst: whether no owner of the partition has ever committed an epoch.
    /// - Returns: the server, and the name of the epoch that it holds; empty if it holds none.
    /// - Throws: `fenced`, `unavailable`, `damaged`.
    private func open(isFirst: Bool) throws(Failure) -> (identity: RedisClient.Identity, epoch: String) {
        let identity = try Self.wrapped(mayHaveRun: false) { () throws(RedisError) in try self.connection.connect() }
        if let opened = self.opened, opened.identity == identity { return opened }
        let reply = try self.runOne(LeaseScript.open.call(["\(self.generation)", isFirst ? "1" : "0"], key: self.key))
        guard let list = reply.elements, list.count == 2, let epoch = list[0].text, let sessions = list[1].integer
        else { throw .unavailable(mayHaveRun: false, detail: "an answer of another shape") }
        self.sessions = Int(sessions)
        let found = (identity: identity, epoch: epoch)
        self.opened = found
        return found
    }

    /// Begins a new epoch.
    ///
    /// Its name contains the owner's generation and the run id of the Redis server.
    private func beginEpoch(
        _ identity: RedisClient.Identity, _ cursor: OutboxCursor, at now: Timestamp, _ lives: () -> [LiveKey]
    ) throws(Failure) -> String {
        self.epochsBegun += 1
        let name = "\(self.generation).\(self.epochsBegun).\(identity.runID)"
        let isFirst = cursor.epoch.isEmpty
        let flags = [isFirst ? "1" : "0", self.isDamaged ? "1" : "0"]
        var arguments = ["\(self.generation)", name, "\(cursor.id)", "\(now.milliseconds)"] + flags
        if self.isDamaged { arguments += lives().map(\.text) }
        _ = try self.runOne(LeaseScript.begin.call(arguments, key: self.key))
        self.isDamaged = false
        self.sessions = 0
        self.opened = (identity: identity, epoch: name)
        return name
    }

    private func run(
        _ batch: [PlannedInput], epoch: String, after published: Int64, committedID: Int64
    ) throws(Failure) -> (results: [LeaseResult], lastID: Int64) {
        var calls: [RedisScriptCall] = []
        for planned in batch {
            for request in Self.requests(of: planned) {
                calls.append(
                    request.call(
                        key: self.key, generation: self.generation, epoch: epoch, lease: self.lease,
                        at: planned.moment))
            }
        }
        calls.append(self.outboxCall(epoch: epoch, committedID: committedID, after: published))
        var replies = try self.runAll(calls)
        guard let outbox = replies.popLast(), let lastOffset = batch.last?.moment.offset else {
            throw .unavailable(mayHaveRun: true, detail: "too few replies")
        }
        var entries = try self.entries(outbox)
        while entries.count % Self.pageLimit == 0, let last = entries.last, last.offset <= lastOffset {
            let more = try self.entries(
                self.runOne(self.outboxCall(epoch: epoch, committedID: committedID, after: last.id)))
            if more.isEmpty { break }
            entries += more
        }
        return try Self.results(batch, replies, entries, after: published)
    }

    /// The requests that are sent for an input.
    ///
    /// The leases are extended by times without input. An input that changes nothing sends an empty tick, so that a
    /// time with rejected inputs and queries only does not count as such a time.
    private static func requests(of planned: PlannedInput) -> [LeaseRequest] {
        guard let request = planned.request else { return [.tick(limit: 0)] }
        return request.isQuery ? [.tick(limit: 0), request] : [request]
    }

    /// Assigns each input its reply and the outbox entries of its offset.
    ///
    /// An entry with a later offset belongs to the next batch, because after a crash the inbox may be split into
    /// batches differently. The input of an entry with an earlier offset was decided without the leases, so the entry
    /// is never published.
    private static func results(
        _ batch: [PlannedInput], _ replies: [RedisReply], _ entries: [OutboxEntry], after published: Int64
    ) throws(Failure) -> (results: [LeaseResult], lastID: Int64) {
        var results: [LeaseResult] = []
        var lastID = published
        var reply = replies.startIndex
        var next = entries.startIndex
        for planned in batch {
            var result = LeaseResult.nothing
            for request in Self.requests(of: planned) {
                guard reply < replies.endIndex, let read = request.result(replies[reply]) else {
                    throw .damaged(detail: "an answer of another shape")
                }
                result = read
                reply += 1
            }
            var changes: [LeaseChange] = []
            while next < entries.endIndex, entries[next].offset <= planned.moment.offset {
                if entries[next].offset == planned.moment.offset { changes.append(entries[next].change) }
                lastID = max(lastID, entries[next].id)
                next += 1
            }
            // A query has no changes.
            if case .changed = result { result = .changed(changes) }
            results.append(result)
        }
        return (results, lastID)
    }

    private func outboxCall(epoch: String, committedID: Int64, after published: Int64) -> RedisScriptCall {
        let arguments = ["\(self.generation)", epoch, "\(committedID)", "\(published)", "\(Self.pageLimit)"]
        return LeaseScript.outbox.call(arguments, key: self.key)
    }

    private func entries(_ reply: RedisReply) throws(Failure) -> [OutboxEntry] {
        guard let list = reply.elements, list.count == 2, let sessions = list[0].integer, let found = list[1].elements
        else { throw .damaged(detail: "an outbox of another shape") }
        self.sessions = Int(sessions)
        return found.compactMap { OutboxEntry($0) }
    }

    private func runOne(_ call: RedisScriptCall) throws(Failure) -> RedisReply {
        guard let reply = try self.runAll([call]).first else {
            throw .unavailable(mayHaveRun: true, detail: "no reply")
        }
        return reply
    }

    private func runAll(_ calls: [RedisScriptCall]) throws(Failure) -> [RedisReply] {
        let replies = try Self.wrapped(mayHaveRun: true) { () throws(RedisError) in try self.connection.run(calls) }
        guard replies.count == calls.count else { throw .unavailable(mayHaveRun: true, detail: "too few replies") }
        for case .error(let message) in replies {
            if message.hasPrefix("FENCED") { throw .fenced }
            if message.hasPrefix("EPOCH") { throw .epochChanged }
            throw .damaged(detail: message)
        }
        return replies
    }

    /// Runs `body`; `mayHaveRun` says that it sends requests, which Redis may have executed even when `body` fails.
    private static func wrapped<R>(mayHaveRun: Bool, _ body: () throws(RedisError) -> R) throws(Failure) -> R {
        do throws(RedisError) {
            return try body()
        } catch {
            throw .unavailable(mayHaveRun: mayHaveRun && error.mayHaveRun, detail: "\(error)")
        }
    }
}

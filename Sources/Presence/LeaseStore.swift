// SPDX-License-Identifier: Apache-2.0
package import AudienceCore
package import CoreKit
package import ServiceShell

/// The leases of one partition in Redis: carries out the commands of a batch in one pipeline, and reads what they changed.
///
/// Each script names the owner's generation and the epoch, so a stopped owner that wakes up changes nothing, and nothing
/// mixes with data of before a loss (design: docs/ARCHITECTURE.md).
package final class LeaseStore {
    /// Entries of the outbox that are read at once.
    static let pageLimit = 10_000
    /// How often a batch is sent again because the epoch had gone meanwhile.
    private static let attempts = 3

    /// What became of a batch.
    package enum Outcome: Equatable, Sendable {
        /// Redis is away; `wereSent`: the commands may have been carried out, only nobody knows.
        case away(wereSent: Bool, detail: String)
        /// The result of each step; the epoch if a new one began; the last entry that the batch may tell.
        case done(results: [LeaseResult], began: String?, lastID: Int64)
    }

    private enum Failure: Error {
        case fenced
        case epochGone
        case away(wereSent: Bool, detail: String)
    }

    private let link: any LeaseLink
    private let key: String
    private let lease: Milliseconds
    private var generation: Int64 = 0
    private var epochsBegun = 0
    /// What this generation has found behind its connection; nil when it must look.
    private var opened: (identity: LeaseLinkIdentity, epoch: String)?
    /// Leases in all lives of the partition, as far as known.
    package private(set) var sessions = 0

    /// - Parameters:
    ///   - link: the connection.
    ///   - partition: the inbox partition whose leases these are.
    ///   - lease: how long a session lives after its last sign of life.
    package init(_ link: any LeaseLink, partition: Int, lease: Milliseconds) {
        self.link = link
        self.key = "{audience.\(partition)}"
        self.lease = lease
    }

    /// A new owner: its scripts refuse those of all before it.
    package func take(generation: Int64) {
        self.generation = generation
        self.opened = nil
    }

    /// Carries out the commands of a batch.
    ///
    /// - Parameters:
    ///   - steps: the batch, in order; steps whose offset was carried out before change nothing.
    ///   - bookmark: what has been told, as far as this owner knows.
    ///   - committedID: entries up to this one are told for good, and deleted.
    ///   - needsEpoch: something was decided without the leases.
    /// - Returns: what became of each step, or why the leases could not be asked.
    /// - Throws: `.fenced` when a later owner has the partition.
    package func carryOut(
        _ steps: [AudienceStep], from bookmark: Bookmark, committedID: Int64, needsEpoch: Bool
    ) throws(ProcessorError) -> Outcome {
        guard let first = steps.first else { return .done(results: [], began: nil, lastID: bookmark.id) }
        var began: String?
        for _ in 0..<Self.attempts {
            do throws(Failure) {
                let found = try self.open()
                let expected = began ?? bookmark.epoch
                let isKnown = found.epoch == expected && expected.hasSuffix(found.identity.runID)
                var epoch = expected
                if !isKnown || needsEpoch && began == nil {
                    epoch = try self.begin(found.identity, bookmark, at: first.moment.now)
                    began = epoch
                }
                let (results, lastID) = try self.run(steps, epoch: epoch, after: bookmark.id, committedID: committedID)
                return .done(results: results, began: began, lastID: lastID)
            } catch {
                self.opened = nil
                switch error {
                case .fenced: throw .fenced
                case .epochGone: continue
                case .away(let wereSent, let detail): return .away(wereSent: wereSent, detail: detail)
                }
            }
        }
        return .away(wereSent: true, detail: "the epoch went \(Self.attempts) times")
    }

    /// Connects and takes the partition, if that has not been done on this connection.
    private func open() throws(Failure) -> (identity: LeaseLinkIdentity, epoch: String) {
        let identity = try Self.wrapped(wereSent: false) { () throws(LeaseLinkError) in try self.link.connect() }
        if let opened = self.opened, opened.identity == identity { return opened }
        let reply = try self.runOne(ScriptCall(.open, ["\(self.generation)"]))
        guard let list = reply.list, list.count == 2, let epoch = list[0].text, let sessions = list[1].integer else {
            throw .away(wereSent: false, detail: "an answer of another shape")
        }
        self.sessions = Int(sessions)
        let found = (identity: identity, epoch: epoch)
        self.opened = found
        return found
    }

    /// Begins a new epoch: its name says who began it, and on which start of Redis.
    private func begin(
        _ identity: LeaseLinkIdentity, _ bookmark: Bookmark, at now: Timestamp
    ) throws(Failure) -> String {
        self.epochsBegun += 1
        let name = "\(self.generation).\(self.epochsBegun).\(identity.runID)"
        _ = try self.runOne(
            ScriptCall(
                .begin,
                [
                    "\(self.generation)", name, "\(bookmark.id)", "\(now.milliseconds)",
                    bookmark.epoch.isEmpty ? "1" : "0",
                ]))
        self.sessions = 0
        self.opened = (identity: identity, epoch: name)
        return name
    }

    private func run(
        _ steps: [AudienceStep], epoch: String, after told: Int64, committedID: Int64
    ) throws(Failure) -> (results: [LeaseResult], lastID: Int64) {
        var calls: [ScriptCall] = []
        for step in steps {
            for command in Self.commands(of: step) {
                calls.append(
                    command.call(generation: self.generation, epoch: epoch, lease: self.lease, at: step.moment))
            }
        }
        calls.append(self.outboxCall(epoch: epoch, committedID: committedID, after: told))
        var replies = try self.runAll(calls)
        guard let outbox = replies.popLast(), let lastOffset = steps.last?.moment.offset else {
            throw .away(wereSent: true, detail: "too few replies")
        }
        var entries = try self.entries(outbox)
        while entries.count % Self.pageLimit == 0, let last = entries.last, last.offset <= lastOffset {
            let more = try self.entries(
                self.runOne(self.outboxCall(epoch: epoch, committedID: committedID, after: last.id)))
            if more.isEmpty { break }
            entries += more
        }
        return try Self.results(steps, replies, entries, after: told)
    }

    /// What a step sends: its command; and when that changes nothing or there is none, a sign that time has passed, so that
    /// refused inputs and questions are not taken for a gap in which nothing came in.
    private static func commands(of step: AudienceStep) -> [LeaseCommand] {
        guard let command = step.command else { return [.tick(limit: 0)] }
        return command.isQuestion ? [.tick(limit: 0), command] : [command]
    }

    /// Gives each step its reply and the entries of its offset.
    ///
    /// An entry beyond the batch is the next batch's: a batch is not cut in the same places after a crash. One from before
    /// it was decided without the leases, and is told by nobody.
    private static func results(
        _ steps: [AudienceStep], _ replies: [LeaseReply], _ entries: [LeaseEntry], after told: Int64
    ) throws(Failure) -> (results: [LeaseResult], lastID: Int64) {
        var results: [LeaseResult] = []
        var lastID = told
        var reply = replies.startIndex
        var next = entries.startIndex
        for step in steps {
            var answer = LeaseAnswer.none
            for command in Self.commands(of: step) {
                guard reply < replies.endIndex, let given = command.answer(replies[reply]) else {
                    throw .away(wereSent: true, detail: "an answer of another shape")
                }
                answer = given
                reply += 1
            }
            var own: [LeaseEntry] = []
            while next < entries.endIndex, entries[next].offset <= step.moment.offset {
                if entries[next].offset == step.moment.offset { own.append(entries[next]) }
                lastID = max(lastID, entries[next].id)
                next += 1
            }
            results.append(.done(entries: own, answer: answer))
        }
        return (results, lastID)
    }

    private func outboxCall(epoch: String, committedID: Int64, after told: Int64) -> ScriptCall {
        ScriptCall(.outbox, ["\(self.generation)", epoch, "\(committedID)", "\(told)", "\(Self.pageLimit)"])
    }

    private func entries(_ reply: LeaseReply) throws(Failure) -> [LeaseEntry] {
        guard let list = reply.list, list.count == 2, let sessions = list[0].integer, let found = list[1].list else {
            throw .away(wereSent: true, detail: "an outbox of another shape")
        }
        self.sessions = Int(sessions)
        return found.compactMap { LeaseEntry($0) }
    }

    private func runOne(_ call: ScriptCall) throws(Failure) -> LeaseReply {
        guard let reply = try self.runAll([call]).first else {
            throw .away(wereSent: true, detail: "no reply")
        }
        return reply
    }

    private func runAll(_ calls: [ScriptCall]) throws(Failure) -> [LeaseReply] {
        let replies = try Self.wrapped(wereSent: true) { () throws(LeaseLinkError) in
            try self.link.run(calls, key: self.key)
        }
        guard replies.count == calls.count else { throw .away(wereSent: true, detail: "too few replies") }
        for case .error(let message) in replies {
            if message.hasPrefix("FENCED") { throw .fenced }
            if message.hasPrefix("EPOCH") { throw .epochGone }
            throw .away(wereSent: true, detail: message)
        }
        return replies
    }

    private static func wrapped<R>(
        wereSent: Bool, _ body: () throws(LeaseLinkError) -> R
    ) throws(Failure) -> R {
        do throws(LeaseLinkError) {
            return try body()
        } catch {
            switch error {
            case .unreachable(let detail): throw .away(wereSent: false, detail: detail)
            case .broken(let detail): throw .away(wereSent: wereSent, detail: detail)
            }
        }
    }
}

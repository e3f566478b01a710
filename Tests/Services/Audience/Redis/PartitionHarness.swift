// SPDX-License-Identifier: Apache-2.0
import AudienceCore
import MachineKit
import Observability
import PlazaModel
import PlazaWire
import Presence
import ServiceShell
import Testing

/// Simulates Kafka for one partition (the inbox, the committed rows, offset and metadata) and the instances that own
/// the partition one after the other; the leases are in a real Redis.
final class PartitionHarness {
    static let key = LiveKey("demo", "stage-1")
    /// The epoch of the live.
    static let epoch: Int64 = 7
    /// The owner of the live.
    static let host = UserInfo(userID: "host", userName: "Host")
    static let ending = Ending(
        reason: .endedByHost, caller: nil, epoch: PartitionHarness.epoch, createdAt: Timestamp(milliseconds: 1_000_000),
        endedAt: Timestamp(milliseconds: 1_020_000))

    private let redisPort: Int
    private let lease: Milliseconds
    private(set) var inbox: [InboxInput] = []
    private(set) var rows: [String: [UInt8]] = [:]
    private(set) var metadata = ""
    /// The index of the first input in the inbox that is not committed.
    private(set) var committedOffset = 0
    private(set) var now = Timestamp(milliseconds: 1_700_000_000_000)
    /// The processor of the instance that owns the partition.
    private(set) var owner: PresenceProcessor
    /// The effects of all committed inputs, in order.
    private(set) var published: [Effect] = []
    /// The fencing token of the owner: the offset of the tick with which it acquired the partition.
    private var generation: Int64 = 0

    private let policy: AppPolicy
    /// The inputs that are processed, but not committed: the index after the last one, and their effects.
    private var pending: (end: Int, effects: [Effect])?

    init(
        redis port: Int, lease: Milliseconds = .seconds(90), policy: AppPolicy = AppPolicy(),
        connection: (any LeaseConnection)? = nil
    ) throws {
        self.redisPort = port
        self.lease = lease
        self.policy = policy
        self.owner = Self.processor(port, lease, policy, connection)
        self.write(.opened(epoch: Self.epoch, owner: Self.host))
        try self.replaceOwner(connection: connection)
    }

    private static func processor(
        _ port: Int, _ lease: Milliseconds, _ policy: AppPolicy, _ connection: (any LeaseConnection)?
    ) -> PresenceProcessor {
        PresenceProcessor(
            AudienceMachine(partition: 0, policies: Policies(["demo": policy])),
            store: LeaseStore(connection ?? RedisLeaseConnection.withoutPause(port: port), partition: 0, lease: lease),
            log: .none,
            metrics: MetricsRegistry())
    }

    /// Appends an input to the inbox, `span` after the last one; returns its offset, which is the ticket of a join.
    @discardableResult
    func write(_ command: AudienceCommand, after span: Milliseconds = Milliseconds(1)) -> Int64 {
        self.append(.record(Wire.encode(AudienceInput(Self.key, command))), after: span)
    }

    /// Appends a tick to the inbox, `span` after the last input; returns its offset.
    @discardableResult
    func writeTick(after span: Milliseconds = Milliseconds(1)) -> Int64 { self.append(.tick, after: span) }

    private func append(_ payload: InboxInput.Payload, after span: Milliseconds) -> Int64 {
        self.now = self.now + span
        let offset = Int64(self.inbox.count)
        self.inbox.append(InboxInput(moment: Moment(now: self.now, offset: offset), payload: payload))
        return offset
    }

    /// Lets another process acquire the partition with the committed state; returns the old owner, unchanged.
    @discardableResult
    func replaceOwner(connection: (any LeaseConnection)? = nil) throws -> PresenceProcessor {
        let oldOwner = self.owner
        self.owner = Self.processor(self.redisPort, self.lease, self.policy, connection)
        for (key, row) in self.rows { self.owner.restore(key: key, row: row) }
        self.generation = self.writeTick()
        self.owner.acquired(generation: self.generation, committedMetadata: self.metadata, at: self.now)
        return oldOwner
    }

    /// Processes the next inputs, at most `count`, without committing them.
    func process(count: Int = .max) throws -> [Effect] {
        var effects: [Effect] = []
        // The inner `min` avoids an overflow if `count` is `.max`.
        let end = min(self.inbox.count, self.committedOffset + min(count, self.inbox.count))
        try self.owner.process(Array(self.inbox[self.committedOffset..<end]), effects: &effects)
        self.pending = (end, effects)
        return effects
    }

    /// Commits the processed inputs.
    func commit() {
        guard let pending = self.pending else { return }
        for (key, row) in self.owner.changes { self.rows[key] = row }
        self.metadata = self.owner.offsetMetadata
        self.committedOffset = pending.end
        self.published += pending.effects
        self.pending = nil
        self.owner.committed()
    }

    /// Aborts the transaction of the processed inputs; they are processed again.
    func rollback() {
        self.pending = nil
        self.owner.rolledBack()
    }

    /// Processes and commits all inputs in the inbox.
    @discardableResult
    func processAndCommit() throws -> [Effect] {
        let effects = try self.process()
        self.commit()
        return effects
    }

    /// Handles the earliest row that is due before the next input, but not the input, and commits the result.
    ///
    /// The shell handles a due row alone in this way after a failure.
    func processAndCommitNextDue() throws -> [Effect] {
        var effects: [Effect] = []
        let hadDueRow = try self.owner.processNextDue(before: self.inbox[self.committedOffset], effects: &effects)
        try #require(hadDueRow)
        self.pending = (self.committedOffset, effects)
        self.commit()
        return effects
    }

    /// Drops the metadata of the committed offset, as an operator does who resets the offset to the same value.
    func dropCommittedMetadata() { self.metadata = "" }

    /// Appends one input, processes and commits it.
    @discardableResult
    func send(_ command: AudienceCommand, after span: Milliseconds = Milliseconds(1)) throws -> [Effect] {
        self.write(command, after: span)
        return try self.processAndCommit()
    }

    /// Appends a tick, processes and commits it.
    @discardableResult
    func sendTick(after span: Milliseconds = Milliseconds(1)) throws -> [Effect] {
        self.writeTick(after: span)
        return try self.processAndCommit()
    }

    /// Handles a tick each second, for `seconds`; returns the effects of all ticks.
    @discardableResult
    func tick(seconds: Int) throws -> [Effect] {
        var effects: [Effect] = []
        for _ in 0..<seconds { effects += try self.sendTick(after: .seconds(1)) }
        return effects
    }

    // MARK: Inputs and effects

    /// A user with this id, whose name is the id in capital letters.
    static func user(_ name: String) -> UserInfo { UserInfo(userID: UserID(name), userName: name.uppercased()) }

    /// The caller of a user's call with this request counter; without a ticket the user has not joined.
    static func caller(
        _ name: String, counter: Int64, ticket: Int64? = nil, session: SessionID = "s1"
    ) -> Caller {
        Caller(
            user: self.user(name), role: .user, request: RequestID(session: session, counter: counter),
            replyTo: "gateway-1", ticket: ticket.map { Ticket($0) })
    }

    /// A heartbeat that the client sent `silence` ago, with the ticket of the session's join.
    static func beat(
        _ name: String, ticket: Int64, silentFor silence: Milliseconds = Milliseconds(0), session: SessionID = "s1"
    ) -> Heartbeat {
        Heartbeat(session: session, user: UserID(name), ticket: Ticket(ticket), silentFor: silence.count)
    }

    /// The users whose joins are published to viewers.
    static func joinedUsers(_ effects: [Effect]) -> [String] {
        effects.compactMap {
            if case .barrage(let input) = $0, case .publish(.audienceJoined(let user, _)) = input.command {
                user.userID.text
            } else {
                nil
            }
        }
    }
    /// The users whose leaves are published to viewers.
    static func leftUsers(_ effects: [Effect]) -> [String] {
        effects.compactMap {
            if case .barrage(let input) = $0, case .publish(.audienceLeft(let user)) = input.command {
                user.userID.text
            } else {
                nil
            }
        }
    }
    /// The users of whom presence reports to the seats that they are gone.
    static func usersGone(_ effects: [Effect]) -> [String] {
        effects.compactMap {
            if case .seat(let input) = $0, case .userGone(let user) = input.command { user.text } else { nil }
        }
    }
    /// The reports to the directory, such as "left not empty": the owner's presence, and whether the live is empty.
    static func occupancies(_ effects: [Effect]) -> [String] {
        effects.compactMap {
            if case .directory(let input, _) = $0, case .occupancy(_, let owner, let isEmpty) = input.command {
                "\(owner.rawValue) \(isEmpty ? "empty" : "not empty")"
            } else {
                nil
            }
        }
    }
    /// The notices to users among the effects.
    static func notices(_ effects: [Effect]) -> [Notice] {
        effects.compactMap { if case .notice(let notice) = $0 { notice } else { nil } }
    }
    /// The published counts among the effects.
    static func counts(_ effects: [Effect]) -> [CountRecord] {
        effects.compactMap { if case .count(let record) = $0 { record } else { nil } }
    }
    /// The names of the presence epochs that begin.
    static func epochs(_ effects: [Effect]) -> [String] {
        effects.compactMap { if case .presenceEpoch(let record) = $0 { record.epoch } else { nil } }
    }
    /// The outcomes in the replies.
    static func outcomes(_ effects: [Effect]) -> [Outcome] {
        effects.compactMap { if case .reply(let reply) = $0 { reply.outcome } else { nil } }
    }

    /// Reads the whole viewer list, page by page; returns the users' ids, and "?" instead of a page that is missing.
    func listUserIDs(pageSize: Int) throws -> [String] {
        var userIDs: [String] = []
        var cursor = ""
        // The counters are above those of the test's own calls. Any ticket above the opening suffices for a list.
        var counter: Int64 = 1000
        repeat {
            counter += 1
            let caller = Self.caller("host", counter: counter, ticket: counter)
            guard
                case .success(.audience(let page))? = Self.outcomes(
                    try self.send(.list(cursor: cursor, count: pageSize, caller: caller))
                ).first
            else { return userIDs + ["?"] }
            userIDs += page.members.map(\.user.userID.text)
            cursor = page.cursor
        } while !cursor.isEmpty
        return userIDs
    }
}

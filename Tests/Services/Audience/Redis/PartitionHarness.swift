// SPDX-License-Identifier: Apache-2.0
import AudienceCore
import MachineKit
import Observability
import PlazaModel
import PlazaWire
import Presence
import ServiceShell
import Testing

/// One partition of presence with one live, whose real processor keeps the leases in a real Redis.
///
/// Properties of this class simulate Kafka: the inbox, the committed rows, the committed offset and its metadata. They
/// also simulate the instances that own the partition one after the other: each has a processor of its own. A lease,
/// the entry of a session in Redis, lasts 90 s after the session's last sign of life.
final class PartitionHarness {
    static let key = LiveKey("demo", "stage-1")
    /// The epoch of the live.
    static let epoch: Int64 = 7
    /// The owner of the live.
    static let host = UserInfo(userID: "host", userName: "Host")
    static let ending = Ending(
        reason: .endedByServer, caller: nil, epoch: PartitionHarness.epoch,
        createdAt: Timestamp(milliseconds: 1_000_000),
        endedAt: Timestamp(milliseconds: 1_020_000))

    private let redisPort: Int
    private(set) var inbox: [InboxInput] = []
    /// The committed rows by key, as in the state topic.
    private(set) var rows: [String: [UInt8]] = [:]
    /// The metadata of the committed offset.
    private(set) var metadata = ""
    /// The offset of the first input that is not committed; an offset is an index of `inbox`.
    private(set) var committedOffset = 0
    private(set) var now = Timestamp(milliseconds: 1_700_000_000_000)
    /// The processor of the instance that owns the partition.
    private(set) var owner: PresenceProcessor
    /// The effects of all committed inputs, in order.
    private(set) var published: [Effect] = []
    /// The fencing token of the instance that owns the partition: the offset of the tick with which it took over.
    private var generation: Int64 = 0

    private let policy: AppPolicy
    /// The inputs that are processed, but not committed; nil if there are none.
    ///
    /// `end` is the offset after the last of these inputs, and `effects` are their effects.
    private var pending: (end: Int, effects: [Effect])?

    /// A partition whose first input opens the live, and whose second input is the tick of its first owner.
    ///
    /// Neither of the two inputs is processed yet.
    init(
        redisPort: Int, policy: AppPolicy = AppPolicy(), connection: (any LeaseConnection)? = nil
    ) throws {
        self.redisPort = redisPort
        self.policy = policy
        self.owner = Self.processor(redisPort, policy, connection)
        self.write(.opened(epoch: Self.epoch, owner: Self.host))
        try self.replaceOwner(connection: connection)
    }

    private static func processor(
        _ redisPort: Int, _ policy: AppPolicy, _ connection: (any LeaseConnection)?
    ) -> PresenceProcessor {
        PresenceProcessor(
            AudienceMachine(partition: 0, policies: Policies(["demo": policy])),
            store: LeaseStore(
                connection ?? RedisLeaseConnection.withoutPause(port: redisPort), partition: 0, lease: .seconds(90)),
            log: .none,
            metrics: MetricsRegistry())
    }

    /// Appends an input to the inbox, `span` after the last input.
    ///
    /// - Returns: the offset of the input; for a join, this is the ticket.
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

    /// Lets another instance acquire the partition with the committed state, and appends the instance's first tick.
    ///
    /// - Returns: the processor of the instance that owned the partition before.
    @discardableResult
    func replaceOwner(connection: (any LeaseConnection)? = nil) throws -> PresenceProcessor {
        let oldOwner = self.owner
        self.owner = Self.processor(self.redisPort, self.policy, connection)
        for (key, row) in self.rows { self.owner.restore(key: key, row: row) }
        self.generation = self.writeTick()
        self.owner.acquired(generation: self.generation, committedMetadata: self.metadata, at: self.now)
        return oldOwner
    }

    /// Processes the next inputs, at most `count`, without committing them.
    func process(count: Int = .max) throws -> [Effect] {
        var effects: [Effect] = []
        let end = self.committedOffset + min(count, self.inbox.count - self.committedOffset)
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

    /// Aborts the transaction of the processed inputs; the next call of `process` processes them again.
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
    /// After a failure, the shell handles each due row alone in this way.
    func processAndCommitNextDue() throws -> [Effect] {
        var effects: [Effect] = []
        let hadDueRow = try self.owner.processNextDue(before: self.inbox[self.committedOffset], effects: &effects)
        try #require(hadDueRow)
        self.pending = (self.committedOffset, effects)
        self.commit()
        return effects
    }

    /// Removes the metadata of the committed offset.
    ///
    /// This happens when an operator commits the same offset again with Kafka's tools, which write no metadata.
    func removeCommittedMetadata() { self.metadata = "" }

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

    /// Appends, processes and commits a tick each second, for `seconds`; returns the effects of all ticks.
    @discardableResult
    func tick(seconds: Int) throws -> [Effect] {
        var effects: [Effect] = []
        for _ in 0..<seconds { effects += try self.sendTick(after: .seconds(1)) }
        return effects
    }

    // MARK: Inputs and effects

    /// A user with this id, whose name is the id in capital letters.
    static func user(_ name: String) -> UserInfo { UserInfo(userID: UserID(name), userName: name.uppercased()) }

    /// The caller of call number `counter` of a session, with the ticket that the session's join returned.
    ///
    /// The first join of a session has no ticket. A kick needs none here: the directory has checked its caller.
    static func caller(
        _ name: String, counter: Int64, ticket: Int64? = nil, session: SessionID = "s1"
    ) -> Caller {
        Caller(
            user: self.user(name), role: .user, request: RequestID(session: session, counter: counter),
            replyTo: "gateway-1", ticket: ticket.map { Ticket($0) })
    }

    /// A heartbeat that the client sent `silence` ago, with the ticket of the session's join.
    static func heartbeat(
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
    /// The users that presence reports as gone to the seat machine.
    static func usersGone(_ effects: [Effect]) -> [String] {
        effects.compactMap {
            if case .seat(let input) = $0, case .userGone(let user) = input.command { user.text } else { nil }
        }
    }
    /// The reports to the directory, such as "left not empty": the owner's presence, and whether the live is empty.
    static func occupancyReports(_ effects: [Effect]) -> [String] {
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

    /// Reads the whole list of viewers, page by page.
    ///
    /// - Returns: the users' ids; "?" stands for a page that could not be read.
    func listUserIDs(pageSize: Int) throws -> [String] {
        var userIDs: [String] = []
        var cursor = ""
        // The calls are numbered from 1001, because the tests use lower numbers for their own calls. A list needs any
        // ticket above 0, the offset of the live's opening, so the call number is also the ticket.
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

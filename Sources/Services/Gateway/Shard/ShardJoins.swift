// SPDX-License-Identifier: Apache-2.0
internal import GatewayCore
internal import MachineKit
internal import PlazaModel

/// A join or resume that presence, the machine that knows who is in a live, has granted.
///
/// Its client becomes a viewer when the live's feed partition is loaded.
struct PendingJoin {
    var client: Client
    /// The number of the call in its session: of the join, the create that joins, or the login that resumes.
    var call: Int64
    var key: LiveKey
    var epoch: Int64
    /// The time at which the client becomes a viewer even if the partition is not loaded.
    var deadline: MonotonicTime
    /// The reply to the join; after a resume, it is sent only if the missed items can be replayed.
    var outcome: Outcome
    /// The position from which the client resumes; nil for a join.
    var resume: ResumePoint?

    /// Returns the same resume for a client that has all items up to this number.
    func resuming(after number: Int64) -> PendingJoin {
        var join = self
        join.resume?.position.number = number
        return join
    }
}

extension Outcome {
    /// Adds the token at which the client's feed begins to the outcome of a join, or of a create that joined; returns
    /// any other outcome unchanged.
    func adding(_ token: FeedToken) -> Outcome {
        switch self {
        case .success(.joined(ticket: let ticket, epoch: let epoch, confirmed: let confirmed, token: _)):
            return .success(result: .joined(ticket: ticket, epoch: epoch, confirmed: confirmed, token: token.text))
        case .success(.live(info: let info, epoch: let epoch, revision: let revision, joined: var joined?)):
            joined.token = token.text
            return .success(result: .live(info: info, epoch: epoch, revision: revision, joined: joined))
        default: return self
        }
    }
}

/// Makes clients viewers of a live after presence has granted their join, when the live's feed partition is loaded.
final class ShardJoins {
    private unowned let shard: Shard
    private var pending: [PendingJoin] = []

    /// How long a granted join waits until its partition is loaded.
    private static let joinTimeout = Milliseconds.seconds(2)
    /// How long a resume waits until its partition is loaded.
    ///
    /// It is longer than `joinTimeout`, because a resume is refused without the partition, and its client must then
    /// load a snapshot.
    private static let resumeTimeout = Milliseconds.seconds(6)
    /// How long after its call a resume may still wait for its partition, even if presence was slow to grant it.
    ///
    /// A replay takes at most `ReplayLimits.resumeTimeout` (3 s) more. So the reply is sent before the 15 s after which
    /// clients give up a call.
    private static let resumeDeadline = Milliseconds.seconds(11)

    init(_ shard: Shard) { self.shard = shard }

    /// Returns whether a granted join of the live is pending.
    func hasPendingJoin(_ key: LiveKey) -> Bool { self.pending.contains { $0.key == key } }

    /// Completes a join or resume that presence has granted, now or when the live's partition is loaded.
    ///
    /// `startedAt` is when the call of a resume began; nil for a join.
    func joinGranted(
        _ client: Client, call: Int64, _ key: LiveKey, epoch: Int64, _ outcome: Outcome, resume: ResumePoint? = nil,
        startedAt: MonotonicTime? = nil
    ) {
        if let live = client.live {
            // The client joined the same live again: only the client's ticket is new, and `core` has already stored it.
            if live.key == key { return self.shard.send(.reply(id: call, outcome), to: client) }
            self.shard.lives.remove(client, from: live)
        }
        var deadline = self.shard.now + (resume == nil ? Self.joinTimeout : Self.resumeTimeout)
        if let startedAt { deadline = min(deadline, startedAt + Self.resumeDeadline) }
        let join = PendingJoin(
            client: client, call: call, key: key, epoch: epoch, deadline: deadline, outcome: outcome, resume: resume)
        if self.shard.lives.subscribe(key) { self.complete(join) } else { self.pending.append(join) }
    }

    /// Cancels a client's pending joins.
    ///
    /// - Returns: The cancelled joins.
    @discardableResult func cancel(_ client: Client) -> [PendingJoin] {
        if self.pending.isEmpty { return [] }
        let cancelled = self.pending.filter { $0.client === client }
        self.pending.removeAll { $0.client === client }
        for join in cancelled { self.shard.lives.unsubscribeIfUnused(join.key) }
        return cancelled
    }

    /// Completes the pending joins of a partition that was read up to its end.
    func partitionLoaded(_ partition: Int) {
        let feeds = self.shard.gateway.feeds
        let joins = self.pending.filter { feeds.partition(of: $0.key) == partition }
        if joins.isEmpty { return }
        self.pending.removeAll { feeds.partition(of: $0.key) == partition }
        for join in joins { self.complete(join) }
    }

    /// Completes the joins and resumes whose partition was not loaded in time.
    ///
    /// The feed of a client that joined then begins with the next item that is received; a resume is refused.
    func sweep(at now: MonotonicTime) {
        guard self.pending.contains(where: { $0.deadline <= now }) else { return }
        let due = self.pending.filter { $0.deadline <= now }
        self.pending.removeAll { $0.deadline <= now }
        for join in due { self.complete(join) }
    }

    /// Returns the outcome of a join or resume whose client has become a viewer by another join meanwhile.
    ///
    /// The other join did not send the items that a resume has missed, so the outcome of a resume is that they are not
    /// replayed.
    private func outcome(ofLate join: PendingJoin) -> Outcome {
        guard join.resume != nil, case .success(.resumed(ticket: let ticket, position: _, replayed: _)) = join.outcome
        else { return join.outcome }
        self.shard.gateway.metrics.replayRefused(.late)
        let position = FeedPosition(epoch: join.epoch, number: join.client.caughtUpTo)
        return .success(result: .resumed(ticket: ticket, position: position, replayed: false))
    }

    /// Makes the client a viewer, and sends it the state that precedes the live's next items.
    private func complete(_ join: PendingJoin) {
        let client = join.client
        guard !client.isDetached, client.core.live == join.key.live else {
            return self.shard.lives.unsubscribeIfUnused(join.key)
        }
        let live = self.shard.lives.findOrAdd(join.key)
        // The client sent a second join while the first was pending, and is a viewer already.
        if client.live === live {
            return self.shard.send(.reply(id: join.call, self.outcome(ofLate: join)), to: client)
        }
        live.epoch = max(live.epoch, join.epoch)
        self.shard.lives.add(client, to: live)
        if let point = join.resume {
            self.shard.replay.resume(point, join, live)
        } else {
            self.shard.replay.sendInitialState(join, live)
        }
        self.shard.delivery.sendCurrentCount(to: client, live)
    }
}

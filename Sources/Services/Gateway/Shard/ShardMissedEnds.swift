// SPDX-License-Identifier: Apache-2.0
internal import EventLoop
internal import GatewayCore
internal import MachineKit
internal import Observability
internal import PlazaModel
internal import PlazaWire
internal import WebSocket

/// A resume into a live that has ended; presence, the machine that knows who is in a live, has rejected it.
struct EndedResume {
    var client: Client
    /// The number of the login call, which resumes, in its session.
    var call: Int64
    var key: LiveKey
    /// The position from which the client resumes.
    var point: ResumePoint
    /// The reply if the live's end cannot be found.
    var rejection: Outcome
}

/// Sends clients the end of a live that ended while they were disconnected (docs/RULES.md: I1, R15.15).
///
/// The feed cache contains the live's last item, `liveEnded`, for a minute. Presence no longer knows who was banned
/// from the live, so a client gets only this item and none of the earlier ones. After the minute, a client gets the
/// rejection, which names the reason of the end as long as the live's record exists (R15.19).
final class ShardMissedEnds {
    private unowned let shard: Shard
    private let gateway: Gateway
    private var pending: [(resume: EndedResume, deadline: MonotonicTime)] = []

    init(_ shard: Shard) {
        self.shard = shard
        self.gateway = shard.gateway
    }

    /// Returns whether a client waits for the end of the live.
    func isEndAwaited(_ key: LiveKey) -> Bool { self.pending.contains { $0.resume.key == key } }

    /// Handles a resume into a live that presence does not know.
    ///
    /// Presence processes a live's end before the fan-out (the machine that writes the feeds) writes the last item, and
    /// this gateway may not have read that item yet. So the client waits for the item, as long as for a replay.
    func resumeRejected(_ resume: EndedResume) {
        // Epoch 0 means that the client does not know its position, so the epoch of its live is unknown too.
        let epoch = resume.point.position.epoch
        guard self.pending.count < ReplayLimits.maxQueuedRequests,
            let live = self.gateway.tables.read({ $0.live(resume.key) }),
            epoch == 0 || epoch == live.epoch
        else { return self.shard.send(.reply(id: resume.call, resume.rejection), to: resume.client) }
        self.pending.append((resume, self.shard.now + ReplayLimits.resumeTimeout))
        // The subscription makes this gateway read the partition. The partition need not be loaded yet, because the
        // sweeps look for the end in the cache.
        _ = self.shard.lives.subscribe(resume.key)
        self.sweep(at: self.shard.now)
    }

    /// Sends the ends that have been read, and rejects the resumes whose deadline has passed.
    func sweep(at now: MonotonicTime) {
        if self.pending.isEmpty { return }
        var waiting: [(resume: EndedResume, deadline: MonotonicTime)] = []
        // The lives for which a client no longer waits.
        var finishedLives: Set<LiveKey> = []
        for (resume, deadline) in self.pending {
            if resume.client.isDetached || self.finishIfEndRead(resume) {
                finishedLives.insert(resume.key)
            } else if deadline <= now {
                self.reject(resume)
                finishedLives.insert(resume.key)
            } else {
                waiting.append((resume, deadline))
            }
        }
        self.pending = waiting
        for key in finishedLives.sorted() { self.shard.lives.unsubscribeIfUnused(key) }
    }

    /// Replies, and sends the live's end unless the client has received it already.
    ///
    /// - Returns: False if the end has not been read yet; nothing was sent then.
    private func finishIfEndRead(_ resume: EndedResume) -> Bool {
        let key = resume.key
        guard let live = self.gateway.tables.read({ $0.live(key) }),
            let latest = self.gateway.feeds.latestToken(key)?.position, latest.epoch == live.epoch,
            case .complete(let items) = self.gateway.feeds.items(
                of: key, after: FeedPosition(epoch: latest.epoch, number: latest.number - 1)),
            let end = items.last, end.isEnd
        else { return false }
        let clientPosition = resume.point.position
        guard clientPosition.epoch == 0 || clientPosition.number < end.number else {
            // The client has received the end already, and must get it only once.
            self.reject(resume)
            return true
        }
        let position = FeedPosition(epoch: latest.epoch, number: end.number - 1)
        // With `replayed` true, the client knows that it has missed only the end.
        let result = CallResult.resumed(
            ticket: resume.point.ticket, position: position, replayed: clientPosition == position)
        self.shard.send(.reply(id: resume.call, .success(result: result)), to: resume.client)
        resume.client.socket.send(FeedFrameEncoder(live: key.live).frame(items.suffix(1), epoch: latest.epoch))
        return true
    }

    /// Replies with the rejection, and with the reason of the live's end if it is known.
    private func reject(_ resume: EndedResume) {
        var rejection = resume.rejection
        if let reason = self.gateway.tables.read({ $0.live(resume.key)?.ended }) {
            let message = "the live has ended: \(reason.rawValue)"
            rejection = .failure(error: ReplyError(.noSuchRoomOnEntry, message, reason: reason.rawValue))
        }
        self.shard.send(.reply(id: resume.call, rejection), to: resume.client)
    }
}

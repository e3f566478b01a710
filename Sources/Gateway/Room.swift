// SPDX-License-Identifier: Apache-2.0
internal import CoreKit
internal import EventLoop
internal import GatewayCore
internal import PlazaModel

/// A live that a shard has viewers of; touched on its loop's thread only.
final class Room {
    let key: LiveKey
    let frames: FeedFrame
    var epoch: Int64 = 0
    /// The last number that has come to this shard.
    var last: Int64 = 0
    /// Items that wait for the next flush.
    var pending: [FeedPiece] = []
    var plan = FlushPlan()
    /// When `pending` goes out, if it waits.
    var dueAt: Timestamp?
    /// Whether it stands in the shard's list of rooms to flush at the end of this turn.
    var isScheduled = false
    var viewers: [Client] = []
    var walk: BeatWalk
    /// Closed sockets that presence has yet to be told of.
    var departed: [Departed] = []
    /// The newest count, if it has not gone out.
    var count: LiveCount?
    var countSentAt = Timestamp.distantPast
    /// Where it stands in the shard's list.
    var index = 0

    /// A member whose socket has closed.
    struct Departed {
        var session: SessionID
        var user: UserID
        var ticket: Ticket
        /// When it was last heard of, in the loop's time.
        var lastSign: UInt64
    }

    init(_ key: LiveKey) {
        self.key = key
        self.frames = FeedFrame(live: key.live)
        self.walk = BeatWalk(seed: key.hashValue)
    }

    /// Takes a viewer in.
    func add(_ client: Client) {
        client.room = self
        client.indexInRoom = self.viewers.count
        self.viewers.append(client)
    }

    /// Takes a viewer out.
    func remove(_ client: Client) {
        guard client.room === self else { return }
        client.room = nil
        let last = self.viewers.count - 1
        for (from, to) in self.walk.removed(at: client.indexInRoom, last: last) {
            self.viewers[to] = self.viewers[from]
            self.viewers[to].indexInRoom = to
        }
        self.viewers.removeLast()
    }
}

// SPDX-License-Identifier: Apache-2.0
internal import GatewayCore
internal import MachineKit
internal import Observability
internal import PlazaModel
internal import PlazaWire

/// Reports the members of a shard's lives to presence, the machine that knows who is in a live.
///
/// Heartbeats are sent in small steps. After presence has lost the state of a partition, the members of the partition's
/// lives are asserted, that is, all reported again.
final class ShardHeartbeats {
    private unowned let shard: Shard
    /// The number of the last step, counted over all rounds.
    private var step = 0
    /// The lives whose members must be asserted, each with the number of members that are not asserted yet.
    private var assertions: [(live: ShardLive, remainingMembers: Int)] = []

    /// The largest number of records that one call of `continueAsserting` writes.
    private static let maxAssertionRecords = 20

    init(_ shard: Shard) { self.shard = shard }

    /// Performs one step of the heartbeat round: reports a part of each live's members.
    func sendNextStep() {
        self.step += 1
        let now = self.shard.now
        let lives = self.shard.lives
        // `removeUnused` moves the last live to the index of the removed live. A loop in forward order would skip the
        // moved live.
        for index in lives.all.indices.reversed() {
            let live = lives.all[index]
            self.send(live.takeHeartbeats(step: self.step, at: now), of: live)
            if live.viewers.isEmpty { lives.removeUnused(live) }
        }
    }

    /// Writes heartbeats in records of limited size.
    private func send(_ heartbeats: [Heartbeat], of live: ShardLive) {
        var start = 0
        while start < heartbeats.count {
            let end = min(heartbeats.count, start + HeartbeatPlan.maxMembersPerRecord)
            let input = AudienceInput(live.key, .heartbeats(beats: Array(heartbeats[start..<end])))
            // A record that the record sink (which queues records for the broker) rejects is not written again: further
            // heartbeats follow long before the members' leases expire.
            if (try? self.shard.write(TopicRecord(.audience(input)), token: RecordToken.unreported)) != nil {
                self.shard.gateway.metrics.heartbeats.add(end - start)
            }
            start = end
        }
    }

    /// Begins to assert the members of a partition's lives, after presence has lost the partition's state.
    ///
    /// An assertion of the same partition that has not ended yet begins again.
    func beginAsserting(_ partition: Int) {
        let partitions = self.shard.gateway.settings.partitions
        self.assertions.removeAll { PlazaTopic.partition(of: $0.live.key.text, among: partitions) == partition }
        for live in self.shard.lives.all
        where !live.viewers.isEmpty && PlazaTopic.partition(of: live.key.text, among: partitions) == partition {
            self.assertions.append((live, live.viewers.count))
        }
        self.continueAsserting()
    }

    /// Asserts the next members.
    ///
    /// There may be very many members, so each call writes a limited number of records; the shard's sweep calls again.
    /// The members are asserted from the end of the live's array to its beginning. If a viewer leaves between two
    /// calls, other viewers move only to lower indices, so no viewer is skipped.
    func continueAsserting() {
        var remainingRecords = Self.maxAssertionRecords
        let now = self.shard.now
        while remainingRecords > 0, let (live, remaining) = self.assertions.first {
            let end = min(live.viewers.count, remaining)
            let start = max(0, end - HeartbeatPlan.maxMembersPerRecord)
            if start < end {
                let members = live.viewers[start..<end].compactMap { client -> MemberSession? in
                    guard let ticket = client.core.ticket else { return nil }
                    return MemberSession(
                        session: client.session, user: client.user, ticket: ticket,
                        silentFor: max(0, (now - client.lastReceived).count))
                }
                let input = AudienceInput(live.key, .assert(members: members))
                do throws(SinkRejection) {
                    try self.shard.write(TopicRecord(.audience(input)), token: RecordToken.unreported)
                } catch {
                    // The sink rejected the record; the next call of this method writes it again.
                    return
                }
            }
            remainingRecords -= 1
            if start == 0 {
                self.assertions.removeFirst()
            } else {
                self.assertions[0].remainingMembers = start
            }
        }
    }
}

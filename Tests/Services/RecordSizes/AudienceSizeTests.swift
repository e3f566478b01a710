// SPDX-License-Identifier: Apache-2.0
import AudienceCore
import MachineKit
import MachineTestSupport
import PlazaModel
import PlazaWire
import Testing

/// The largest rows of presence, and the records about many members.
///
/// `minKilobytes` has a minimum for each kind: a smaller row or record would show that the state is not the largest.
@Suite struct AudienceSizeTests {
    /// Rules: R17.6.
    @Test func `I16 every row of presence is smaller than half of the broker's largest record`() throws {
        var bans = Bans()
        // One ban more than the limit, so that the list removes one.
        for index in 0...SanctionLimits.perLive { bans.set(Largest.user(index), until: Largest.now) }
        var live = LiveRow(
            epoch: Largest.offset, owner: Largest.user(0), openingOffset: Largest.offset, publishedAt: Largest.now)
        live.admins = Largest.info.admins
        // This list has at most 1000 users.
        live.kickedWhileStale = (0..<1000).map { Largest.user($0) }
        // 40 entries of 19 digits each, of which the row keeps the last 32.
        live.recentLeaves = try Wire.decode(
            RecentLeaves.self, from: Wire.encode([Int64](repeating: .max, count: 40)))
        let moment = Moment(now: Largest.now, offset: Largest.offset, standstill: Milliseconds(Largest.offset))
        var window = CallWindow(at: moment)
        // More outcomes than a window remembers.
        for counter in 0..<20 {
            let error = ReplyError(.banned, Largest.quotationMarks(bytes: 200), retryAfter: Largest.offset)
            window.record(
                .answered(outcome: .failure(error: error), required: nil), of: Largest.offset + Int64(counter),
                at: moment)
        }
        var sizes = LargestSizes()
        let rows: [(AudienceKey, AudienceRow)] = [
            (.bans(Largest.key), .bans(row: bans)), (.live(Largest.key), .live(row: live)),
            (.fence(Largest.key), .fence(row: Largest.fence)),
            (.calls(Largest.key, Largest.user(0), Largest.session(0)), .calls(row: window)),
        ]
        // A kind is named by the first five characters of its keys: `bans/`, `live/`, `floor` or `calls`.
        for (key, row) in rows {
            sizes.note("row \(key.text.prefix(5))", bytes: key.text.utf8.count + Wire.encode(row).count)
        }
        sizes.expectBounded(minKilobytes: ["row bans/": 60, "row live/": 30, "row floor": 60, "row calls": 5])
    }

    /// Rules: R17.6.
    @Test func `I16 records about many members are smaller than half of the broker's largest record`() {
        var sizes = LargestSizes()
        // A gateway sends at most 500 members in one record.
        let profiles = (0..<500).map { Largest.profile($0) }
        let members = profiles.map {
            MemberSession(
                session: Largest.session(0), user: $0, ticket: Ticket(Largest.offset), silentFor: Largest.offset)
        }
        sizes.note(.audience(AudienceInput(Largest.key, .assert(members: members))))
        let heartbeats = members.map {
            Heartbeat(session: $0.session, user: $0.user.userID, ticket: $0.ticket, silentFor: $0.silentFor)
        }
        sizes.note(.audience(AudienceInput(Largest.key, .heartbeats(beats: heartbeats))))
        let page = AudiencePage(
            members: profiles.prefix(Limits.audiencePage).map { AudienceMember(user: $0, joinedAt: Largest.now) },
            cursor: "\(Largest.offset)", count: 100_000_000)
        sizes.note(.success(.audience(page: page), to: Largest.caller(0, counter: 1), app: Largest.app))
        let event = WebhookContent.memberState(isOnline: true, cause: .enter, users: Array(profiles.prefix(200)))
        sizes.note(.webhook(WebhookEvent(Largest.key, at: Largest.now, event)))
        sizes.expectBounded(minKilobytes: ["audience.inbox": 200, "replies": 80, "webhooks": 60])
    }
}

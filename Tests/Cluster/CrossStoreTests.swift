// SPDX-License-Identifier: Apache-2.0
import Foundation
import LoadKit
import PlazaModel
import ProtocolClient
import Testing

/// Tests with real processes: a user's call to one service changes the state of another service.
///
/// Stage events are compared by their `shortText`, such as `seat left 3` for a user who left seat 3.
@Suite(.serialized, .sharedCluster, .timeLimit(.minutes(3))) struct CrossStoreTests {
    /// How a user ceases to be in a live.
    enum Departure: String, CaseIterable, Sendable {
        case leaves
        case isKicked
        /// The user's client stops without a call `live.leave`, so the user's lease expires.
        case fallsSilent
    }

    /// Rules: R18.1.
    @Test(arguments: Departure.allCases)
    func
        `I4 I6 I13 a user who leaves loses its seat and its place in list and count, and its requests end with notices`(
            departure: Departure
        ) async throws
    {
        let hub = try ClientHub()
        defer { hub.stop() }
        let fixture = try await LiveFixture(hub)
        // The admin has a seat and has invited the watcher. The applicant has applied for a seat, and the host has
        // invited it too.
        let admin = try await fixture.join("admin")
        let applicant = try await fixture.join("applicant")
        try await fixture.seat(admin, on: 3)
        try await fixture.call(fixture.host, "admin.set", CallParams(user: fixture.id(of: admin)))
        _ = try await admin.wait("that it is an admin") {
            $0.trueIfReceived { if case .adminSet(fixture.id(of: admin), _) = $0 { true } else { false } }
        }
        try await fixture.call(admin, "seat.invite", CallParams(user: fixture.id(of: fixture.watcher), timeout: 120))
        try await fixture.call(applicant, "seat.apply", CallParams(timeout: 120))
        try await fixture.call(fixture.host, "seat.invite", CallParams(user: fixture.id(of: applicant), timeout: 120))
        try await fixture.watcher.waitForNotice("the admin's invitation") {
            if case .invitationReceived = $0 { true } else { false }
        }
        // Both the admin and the applicant leave.
        for client in [admin, applicant] {
            switch departure {
            case .leaves: try await fixture.call(client, "live.leave")
            case .isKicked:
                try await fixture.call(fixture.host, "audience.kick", CallParams(user: fixture.id(of: client)))
                try await client.waitForNotice("that it was kicked") {
                    if case .kickedOut(.byAdmin, _) = $0 { true } else { false }
                }
            case .fallsSilent: client.client.stop()
            }
        }
        // A silent user has left only when its lease of 6 s expires, so each wait may last 20 s.
        try await fixture.watcher.waitForStage("the seat is free", within: 20) { record, events in
            record.seats[3].occupant == nil && events.map(\.shortText) == ["seat left 3"]
        }
        try await fixture.watcher.waitForNotice("that the admin's invitation is void", within: 20) {
            if case .invitationCancelled(let host) = $0 { host.userID == fixture.id(of: admin) } else { false }
        }
        try await fixture.host.waitForNotice("that the application is void", within: 20) {
            if case .applicationCancelled(let guest) = $0 { guest.userID == fixture.id(of: applicant) } else { false }
        }
        try await fixture.host.waitForNotice("that the applicant did not accept the invitation", within: 20) {
            if case .invitationAnswered(let guest, false) = $0 {
                guest.userID == fixture.id(of: applicant)
            } else {
                false
            }
        }
        _ = try await fixture.watcher.wait("that admin and applicant left", within: 20) { client in
            let haveLeft = Set(client.leftUsers) == [fixture.id(of: admin), fixture.id(of: applicant)]
            // Only the watcher remains, because the owner is not counted.
            return haveLeft && client.audienceCount == 1 ? true : nil
        }
        #expect(fixture.watcher.leftUsers.count == 2, "each leave must be reported once")
        guard case .audience(let page) = try await fixture.call(fixture.host, "audience.list"),
            case .seatRequests(let applications, let invitations, _) = try await fixture.call(
                fixture.host, "seat.requests")
        else { throw ScenarioFailure("a list has an unexpected form") }
        #expect(page.members.map(\.user.userID) == [fixture.id(of: fixture.watcher)])
        #expect(page.count == 1)
        #expect(applications.isEmpty && invitations.isEmpty)
    }

    /// Rules: R7.7.
    @Test func `I11 locking a seat removes and notifies its occupant, then locks the seat`() async throws {
        let hub = try ClientHub()
        defer { hub.stop() }
        let fixture = try await LiveFixture(hub)
        let guest = try await fixture.join("guest")
        try await fixture.seat(guest, on: 2)
        try await fixture.call(fixture.host, "seat.lock", CallParams(seatIndex: 2, locked: true))
        try await guest.waitForNotice("that it was removed from its seat") {
            if case .kickedOffSeat(2, let host) = $0 { host.userID == fixture.id(of: fixture.host) } else { false }
        }
        let stage = try await fixture.watcher.waitForStage("the seat left, then locked, in one revision") { _, events in
            events.map(\.shortText) == ["seat left 2", "seat locked 2"]
        }
        #expect(stage.seats[2].isLocked && stage.seats[2].occupant == nil)
        let rejection = try await fixture.rejectionCode(guest, "seat.take", CallParams(seatIndex: 2))
        #expect(rejection == .seatLocked)
    }

    /// Rules: R6.20.
    @Test func `after an admin lost its rights, its invitation stays valid, but its calls for admins are rejected`()
        async throws
    {
        let hub = try ClientHub()
        defer { hub.stop() }
        let fixture = try await LiveFixture(hub)
        let admin = try await fixture.join("admin")
        let guest = try await fixture.join("guest")
        try await fixture.call(fixture.host, "admin.set", CallParams(user: fixture.id(of: admin)))
        _ = try await fixture.watcher.wait("that the admin has its rights") {
            $0.trueIfReceived { if case .adminSet(fixture.id(of: admin), _) = $0 { true } else { false } }
        }
        try await fixture.call(
            admin, "seat.invite", CallParams(user: fixture.id(of: guest), seatIndex: 4, timeout: 120))
        try await guest.waitForNotice("the admin's invitation") {
            if case .invitationReceived = $0 { true } else { false }
        }
        try await fixture.call(fixture.host, "admin.revoke", CallParams(user: fixture.id(of: admin)))
        _ = try await fixture.watcher.wait("that the admin has lost its rights") {
            $0.trueIfReceived { if case .adminRevoked(fixture.id(of: admin), _) = $0 { true } else { false } }
        }
        let kick = try await fixture.rejectionCode(admin, "audience.kick", CallParams(user: fixture.id(of: guest)))
        let lock = try await fixture.rejectionCode(admin, "seat.lock", CallParams(seatIndex: 5))
        #expect([kick, lock] == [.needsOwnerOrAdmin, .noPermission])
        try await fixture.call(guest, "seat.acceptInvitation", CallParams(user: fixture.id(of: admin)))
        try await fixture.watcher.waitForStage("the guest on the seat that the admin offered") { record, _ in
            record.seats[4].occupant?.user.userID == fixture.id(of: guest)
        }
    }

    /// Rules: R5.6.
    @Test func `while messages are disabled, the audience's messages are rejected, but not those of owner and admins`()
        async throws
    {
        let hub = try ClientHub()
        defer { hub.stop() }
        let fixture = try await LiveFixture(hub)
        let admin = try await fixture.join("admin")
        try await fixture.call(fixture.host, "admin.set", CallParams(user: fixture.id(of: admin)))
        try await fixture.call(fixture.watcher, "barrage.sendText", CallParams(text: "before"))
        try await fixture.call(fixture.host, "live.update", CallParams(isMessageDisable: true))
        _ = try await fixture.watcher.wait("that messages are disabled") {
            $0.trueIfReceived { if case .infoChanged(let info, _) = $0 { info.isMessageDisable } else { false } }
        }
        let rejection = try await fixture.rejectionCode(fixture.watcher, "barrage.sendText", CallParams(text: "hello"))
        #expect(rejection == .roomMuted)
        try await fixture.call(fixture.host, "barrage.sendText", CallParams(text: "by the owner"))
        try await fixture.call(admin, "barrage.sendText", CallParams(text: "by the admin"))
        // A like is not a message, so the watcher may send it.
        try await fixture.call(fixture.watcher, "like.send")
        try await fixture.call(fixture.host, "live.update", CallParams(isMessageDisable: false))
        try await fixture.call(fixture.watcher, "barrage.sendText", CallParams(text: "after"))
        let texts = try await fixture.watcher.wait("all messages") { client -> [String]? in
            let texts = client.items.compactMap { if case .text(_, let text, _) = $0 { text } else { nil } }
            return texts.last == "after" ? texts : nil
        }
        #expect(texts == ["before", "by the owner", "by the admin", "after"])
    }

    /// Rules: R18.10.
    @Test func `a login on another device removes the user from live and seat, and disconnects the first device`()
        async throws
    {
        let hub = try ClientHub()
        defer { hub.stop() }
        let fixture = try await LiveFixture(hub)
        // The demo app of the shared cluster allows one device. The guest is on a seat with its phone, then logs in on
        // its tablet.
        let phone = try await fixture.join("guest")
        try await fixture.seat(phone, on: 1)
        let options = BareClientCore.Options(token: fixture.harness.token("\(fixture.live)-guest"), session: "tablet")
        let tablet = RecordingClient("guest", hub.client(addresses: fixture.harness.addresses, options: options))
        let code = try await phone.wait("the end of its connection") { $0.endCode }
        #expect(code == DisconnectCode.kickedOffline.code)
        // The seat becomes free at once (within 4 s), not when the lease of 6 s expires.
        try await fixture.watcher.waitForStage("the seat is free", within: 4) { record, _ in
            record.seats[1].occupant == nil
        }
        _ = try await fixture.watcher.wait("that the guest left", within: 4) { client in
            client.leftUsers == [fixture.id(of: phone)] && client.audienceCount == 1 ? true : nil
        }
        try await fixture.call(tablet, "live.join")
        // The audience is the watcher and the guest.
        _ = try await fixture.watcher.wait("that the guest is back") { $0.audienceCount == 2 ? true : nil }
    }

    /// Rules: R2.23.
    @Test func `a session ends when its token expires, and its user's seat becomes free`() async throws {
        let hub = try ClientHub()
        defer { hub.stop() }
        let fixture = try await LiveFixture(hub)
        // The guest's token is valid for 6 s. The client's pings renew the guest's lease, so the session can end only
        // because the token expires.
        var options = BareClientCore.Options(
            token: fixture.harness.token("\(fixture.live)-guest", validFor: SharedCluster.lease), session: "short")
        options.pingInterval = .seconds(1)
        let guest = RecordingClient("guest", hub.client(addresses: fixture.harness.addresses, options: options))
        try await fixture.call(guest, "live.join")
        try await fixture.seat(guest, on: 1)
        let code = try await guest.wait("the end of its connection", within: 15) { $0.endCode }
        #expect(code == DisconnectCode.tokenExpired.code)
        // The seat becomes free at once, not when the guest's lease expires.
        try await fixture.watcher.waitForStage("the seat is free", within: 4) { record, events in
            record.seats[1].occupant == nil && events.map(\.shortText) == ["seat left 1"]
        }
        _ = try await fixture.watcher.wait("that the guest left", within: 4) {
            $0.leftUsers == [fixture.id(of: guest)] ? true : nil
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
import ClusterKit
import Foundation
import LivePlazaKit
import LoadKit
import PlazaModel
import TestSupport
import Testing
import Tokens

/// What follows from one store's change in another's state (reference 19), over real processes: people.
@Suite(.serialized, .sharedCluster, .timeLimit(.minutes(3))) struct CrossStoreTests {
    /// How a user goes.
    enum Departure: String, CaseIterable, Sendable {
        case leaves
        case isKicked
        case fallsSilent
    }

    @Test(arguments: Departure.allCases)
    func `I4 I6 I13 who goes frees its seat, its requests end with a word to the other side, list and count follow`(
        departure: Departure
    ) async throws {
        let hub = try ClientHub()
        defer { hub.stop() }
        let scene = try await Scene(hub)
        // An admin on a seat who has invited the watcher, and one who has applied and is invited.
        let sitter = try await scene.enter("sitter")
        let asker = try await scene.enter("asker")
        try await scene.seat(sitter, on: 3)
        try await scene.call(scene.host, "admin.set", SceneParams(user: scene.user(sitter)))
        _ = try await sitter.wait("that it is an admin") {
            $0.items.contains(.adminSet(user: scene.user(sitter))) ? true : nil
        }
        try await scene.call(sitter, "seat.invite", SceneParams(user: scene.user(scene.watcher), timeout: 120))
        try await scene.call(asker, "seat.apply", SceneParams(timeout: 120))
        try await scene.call(scene.host, "seat.invite", SceneParams(user: scene.user(asker), timeout: 120))
        try await scene.watcher.notice("the admin's invitation") {
            if case .invitationReceived = $0 { true } else { false }
        }
        for person in [sitter, asker] {
            switch departure {
            case .leaves: try await scene.call(person, "live.leave")
            case .isKicked:
                try await scene.call(scene.host, "audience.kick", SceneParams(user: scene.user(person)))
                try await person.notice("that it was put out") {
                    if case .kickedOut(.byAdmin, _) = $0 { true } else { false }
                }
            case .fallsSilent: person.client.stop()
            }
        }
        try await scene.watcher.stage("the seat is free", within: 20) { record, events in
            record.seats[3].occupant == nil && events.map(\.short) == ["left 3"]
        }
        try await scene.watcher.notice("that the admin's invitation is void", within: 20) {
            if case .invitationCancelled(let host) = $0 { host.userID == scene.user(sitter) } else { false }
        }
        try await scene.host.notice("that the application is void", within: 20) {
            if case .applicationCancelled(let guest) = $0 { guest.userID == scene.user(asker) } else { false }
        }
        try await scene.host.notice("that the invitation found no answer", within: 20) {
            if case .invitationAnswered(let guest, false) = $0 { guest.userID == scene.user(asker) } else { false }
        }
        _ = try await scene.watcher.wait("that both left", within: 20) { witness in
            Set(witness.left) == [scene.user(sitter), scene.user(asker)] && witness.count == 1 ? true : nil
        }
        #expect(scene.watcher.left.count == 2, "told once each")
        guard case .audience(let page) = try await scene.call(scene.host, "audience.list"),
            case .seatRequests(let applications, let invitations) = try await scene.call(scene.host, "seat.requests")
        else { throw EveningFailure("no list") }
        #expect(page.members.map(\.user.userID) == [scene.user(scene.watcher)])
        #expect(page.count == 1)
        #expect(applications.isEmpty && invitations.isEmpty)
    }

    @Test func `I11 locking a seat puts its occupant off, tells it, and then the seat is locked`() async throws {
        let hub = try ClientHub()
        defer { hub.stop() }
        let scene = try await Scene(hub)
        let guest = try await scene.enter("guest")
        try await scene.seat(guest, on: 2)
        try await scene.call(scene.host, "seat.lock", SceneParams(seatIndex: 2, locked: true))
        try await guest.notice("that it was put off its seat") {
            if case .kickedOffSeat(2, let host) = $0 { host.userID == scene.user(scene.host) } else { false }
        }
        let stage = try await scene.watcher.stage("the seat left, then locked, in one revision") { _, events in
            events.map(\.short) == ["left 2", "locked 2"]
        }
        #expect(stage.seats[2].isLocked && stage.seats[2].occupant == nil)
        let refusal = try await scene.refusal(guest, "seat.take", SceneParams(seatIndex: 2))
        #expect(refusal == .seatLocked)
    }

    @Test func `a revoked admin's invitation stays valid, and its further calls are refused`() async throws {
        let hub = try ClientHub()
        defer { hub.stop() }
        let scene = try await Scene(hub)
        let admin = try await scene.enter("admin")
        let guest = try await scene.enter("guest")
        try await scene.call(scene.host, "admin.set", SceneParams(user: scene.user(admin)))
        _ = try await scene.watcher.wait("the admin") {
            $0.items.contains(.adminSet(user: scene.user(admin))) ? true : nil
        }
        try await scene.call(
            admin, "seat.invite", SceneParams(user: scene.user(guest), seatIndex: 4, timeout: 120))
        try await guest.notice("the admin's invitation") { if case .invitationReceived = $0 { true } else { false } }
        try await scene.call(scene.host, "admin.revoke", SceneParams(user: scene.user(admin)))
        _ = try await scene.watcher.wait("the end of its office") {
            $0.items.contains(.adminRevoked(user: scene.user(admin))) ? true : nil
        }
        let kick = try await scene.refusal(admin, "audience.kick", SceneParams(user: scene.user(guest)))
        let lock = try await scene.refusal(admin, "seat.lock", SceneParams(seatIndex: 5))
        #expect([kick, lock] == [.needsOwnerOrAdmin, .noPermission])
        try await scene.call(guest, "seat.acceptInvitation", SceneParams(user: scene.user(admin)))
        try await scene.watcher.stage("the guest on the seat that the admin offered") { record, _ in
            record.seats[4].occupant?.user.userID == scene.user(guest)
        }
    }

    @Test func `a muted room silences the audience, and neither owner nor admins`() async throws {
        let hub = try ClientHub()
        defer { hub.stop() }
        let scene = try await Scene(hub)
        let admin = try await scene.enter("admin")
        try await scene.call(scene.host, "admin.set", SceneParams(user: scene.user(admin)))
        try await scene.call(scene.watcher, "barrage.sendText", SceneParams(text: "before"))
        try await scene.call(scene.host, "live.update", SceneParams(isMessageDisable: true))
        _ = try await scene.watcher.wait("the muted room") { witness in
            witness.items.contains { if case .infoChanged(let info) = $0 { info.isMessageDisable } else { false } }
                ? true : nil
        }
        let refusal = try await scene.refusal(scene.watcher, "barrage.sendText", SceneParams(text: "hello"))
        #expect(refusal == .roomMuted)
        try await scene.call(scene.host, "barrage.sendText", SceneParams(text: "by the owner"))
        try await scene.call(admin, "barrage.sendText", SceneParams(text: "by the admin"))
        try await scene.call(scene.watcher, "like.send")
        try await scene.call(scene.host, "live.update", SceneParams(isMessageDisable: false))
        try await scene.call(scene.watcher, "barrage.sendText", SceneParams(text: "after"))
        let texts = try await scene.watcher.wait("all that was said") { witness -> [String]? in
            let texts = witness.items.compactMap { if case .text(_, let text, _) = $0 { text } else { nil } }
            return texts.last == "after" ? texts : nil
        }
        #expect(texts == ["before", "by the owner", "by the admin", "after"])
    }

    @Test func `who signs in on another device is out of the live, off its seat, and told on the first`() async throws {
        let hub = try ClientHub()
        defer { hub.stop() }
        let scene = try await Scene(hub)
        let phone = try await scene.enter("guest")
        try await scene.seat(phone, on: 1)
        let options = ClientCore.Options(token: scene.harness.token("\(scene.live)-guest"), session: "tablet")
        let tablet = Witness("guest", hub.client(addresses: scene.harness.addresses, options: options))
        let code = try await phone.wait("the end of its connection") { $0.endCode }
        #expect(code == DisconnectCode.kickedOffline.code)
        try await scene.watcher.stage("the seat is free", within: 4) { record, _ in record.seats[1].occupant == nil }
        _ = try await scene.watcher.wait("that the guest left", within: 4) { witness in
            witness.left == [scene.user(phone)] && witness.count == 1 ? true : nil
        }
        try await scene.call(tablet, "live.join")
        _ = try await scene.watcher.wait("that the guest is back") { $0.count == 2 ? true : nil }
    }

    @Test func `who signs in ends its stay when its token does, and its seat is free`() async throws {
        let hub = try ClientHub()
        defer { hub.stop() }
        let scene = try await Scene(hub)
        let seconds = Int64(SharedCluster.leaseSeconds)
        var options = ClientCore.Options(
            token: scene.harness.token("\(scene.live)-guest", seconds: seconds), session: "short")
        options.pingMilliseconds = 1000
        let guest = Witness("guest", hub.client(addresses: scene.harness.addresses, options: options))
        try await scene.call(guest, "live.join")
        try await scene.seat(guest, on: 1)
        let code = try await guest.wait("the end of its connection", within: 15) { $0.endCode }
        #expect(code == DisconnectCode.tokenExpired.code)
        // At once, and not when its lease ends.
        try await scene.watcher.stage("the seat is free", within: 4) { record, events in
            record.seats[1].occupant == nil && events.map(\.short) == ["left 1"]
        }
        _ = try await scene.watcher.wait("that the guest left", within: 4) {
            $0.left == [scene.user(guest)] ? true : nil
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
import Foundation
import LivePlazaCombine
import LivePlazaKit
import LivePlazaTransport
import ProtocolClient
import TestSupport

/// A user of an app on the stores of LivePlazaKit, with what its subscriptions have received.
final class StoreUser: @unchecked Sendable {
    let id: String
    let plaza: LivePlaza
    private let lock = NSLock()
    private var received: [String] = []
    private var subscriptions: Set<AnyCancellable> = []

    init(_ id: String, _ harness: ClusterHarness, over transport: LoopTransport) {
        self.id = id
        self.plaza = LivePlaza(
            options: PlazaOptions(
                gateways: harness.addresses.map { "ws://\($0.host):\($0.port)/v1" }, transport: transport,
                deliveryQueue: DispatchQueue(label: id)))
        self.keep(self.plaza.liveListStore.liveListEventPublisher)
    }

    /// Connects and logs in.
    func login(_ harness: ClusterHarness) async throws {
        try await self.plaza.loginStore.login(sdkAppID: 1, userID: self.id, userSig: harness.token(self.id))
    }

    /// The stores of a live, whose events are kept from here on.
    func stores(of live: String) -> StoresOfLive {
        let stores = StoresOfLive(self.plaza, live)
        self.keep(stores.audience.liveAudienceEventPublisher)
        self.keep(stores.coGuest.hostEventPublisher)
        self.keep(stores.coGuest.guestEventPublisher)
        self.keep(stores.seat.liveSeatEventPublisher)
        self.keep(stores.coHost.coHostEventPublisher)
        self.keep(stores.battle.battleEventPublisher)
        self.keep(stores.gift.giftEventPublisher)
        self.keep(stores.like.likeEventPublisher)
        return stores
    }

    /// Waits until an event was received whose description begins so.
    func waitForEvent(_ name: String) async throws {
        do {
            try await waitUntil("\(self.id) receives \(name)") {
                self.lock.withLock { self.received.contains { $0.hasPrefix(name) } }
            }
        } catch let failure as StoreTestFailure {
            let received = self.lock.withLock { self.received.map { $0.prefix(80) } }
            let state = self.plaza.loginStore.state.value.connectionStatus
            throw StoreTestFailure("\(failure); it is \(state) and has received \(received)")
        }
    }

    private func keep<Event>(_ publisher: PassthroughSubject<Event, Never>) {
        let subscription = publisher.sink { [weak self] event in
            self?.lock.withLock { self?.received.append("\(event)") }
        }
        self.lock.withLock { _ = self.subscriptions.insert(subscription) }
    }
}

/// All stores of one live.
struct StoresOfLive: Sendable {
    let audience: LiveAudienceStore
    let barrage: BarrageStore
    let seat: LiveSeatStore
    let coGuest: CoGuestStore
    let coHost: CoHostStore
    let battle: BattleStore
    let gift: GiftStore
    let like: LikeStore
    let summary: LiveSummaryStore

    init(_ plaza: LivePlaza, _ live: String) {
        self.audience = plaza.audienceStore(liveID: live)
        self.barrage = plaza.barrageStore(liveID: live)
        self.seat = plaza.seatStore(liveID: live)
        self.coGuest = plaza.coGuestStore(liveID: live)
        self.coHost = plaza.coHostStore(liveID: live)
        self.battle = plaza.battleStore(liveID: live)
        self.gift = plaza.giftStore(liveID: live)
        self.like = plaza.likeStore(liveID: live)
        self.summary = plaza.summaryStore(liveID: live)
    }
}

/// Waits until a condition holds.
///
/// - Throws: `StoreTestFailure` with `what` if it does not hold within ten seconds.
func waitUntil(_ what: String, _ condition: () -> Bool) async throws {
    let end = ContinuousClock.now + .seconds(10)
    while !condition() {
        if ContinuousClock.now > end { throw StoreTestFailure("not within 10 s: \(what)") }
        try await Task.sleep(for: .milliseconds(10))
    }
}

struct StoreTestFailure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

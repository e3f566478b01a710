// SPDX-License-Identifier: Apache-2.0
import Foundation
import LivePlazaCombine
import LivePlazaKit
import LivePlazaTransport
import ProtocolClient
import Synchronization
import TestSupport

/// A user with the stores of LivePlazaKit (the Swift SDK), which records the events that the stores publish.
final class StoreUser: @unchecked Sendable {
    let id: String
    let plaza: LivePlaza
    /// The user's network, which a test may interrupt.
    let network: UnreliableTransport
    private let hasTokenProvider: Bool
    private let lock = NSLock()
    /// The descriptions of the events that the stores have published so far.
    private var receivedEvents: [String] = []
    private var subscriptions: Set<AnyCancellable> = []

    /// Makes a user who is not logged in.
    ///
    /// - Parameters:
    ///   - id: the user's id.
    ///   - harness: the cluster's gateways.
    ///   - transport: the network, which the user's own network wraps.
    ///   - session: the session to continue; nil for a new one.
    ///   - callTimeout: how long a call may take.
    ///   - tokens: makes the tokens of the user's token provider; nil for a user without a provider.
    ///   - deliveryQueue: the queue on which the stores publish; nil for a queue of the user.
    init(
        _ id: String, _ harness: ClusterHarness, over transport: LoopTransport, session: String? = nil,
        callTimeout: Duration = .seconds(15), tokens: TokenSource? = nil, deliveryQueue: DispatchQueue? = nil
    ) {
        self.id = id
        self.network = UnreliableTransport(transport)
        self.hasTokenProvider = tokens != nil
        self.plaza = LivePlaza(
            options: PlazaOptions(
                gateways: harness.addresses.map { "ws://\($0.host):\($0.port)/v1" },
                tokenProvider: tokens?.provider(for: id, harness),
                transport: self.network, deliveryQueue: deliveryQueue ?? DispatchQueue(label: id),
                callTimeout: callTimeout,
                session: session))
        self.recordEvents(of: self.plaza.liveListStore.liveListEventPublisher)
        self.recordEvents(of: self.plaza.loginStore.loginEventPublisher)
    }

    /// Connects and logs in, with a token of the provider if the user has one.
    func login(_ harness: ClusterHarness, validFor lifetime: Duration = .seconds(3600)) async throws {
        try await self.plaza.loginStore.login(
            // Any number will do, because the demo app's name is no number with which the SDK could compare it.
            sdkAppID: 1, userID: self.id,
            userSig: self.hasTokenProvider ? "" : harness.token(self.id, validFor: lifetime))
    }

    /// The stores of a live; their events are recorded from now on.
    func stores(of live: String) -> StoresOfLive {
        let stores = StoresOfLive(self.plaza, live)
        self.recordEvents(of: stores.audience.liveAudienceEventPublisher)
        self.recordEvents(of: stores.coGuest.hostEventPublisher)
        self.recordEvents(of: stores.coGuest.guestEventPublisher)
        self.recordEvents(of: stores.seat.liveSeatEventPublisher)
        self.recordEvents(of: stores.coHost.coHostEventPublisher)
        self.recordEvents(of: stores.battle.battleEventPublisher)
        self.recordEvents(of: stores.gift.giftEventPublisher)
        self.recordEvents(of: stores.like.likeEventPublisher)
        return stores
    }

    /// Waits until the stores have published an event whose description begins with `prefix`.
    func waitForEvent(_ prefix: String) async throws {
        do {
            try await waitUntil("\(self.id) receives \(prefix)") {
                self.lock.withLock { self.receivedEvents.contains { $0.hasPrefix(prefix) } }
            }
        } catch let failure as StoreTestFailure {
            let received = self.lock.withLock { self.receivedEvents.map { $0.prefix(80) } }
            let state = self.plaza.loginStore.state.value.connectionStatus
            throw StoreTestFailure("\(failure); the connection is \(state), the events are \(received)")
        }
    }

    /// The number of events so far whose description begins with `prefix`.
    func eventCount(_ prefix: String) -> Int {
        self.lock.withLock { self.receivedEvents.count { $0.hasPrefix(prefix) } }
    }

    private func recordEvents<Event>(of publisher: PassthroughSubject<Event, Never>) {
        let subscription = publisher.sink { [weak self] event in
            self?.lock.withLock { self?.receivedEvents.append("\(event)") }
        }
        self.lock.withLock { _ = self.subscriptions.insert(subscription) }
    }
}

/// Makes the tokens that a user's token provider gives, and counts them.
final class TokenSource: Sendable {
    private let lifetime: Duration
    private let count = Atomic(0)

    /// The number of tokens so far.
    var tokenCount: Int { self.count.load(ordering: .relaxed) }

    /// - Parameter lifetime: how long each token is valid.
    init(validFor lifetime: Duration) { self.lifetime = lifetime }

    /// The token provider of a user.
    func provider(for user: String, _ harness: ClusterHarness) -> @Sendable () async throws -> String {
        return {
            self.count.add(1, ordering: .relaxed)
            return harness.token(user, validFor: self.lifetime)
        }
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

/// Waits until a condition holds, which is checked on the caller's actor.
///
/// - Throws: `StoreTestFailure` with `what` if it does not hold within 30 s.
func waitUntil(
    _ what: String, isolation: isolated (any Actor)? = #isolation, _ condition: () -> Bool
) async throws {
    let deadline = ContinuousClock.now + .seconds(30)
    while !condition() {
        if ContinuousClock.now > deadline { throw StoreTestFailure("not within 30 s: \(what)") }
        try await Task.sleep(for: .milliseconds(10))
    }
}

/// The error for a condition that does not hold in time.
struct StoreTestFailure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

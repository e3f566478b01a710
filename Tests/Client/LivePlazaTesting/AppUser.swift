// SPDX-License-Identifier: Apache-2.0
import LivePlazaCombine
import LivePlazaKit
import LivePlazaTesting
import Synchronization

/// A user of an app on a simulated cluster, with the events that its stores have published.
final class AppUser: @unchecked Sendable {
    let id: String
    let plaza: LivePlaza
    private let cluster: SimulatedCluster
    private let receivedEvents = Mutex<[String]>([])
    /// The subscriptions of `recordEvents`; changed only by `init`.
    private var subscriptions: Set<AnyCancellable> = []

    init(_ id: String, on cluster: SimulatedCluster, live: String, plaza: LivePlaza? = nil) {
        self.id = id
        self.cluster = cluster
        self.plaza = plaza ?? cluster.client(id)
        self.recordEvents(of: self.plaza.loginStore.loginEventPublisher)
        self.recordEvents(of: self.plaza.liveListStore.liveListEventPublisher)
        self.recordEvents(of: self.plaza.audienceStore(liveID: live).liveAudienceEventPublisher)
        self.recordEvents(of: self.plaza.coGuestStore(liveID: live).hostEventPublisher)
        self.recordEvents(of: self.plaza.coGuestStore(liveID: live).guestEventPublisher)
        self.recordEvents(of: self.plaza.coHostStore(liveID: live).coHostEventPublisher)
        self.recordEvents(of: self.plaza.battleStore(liveID: live).battleEventPublisher)
        self.recordEvents(of: self.plaza.giftStore(liveID: live).giftEventPublisher)
    }

    /// Logs in with a token that is valid for this time; by default for a day.
    func login(validFor: Duration = .seconds(24 * 3600)) async throws {
        try await self.plaza.loginStore.login(
            sdkAppID: 1, userID: self.id, userSig: self.cluster.token(self.id, validFor: validFor))
    }

    /// Creates a live, and enters it.
    func createLive(_ live: String) async throws {
        var info = LiveInfo()
        info.liveID = live
        info.liveName = "Live \(live)"
        _ = try await self.plaza.liveListStore.createLive(info)
    }

    /// Enters a live.
    func joinLive(_ live: String) async throws { _ = try await self.plaza.liveListStore.joinLive(liveID: live) }

    /// The texts of a live's messages in the user's store.
    func messageTexts(in live: String) -> [String] {
        self.plaza.barrageStore(liveID: live).state.value.messageList.map(\.textContent)
    }

    /// Whether the user has received an event whose description begins with `name`.
    func hasReceived(_ name: String) -> Bool { self.receivedEvents.withLock { $0.contains { $0.hasPrefix(name) } } }

    private func recordEvents<Event>(of publisher: PassthroughSubject<Event, Never>) {
        publisher.sink { [weak self] event in self?.receivedEvents.withLock { $0.append("\(event)") } }
            .store(in: &self.subscriptions)
    }
}

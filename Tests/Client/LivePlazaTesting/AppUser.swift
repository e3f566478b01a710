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
    /// Changed only by `init`.
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

    /// Logs in.
    func login(validFor: Duration = .seconds(86_400)) async throws {
        try await self.plaza.loginStore.login(
            sdkAppID: 1, userID: self.id, userSig: self.cluster.token(self.id, validFor: validFor))
    }

    /// Creates a live, and enters it.
    func create(_ live: String) async throws {
        var info = LiveInfo()
        info.liveID = live
        info.liveName = "Live \(live)"
        _ = try await self.plaza.liveListStore.createLive(info)
    }

    /// Enters a live.
    func join(_ live: String) async throws { _ = try await self.plaza.liveListStore.joinLive(liveID: live) }

    /// The messages of a live that the user's store contains.
    func texts(_ live: String) -> [String] {
        self.plaza.barrageStore(liveID: live).state.value.messageList.map(\.textContent)
    }

    /// Whether the user has received an event whose description begins with `name`.
    func hasReceived(_ name: String) -> Bool { self.receivedEvents.withLock { $0.contains { $0.hasPrefix(name) } } }

    private func recordEvents<Event>(of publisher: PassthroughSubject<Event, Never>) {
        publisher.sink { [weak self] event in self?.receivedEvents.withLock { $0.append("\(event)") } }
            .store(in: &self.subscriptions)
    }
}

/// The state of one live's stores at a client.
struct StoreSnapshot: Equatable {
    var live: LiveInfo
    var audience: Set<String>
    var messages: [String]
    var seats: LiveSeatState
    var connected: [String]
    var coHosts: CoHostState
    var likes: LikeState

    /// The parts that differ from those of another client, with both values.
    func differences(from other: StoreSnapshot) -> [String] {
        var differences: [String] = []
        func compare<Value: Equatable>(_ name: String, _ value: (StoreSnapshot) -> Value) {
            if value(self) != value(other) { differences.append("\(name): \(value(self)) instead of \(value(other))") }
        }
        compare("live") { $0.live }
        compare("audience") { $0.audience }
        compare("messages") { $0.messages }
        compare("seats") { $0.seats }
        compare("connected") { $0.connected }
        compare("coHosts") { $0.coHosts }
        compare("likes") { $0.likes }
        return differences
    }

    init(_ plaza: LivePlaza, _ live: String) {
        self.live = plaza.liveListStore.state.value.currentLive
        self.audience = Set(plaza.audienceStore(liveID: live).state.value.audienceList.map(\.userID))
        self.messages = plaza.barrageStore(liveID: live).state.value.messageList.map(\.textContent)
        self.seats = plaza.seatStore(liveID: live).state.value
        self.connected = plaza.coGuestStore(liveID: live).state.value.connected.map(\.userID)
        self.coHosts = plaza.coHostStore(liveID: live).state.value
        self.likes = plaza.likeStore(liveID: live).state.value
    }
}

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

/// The states that the stores of one live show at a client.
struct StoreSnapshot: Equatable {
    var live: LiveInfo
    var audience: LiveAudienceState
    var messages: [String]
    var allowsSending: Bool
    var seats: LiveSeatState
    var guests: CoGuestState
    var coHosts: CoHostState
    var battles: BattleState
    var gifts: GiftState
    var likes: LikeState
    var summary: LiveSummaryState

    /// Describes each property whose value differs from the one in `expected`, with both values.
    func differences(from expected: StoreSnapshot) -> [String] {
        func difference(_ name: String, _ property: KeyPath<StoreSnapshot, some Equatable>) -> String? {
            let (value, expectedValue) = (self[keyPath: property], expected[keyPath: property])
            return value == expectedValue ? nil : "\(name): \(value) instead of \(expectedValue)"
        }
        return [
            difference("live", \.live), difference("audience", \.audience), difference("messages", \.messages),
            difference("allowsSending", \.allowsSending), difference("seats", \.seats),
            difference("guests", \.guests), difference("coHosts", \.coHosts), difference("battles", \.battles),
            difference("gifts", \.gifts), difference("likes", \.likes), difference("summary", \.summary),
        ].compactMap { $0 }
    }

    /// Clears the states that may differ between two users of a live, so that the snapshots can be compared.
    ///
    /// These are requests that concern this user, states that only hosts read, and the gifts, which a client reads only
    /// when its app asks for them.
    mutating func clearUserSpecificStates() {
        self.guests.applicants = []
        self.guests.invitees = []
        self.guests.candidates = []
        (self.coHosts.applicant, self.coHosts.invitees, self.coHosts.candidates) = (nil, [], [])
        self.coHosts.candidatesCursor = ""
        self.gifts.usableGifts = []
    }

    init(_ plaza: LivePlaza, _ live: String) {
        let barrage = plaza.barrageStore(liveID: live).state.value
        self.live = plaza.liveListStore.state.value.currentLive
        self.audience = plaza.audienceStore(liveID: live).state.value
        // The server may list the viewers in any order.
        self.audience.audienceList.sort { $0.userID < $1.userID }
        // A mute that was read stands in the order of the ids, one that was seen at the end.
        self.audience.messageBannedUserList.sort { $0.userID < $1.userID }
        self.messages = barrage.messageList.map(\.textContent)
        self.allowsSending = barrage.allowSendMessage
        self.seats = plaza.seatStore(liveID: live).state.value
        self.guests = plaza.coGuestStore(liveID: live).state.value
        self.coHosts = plaza.coHostStore(liveID: live).state.value
        self.battles = plaza.battleStore(liveID: live).state.value
        self.gifts = plaza.giftStore(liveID: live).state.value
        self.likes = plaza.likeStore(liveID: live).state.value
        self.summary = plaza.summaryStore(liveID: live).state.value
    }
}

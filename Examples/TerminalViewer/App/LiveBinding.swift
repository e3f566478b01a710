// SPDX-License-Identifier: Apache-2.0
import LivePlazaCombine
import LivePlazaKit
import ViewerScreens

/// Shows the stores of one live in the viewer's `LivePage`.
///
/// The subscriptions end when this object is released.
@MainActor
final class LiveBinding {
    let barrage: BarrageStore
    let audience: LiveAudienceStore
    let seats: LiveSeatStore
    let guests: CoGuestStore
    let hosts: CoHostStore
    let battles: BattleStore
    let gifts: GiftStore
    let likes: LikeStore
    let summary: LiveSummaryStore

    private weak var viewer: Viewer?
    private let selfID: String
    private var subscriptions: Set<AnyCancellable> = []
    /// The sequence number of the last message that was shown; nil before the first list of messages.
    private var lastSequence: Int?
    /// The names of the hosts who have battled, by id; when a battle ends, the state has no hosts any more.
    private var battleNames: [String: String] = [:]

    init(_ liveID: String, _ viewer: Viewer) {
        let plaza = viewer.plaza
        self.viewer = viewer
        self.selfID = viewer.account.userID
        self.barrage = plaza.barrageStore(liveID: liveID)
        self.audience = plaza.audienceStore(liveID: liveID)
        self.seats = plaza.seatStore(liveID: liveID)
        self.guests = plaza.coGuestStore(liveID: liveID)
        self.hosts = plaza.coHostStore(liveID: liveID)
        self.battles = plaza.battleStore(liveID: liveID)
        self.gifts = plaza.giftStore(liveID: liveID)
        self.likes = plaza.likeStore(liveID: liveID)
        self.summary = plaza.summaryStore(liveID: liveID)
        self.bindAudience()
        self.bindBarrage()
        self.bindStage()
        self.bindGifts()
        self.bindGuests()
        self.bindHosts()
        self.bindBattles()
    }

    /// Changes the page of the live, and draws it.
    private func updatePage(_ change: (inout LivePage) -> Void) {
        guard let viewer = self.viewer, var page = viewer.state.live else { return }
        change(&page)
        viewer.state.live = page
        viewer.draw()
    }

    /// Adds the text of an event to the chat.
    private func addEvent(_ text: String) { self.updatePage { $0.add(ChatLine(text: text)) } }

    /// Calls `body` with each value, on the main queue, where the stores publish.
    private func subscribe<Value>(
        to publisher: some Publisher<Value, Never>, _ body: @escaping (LiveBinding, Value) -> Void
    ) {
        publisher.sink { [weak self] value in
            if let self { body(self, value) }
        }.store(in: &self.subscriptions)
    }
}

extension LiveBinding {
    private func bindAudience() {
        self.subscribe(to: self.audience.state.subscribe()) { binding, state in
            let admins = Set(state.adminList.map(\.userID))
            binding.updatePage { page in
                page.audience = state.audienceList.map {
                    ViewerRow(id: $0.userID, name: $0.shownName, isHost: admins.contains($0.userID))
                }
                page.viewerCount = Int(clamping: state.audienceCount)
                page.isCountStale = state.isAudienceCountStale
            }
        }
        self.subscribe(to: self.audience.liveAudienceEventPublisher) { binding, event in
            switch event {
            case .onAudienceJoined(let user): binding.addEvent("\(user.shownName) has come in")
            case .onAudienceLeft(let user): binding.addEvent("\(user.shownName) has left")
            case .onAudienceMessageDisabled(let user, let isDisabled):
                binding.addEvent("\(user.shownName) \(isDisabled ? "is muted" : "may write again")")
            }
        }
        self.subscribe(to: self.summary.state.subscribe(StatePublisherSelector(keyPath: \.summaryData.totalDuration))) {
            binding, milliseconds in binding.updatePage { $0.durationSeconds = Int(clamping: milliseconds / 1000) }
        }
    }

    private func bindBarrage() {
        self.subscribe(to: self.barrage.state.subscribe(StatePublisherSelector(keyPath: \.messageList))) {
            binding, messages in
            // Messages that were in the list when the user entered the live are not shown in the lanes.
            let isFirstList = binding.lastSequence == nil
            let newMessages = messages.filter { $0.sequence > binding.lastSequence ?? 0 }
            binding.lastSequence = newMessages.map(\.sequence).max() ?? binding.lastSequence ?? 0
            binding.updatePage { page in
                for message in newMessages {
                    let author = message.sender.shownName
                    page.add(ChatLine(author: author, text: message.shownText))
                    if isFirstList { continue }
                    let isOwn = message.sender.userID == binding.selfID
                    page.lanes.add(message.shownText, isOwn ? Style(.red, isBold: true) : Style(colour(of: author)))
                }
            }
        }
    }

    private func bindGifts() {
        self.subscribe(to: self.likes.state.subscribe(StatePublisherSelector(keyPath: \.totalLikeCount))) {
            binding, count in
            binding.updatePage { $0.likeCount = Int(clamping: count) }
        }
        self.subscribe(to: self.gifts.giftEventPublisher) { binding, event in
            switch event {
            case .onReceiveGift(_, let gift, let count, let sender):
                binding.updatePage { page in
                    page.add(ChatLine(text: "\(sender.shownName) gives \(count) × \(gift.name)"))
                    page.lanes.add("★ \(sender.shownName): \(count) × \(gift.name)", Style(.yellow, isBold: true))
                }
            }
        }
    }

    private func bindStage() {
        self.subscribe(to: self.seats.state.subscribe()) { binding, state in
            binding.updatePage { page in
                page.seats = state.seatList.map { SeatBox($0, of: state) }
            }
        }
        self.subscribe(to: self.seats.liveSeatEventPublisher) { binding, event in
            switch event {
            case .onLocalMicrophoneClosedByAdmin: binding.addEvent("a host has closed your microphone")
            case .onLocalMicrophoneOpenedByAdmin: binding.addEvent("you may open your microphone: /mic on")
            case .onLocalCameraClosedByAdmin: binding.addEvent("a host has closed your camera")
            case .onLocalCameraOpenedByAdmin: binding.addEvent("you may open your camera: /cam on")
            }
        }
    }

    private func bindGuests() {
        // Unlike the events, the state also has the applications from before this client entered the live.
        self.subscribe(to: self.guests.state.subscribe(StatePublisherSelector(keyPath: \.applicants))) {
            binding, applicants in
            binding.updatePage { page in
                page.requests.removeAll { $0.kind == .application }
                page.requests += applicants.map { OpenRequest(.application, key: $0.userID, name: $0.shownName) }
            }
        }
        self.subscribe(to: self.guests.hostEventPublisher) { binding, event in
            switch event {
            case .onHostInvitationResponded(let isAccept, let user):
                binding.addEvent("\(user.shownName) \(isAccept ? "takes" : "declines") the seat")
            case .onHostInvitationNoResponse(let user, _): binding.addEvent("\(user.shownName) has not answered")
            // The list of applicants above shows these.
            case .onGuestApplicationReceived, .onGuestApplicationCancelled, .onGuestApplicationProcessedByOtherHost:
                break
            }
        }
        self.subscribe(to: self.guests.guestEventPublisher) { binding, event in
            switch event {
            case .onHostInvitationReceived(let user):
                binding.updatePage {
                    $0.requests.append(OpenRequest(.invitation, key: user.userID, name: user.shownName))
                }
            case .onHostInvitationCancelled(let user): binding.removeRequest(.invitation, user.userID)
            case .onGuestApplicationResponded(let isAccept, let user):
                binding.addEvent(
                    "\(user.shownName) \(isAccept ? "gives you a seat: /mic on" : "declines your application")")
            case .onGuestApplicationNoResponse: binding.addEvent("nobody has answered your application")
            case .onKickedOffSeat(_, let user): binding.addEvent("\(user.shownName) has taken your seat away")
            }
        }
    }

    private func bindHosts() {
        self.subscribe(to: self.hosts.coHostEventPublisher) { binding, event in
            switch event {
            case .onCoHostRequestReceived(let inviter, _):
                binding.updatePage {
                    $0.requests.append(OpenRequest(.connection, key: inviter.liveID, name: inviter.shownName))
                }
            case .onCoHostRequestCancelled(let inviter, _), .onCoHostRequestTimeout(let inviter, _):
                binding.removeRequest(.connection, inviter.liveID)
            case .onCoHostRequestAccepted(let user): binding.addEvent("\(user.shownName) accepts the connection")
            case .onCoHostRequestRejected(let user): binding.addEvent("\(user.shownName) declines the connection")
            case .onCoHostUserJoined(let user):
                // The event comes for this user, too.
                if user.userID != binding.selfID { binding.addEvent("\(user.shownName) is connected") }
            case .onCoHostUserLeft(let user): binding.addEvent("\(user.shownName) is no longer connected")
            }
        }
    }

    private func bindBattles() {
        self.subscribe(to: self.battles.state.subscribe()) { binding, state in
            for user in state.battleUsers { binding.battleNames[user.userID] = user.shownName }
            binding.updatePage { page in page.battle = state.currentBattleInfo.map { BattleBar($0, state) } }
        }
        self.subscribe(to: self.battles.battleEventPublisher) { binding, event in
            switch event {
            case .onBattleRequestReceived(let id, let inviter, _):
                binding.updatePage { $0.requests.append(OpenRequest(.battle, key: id, name: inviter.shownName)) }
            case .onBattleRequestCancelled(let id, _, _), .onBattleRequestTimeout(let id, _, _):
                binding.removeRequest(.battle, id)
            case .onBattleRequestAccept(_, _, let user): binding.addEvent("\(user.shownName) accepts the battle")
            case .onBattleRequestReject(_, _, let user): binding.addEvent("\(user.shownName) declines the battle")
            case .onBattleStarted(let battle, _, _):
                binding.removeRequest(.battle, battle.battleID)
                binding.addEvent("the battle begins")
            case .onBattleEnded: binding.addEvent(binding.battleResult)
            // The bar of the battle shows it.
            case .onUserJoinBattle: break
            case .onUserExitBattle(_, let user): binding.addEvent("\(user.shownName) leaves the battle")
            }
        }
    }

    private var battleResult: String {
        // The highest score first; hosts with equal scores by their ids.
        let scores = self.battles.state.value.battleScore.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
            .map { user, score in "\(self.battleNames[user] ?? user) \(score)" }
        return "the battle is over" + (scores.isEmpty ? "" : ": " + scores.joined(separator: ", "))
    }

    /// Removes a request that was answered or has ended.
    func removeRequest(_ kind: OpenRequest.Kind, _ key: String) {
        self.updatePage { $0.requests.removeAll { $0.kind == kind && $0.key == key } }
    }
}

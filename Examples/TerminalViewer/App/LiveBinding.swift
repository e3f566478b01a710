// SPDX-License-Identifier: Apache-2.0
import LivePlazaCombine
import LivePlazaKit
import ViewerScreens

/// The stores of one live, and what the viewer shows of them.
///
/// Releasing it ends all subscriptions.
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
    /// The last message that flies or has flown.
    private var lastMessage: Int?

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

    /// Changes what is shown of the live, and draws it.
    private func show(_ change: (inout LivePage) -> Void) {
        guard let viewer = self.viewer, var page = viewer.state.live else { return }
        change(&page)
        viewer.state.live = page
        viewer.draw()
    }

    private func tell(_ text: String) { self.show { $0.add(ChatLine(text: text)) } }

    /// Calls a method with each value; the stores publish on the main queue.
    private func on<Value>(
        _ publisher: some Publisher<Value, Never>, _ body: @escaping (LiveBinding, Value) -> Void
    ) {
        publisher.sink { [weak self] value in
            if let self { body(self, value) }
        }.store(in: &self.subscriptions)
    }
}

extension LiveBinding {
    private func bindAudience() {
        self.on(self.audience.state.subscribe()) { live, state in
            let admins = Set(state.adminList.map(\.userID))
            live.show { page in
                page.people = state.audienceList.map {
                    Person(id: $0.userID, name: $0.shownName, isHost: admins.contains($0.userID))
                }
                page.viewers = Int(clamping: state.audienceCount)
                page.isCountStale = state.isAudienceCountStale
            }
        }
        self.on(self.audience.liveAudienceEventPublisher) { live, event in
            switch event {
            case .onAudienceJoined(let user): live.tell("\(user.shownName) has come in")
            case .onAudienceLeft(let user): live.tell("\(user.shownName) has left")
            case .onAudienceMessageDisabled(let user, let isDisabled):
                live.tell("\(user.shownName) \(isDisabled ? "is muted" : "may write again")")
            }
        }
        self.on(self.summary.state.subscribe(StatePublisherSelector(keyPath: \.summaryData.totalDuration))) {
            live, seconds in live.show { $0.seconds = Int(clamping: seconds / 1000) }
        }
    }

    private func bindBarrage() {
        self.on(self.barrage.state.subscribe(StatePublisherSelector(keyPath: \.messageList))) { live, messages in
            // What stood in the list when the live was entered does not fly.
            let isFirst = live.lastMessage == nil
            let new = messages.filter { $0.sequence > live.lastMessage ?? 0 }
            live.lastMessage = new.map(\.sequence).max() ?? live.lastMessage ?? 0
            live.show { page in
                for message in new {
                    let author = message.sender.shownName
                    page.add(ChatLine(author: author, text: message.shownText))
                    if isFirst { continue }
                    let isOwn = message.sender.userID == live.selfID
                    page.lanes.add(message.shownText, isOwn ? Style(.red, isBold: true) : Style(colour(of: author)))
                }
            }
        }
    }

    private func bindGifts() {
        self.on(self.likes.state.subscribe(StatePublisherSelector(keyPath: \.totalLikeCount))) { live, count in
            live.show { $0.likes = Int(clamping: count) }
        }
        self.on(self.gifts.giftEventPublisher) { live, event in
            switch event {
            case .onReceiveGift(_, let gift, let count, let sender):
                live.show { page in
                    page.add(ChatLine(text: "\(sender.shownName) gives \(count) × \(gift.name)"))
                    page.lanes.add("★ \(sender.shownName): \(count) × \(gift.name)", Style(.yellow, isBold: true))
                }
            }
        }
    }

    private func bindStage() {
        self.on(self.seats.state.subscribe()) { live, state in
            live.show { page in
                page.seats = state.seatList.map { SeatBox($0, of: state) }
            }
        }
        self.on(self.seats.liveSeatEventPublisher) { live, event in
            switch event {
            case .onLocalMicrophoneClosedByAdmin: live.tell("a host has closed your microphone")
            case .onLocalMicrophoneOpenedByAdmin: live.tell("you may open your microphone: /mic on")
            case .onLocalCameraClosedByAdmin: live.tell("a host has closed your camera")
            case .onLocalCameraOpenedByAdmin: live.tell("you may open your camera: /cam on")
            }
        }
    }

    private func bindGuests() {
        // The state also has the applications from before this client came.
        self.on(self.guests.state.subscribe(StatePublisherSelector(keyPath: \.applicants))) { live, applicants in
            live.show { page in
                page.requests.removeAll { $0.kind == .application }
                page.requests += applicants.map { OpenRequest(.application, key: $0.userID, name: $0.shownName) }
            }
        }
        self.on(self.guests.hostEventPublisher) { live, event in
            switch event {
            case .onHostInvitationResponded(let isAccept, let user):
                live.tell("\(user.shownName) \(isAccept ? "takes" : "declines") the seat")
            case .onHostInvitationNoResponse(let user, _): live.tell("\(user.shownName) has not answered")
            case .onGuestApplicationReceived, .onGuestApplicationCancelled, .onGuestApplicationProcessedByOtherHost:
                break
            }
        }
        self.on(self.guests.guestEventPublisher) { live, event in
            switch event {
            case .onHostInvitationReceived(let user):
                live.show { $0.requests.append(OpenRequest(.invitation, key: user.userID, name: user.shownName)) }
            case .onHostInvitationCancelled(let user): live.end(.invitation, user.userID)
            case .onGuestApplicationResponded(let isAccept, let user):
                live.tell("\(user.shownName) \(isAccept ? "gives you a seat: /mic on" : "declines your application")")
            case .onGuestApplicationNoResponse: live.tell("nobody has answered your application")
            case .onKickedOffSeat(_, let user): live.tell("\(user.shownName) has taken your seat away")
            }
        }
    }

    private func bindHosts() {
        self.on(self.hosts.coHostEventPublisher) { live, event in
            switch event {
            case .onCoHostRequestReceived(let inviter, _):
                live.show {
                    $0.requests.append(OpenRequest(.connection, key: inviter.liveID, name: inviter.shownName))
                }
            case .onCoHostRequestCancelled(let inviter, _), .onCoHostRequestTimeout(let inviter, _):
                live.end(.connection, inviter.liveID)
            case .onCoHostRequestAccepted(let user): live.tell("\(user.shownName) accepts the connection")
            case .onCoHostRequestRejected(let user): live.tell("\(user.shownName) declines the connection")
            case .onCoHostUserJoined(let user):
                if user.userID != live.selfID { live.tell("\(user.shownName) is connected") }
            case .onCoHostUserLeft(let user): live.tell("\(user.shownName) is no longer connected")
            }
        }
    }

    private func bindBattles() {
        self.on(self.battles.state.subscribe()) { live, state in
            live.show { page in page.battle = state.currentBattleInfo.map { BattleBar($0, state) } }
        }
        self.on(self.battles.battleEventPublisher) { live, event in
            switch event {
            case .onBattleRequestReceived(let id, let inviter, _):
                live.show { $0.requests.append(OpenRequest(.battle, key: id, name: inviter.shownName)) }
            case .onBattleRequestCancelled(let id, _, _), .onBattleRequestTimeout(let id, _, _): live.end(.battle, id)
            case .onBattleRequestAccept(_, _, let user): live.tell("\(user.shownName) accepts the battle")
            case .onBattleRequestReject(_, _, let user): live.tell("\(user.shownName) declines the battle")
            case .onBattleStarted(let battle, _, _):
                live.end(.battle, battle.battleID)
                live.tell("the battle begins")
            case .onBattleEnded: live.tell(live.battleResult)
            case .onUserJoinBattle: break
            case .onUserExitBattle(_, let user): live.tell("\(user.shownName) leaves the battle")
            }
        }
    }

    private var battleResult: String {
        let state = self.battles.state.value
        let scores = state.battleUsers.map { "\($0.shownName) \(state.battleScore[$0.userID] ?? 0)" }
        return "the battle is over" + (scores.isEmpty ? "" : ": " + scores.joined(separator: ", "))
    }

    /// Removes a request that is answered or over.
    func end(_ kind: OpenRequest.Kind, _ key: String) {
        self.show { $0.requests.removeAll { $0.kind == kind && $0.key == key } }
    }
}

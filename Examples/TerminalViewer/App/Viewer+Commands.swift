// SPDX-License-Identifier: Apache-2.0
import Foundation
import LivePlazaKit
import ViewerScreens

/// The commands of a live, each of which is one call of a store.
extension Viewer {
    /// The maximum number of lives or gifts in a message, which has only one line.
    private static let maxListed = 8
    /// How long a request to another user stays open, in seconds.
    private static let requestTimeout: TimeInterval = 60

    /// Carries out a command of the page of a live.
    func run(_ command: Command) async throws {
        guard let live = self.live else { return }
        switch command {
        case .sendMessage(let text): try await live.barrage.sendTextMessage(text: text)
        case .like: try await live.likes.sendLike()
        case .gifts: try await self.showGifts(live)
        case .gift(let id, let count): try await live.gifts.sendGift(giftID: id, count: count)
        case .microphone(isOn: true): try await live.seats.unmuteMicrophone()
        case .microphone(isOn: false): live.seats.muteMicrophone()
        case .camera(isOn: let isOn): try await live.seats.reportCamera(isOn: isOn)
        case .seat, .stand, .invite: try await self.runSeats(command, live)
        case .accept(let name): try await self.answer(name, isAccept: true, live)
        case .reject(let name): try await self.answer(name, isAccept: false, live)
        case .hosts, .connect, .disconnect, .battle, .exitBattle: try await self.runHosts(command, live)
        case .kick(let user): try await live.audience.kickUserOutOfRoom(userID: user)
        case .mute(let user, isMuted: let isMuted):
            try await live.audience.disableSendMessage(userID: user, isDisable: isMuted)
        case .admin(let user, isAdmin: true): try await live.audience.setAdministrator(userID: user)
        case .admin(let user, isAdmin: false): try await live.audience.revokeAdministrator(userID: user)
        case .leave: try await self.leave()
        case .end: try await self.endLive()
        // `runLine` has handled these.
        case .help, .quit: break
        }
    }

    /// Carries out a command about seats; the index -1 stands for any free seat.
    private func runSeats(_ command: Command, _ live: LiveBinding) async throws {
        switch command {
        case .seat(let index):
            // The owner takes a seat without asking.
            if self.isOwner {
                try await live.seats.takeSeat(seatIndex: index ?? -1)
            } else {
                try await live.guests.applyForSeat(seatIndex: index ?? -1, timeout: Self.requestTimeout)
                self.showMessage("The hosts see your application.")
            }
        case .stand: try await live.seats.leaveSeat()
        case .invite(let user, let seat):
            try await live.guests.inviteToSeat(userID: user, seatIndex: seat ?? -1, timeout: Self.requestTimeout)
            self.showMessage("\(user) sees your invitation.")
        default: break
        }
    }

    /// Carries out a command about the connection with other lives, or about a battle with their hosts.
    private func runHosts(_ command: Command, _ live: LiveBinding) async throws {
        switch command {
        case .hosts:
            try await live.hosts.getCoHostCandidates(cursor: "")
            let candidates = live.hosts.state.value.candidates.prefix(Self.maxListed)
                .map { "\($0.shownName) (\($0.liveID))" }
            self.showMessage(candidates.isEmpty ? "Nobody else is live." : candidates.joined(separator: ", "))
        case .connect(let other):
            try await live.hosts.requestHostConnection(
                targetHost: other, layoutTemplate: .hostDynamicGrid, timeout: Self.requestTimeout)
            self.showMessage("The host of \(other) sees your request.")
        case .disconnect: try await live.hosts.exitHostConnection()
        case .battle(let seconds):
            let others = live.hosts.state.value.connected.map(\.userID).filter { $0 != self.account.userID }
            guard !others.isEmpty else {
                return self.showMessage("Connect with another live first: /hosts", isError: true)
            }
            let config = BattleConfig(duration: seconds, needResponse: true)
            _ = try await live.battles.requestBattle(config: config, userIDList: others, timeout: Self.requestTimeout)
            self.showMessage("Your challenge is sent.")
        case .exitBattle:
            guard let battle = live.battles.state.value.currentBattleInfo else {
                return self.showMessage("There is no battle.", isError: true)
            }
            try await live.battles.exitBattle(battleID: battle.battleID)
        default: break
        }
    }

    /// Answers the oldest request, or the request of the user whose name or id is `name`.
    private func answer(_ name: String?, isAccept: Bool, _ live: LiveBinding) async throws {
        let requests = self.state.live?.requests ?? []
        guard let request = requests.first(where: { name == nil || $0.name == name || $0.key == name }) else {
            return self.showMessage(name.map { "\($0) has no open request." } ?? "No request is open.", isError: true)
        }
        let key = request.key
        switch (request.kind, isAccept) {
        case (.application, true): try await live.guests.acceptApplication(userID: key)
        case (.application, false): try await live.guests.rejectApplication(userID: key)
        case (.invitation, true): try await live.guests.acceptInvitation(inviterID: key)
        case (.invitation, false): try await live.guests.rejectInvitation(inviterID: key)
        case (.connection, true): try await live.hosts.acceptHostConnection(fromHostLiveID: key)
        case (.connection, false): try await live.hosts.rejectHostConnection(fromHostLiveID: key)
        case (.battle, true): try await live.battles.acceptBattle(battleID: key)
        case (.battle, false): try await live.battles.rejectBattle(battleID: key)
        }
        live.removeRequest(request.kind, key)
    }

    private func showGifts(_ live: LiveBinding) async throws {
        try await live.gifts.refreshUsableGifts()
        let gifts = live.gifts.state.value.usableGifts.flatMap(\.giftList)
        let texts = gifts.prefix(Self.maxListed).map { "\($0.giftID) (\($0.name), \($0.coins) coins)" }
        self.showMessage(texts.isEmpty ? "This app has no gifts." : texts.joined(separator: ", "))
    }

    private var isOwner: Bool {
        self.plaza.liveListStore.state.value.currentLive.liveOwner.userID == self.account.userID
    }
}

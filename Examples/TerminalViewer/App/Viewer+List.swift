// SPDX-License-Identifier: Apache-2.0
import LivePlazaCombine
import LivePlazaKit
import ViewerScreens

/// The login, the list of lives, and entering and leaving a live.
extension Viewer {
    /// The number of lives that one call reads, which is a page of the list.
    private static let pageSize = 20

    func bindLogin() {
        self.plaza.loginStore.state.subscribe().sink { [weak self] login in
            guard let self else { return }
            self.state.connection = Connection(login.connectionStatus)
            if let name = login.loginUserInfo?.nickname, !name.isEmpty { self.state.userName = name }
            self.draw()
        }.store(in: &self.subscriptions)
        self.plaza.loginStore.loginEventPublisher.sink { [weak self] event in
            switch event {
            case .kickedOffline: self?.showMessage("You have logged in elsewhere.", isError: true)
            case .loginExpired: self?.showMessage("The login has expired: start again with a new token.", isError: true)
            }
        }.store(in: &self.subscriptions)
    }

    func bindList() {
        let store = self.plaza.liveListStore
        store.state.subscribe().sink { [weak self] list in
            guard let self else { return }
            self.state.list.show(list.liveList.map { LiveRow($0) }, hasMore: !list.liveListCursor.isEmpty)
            self.show(currentLive: list.currentLive)
            self.draw()
        }.store(in: &self.subscriptions)
        store.liveListEventPublisher.sink { [weak self] event in
            switch event {
            case .onLiveEnded: self?.liveExited("The live has ended.")
            case .onKickedOutOfLive(_, let reason, _): self?.liveExited("You were put out of the live (\(reason)).")
            }
        }.store(in: &self.subscriptions)
    }

    /// Reads the list from its beginning, or the next page.
    func readList(more: Bool = false) async throws {
        let store = self.plaza.liveListStore
        let cursor = more ? store.state.value.liveListCursor : ""
        self.state.list.isLoading = true
        defer { self.state.list.isLoading = false }
        try await store.fetchLiveList(cursor: cursor, count: Self.pageSize)
        self.draw()
    }

    /// Reads the list again while it is shown, unless the user has read more than its first page.
    func refreshList() {
        let list = self.state.list
        guard self.state.live == nil, self.state.connection == .online, !list.isLoading,
            list.lives.count <= Self.pageSize
        else { return }
        // The error of a failed read is not shown, because the list is read again soon.
        Task { try? await self.readList() }
    }

    /// Enters a live and shows it.
    func enter(_ liveID: String) async throws {
        _ = try await self.plaza.liveListStore.joinLive(liveID: liveID)
        self.openPage(of: liveID)
    }

    /// Creates a live of this user, and enters it; if the user's live still runs, enters that one.
    func goLive(name: String) async throws {
        var info = LiveInfo(seatTemplate: .videoDynamicGrid9Seats)
        info.liveID = "live-\(self.account.userID)"
        info.liveName = name
        let live = try await self.plaza.liveListStore.createLive(info)
        self.openPage(of: live.liveID)
        self.showMessage("You are live. Others find you in their list; /invite USER offers a seat.")
    }

    /// Leaves the live for the list.
    func leave() async throws {
        try await self.plaza.liveListStore.leaveLive()
        self.closePage()
        try await self.readList()
    }

    /// Ends the user's own live for all.
    func endLive() async throws {
        let statistics = try await self.plaza.liveListStore.endLive()
        self.closePage()
        self.showMessage(
            "Your live had \(statistics.totalViewers) viewers and \(statistics.totalMessageCount) messages.")
        try await self.readList()
    }

    /// Shows the list, because the live is over for this user.
    private func liveExited(_ text: String) {
        self.closePage()
        self.showMessage(text, isError: true)
        self.perform { try await $0.readList() }
    }

    /// Shows the page of a live.
    private func openPage(of liveID: String) {
        self.state.live = LivePage(id: liveID)
        self.state.question = nil
        self.state.input = InputLine()
        self.live = LiveBinding(liveID, self)
        self.show(currentLive: self.plaza.liveListStore.state.value.currentLive)
        self.draw()
    }

    /// Shows the list again.
    private func closePage() {
        self.live = nil
        self.state.live = nil
        self.state.input = InputLine()
        self.draw()
    }

    /// Shows the name and the owner of the user's live.
    private func show(currentLive info: LiveInfo) {
        guard info.liveID == self.state.live?.id else { return }
        let owner = info.liveOwner
        self.state.live?.name = info.liveName
        self.state.live?.owner = owner.userName.isEmpty ? owner.userID : owner.userName
        self.state.live?.isHost = owner.userID == self.account.userID || info.admins.contains(self.account.userID)
    }
}

extension Connection {
    init(_ status: ConnectionStatus) {
        switch status {
        case .disconnected: self = .offline
        case .connecting: self = .connecting
        case .connected: self = .online
        case .reconnecting: self = .reconnecting
        }
    }
}

extension LiveRow {
    init(_ info: LiveInfo) {
        let owner = info.liveOwner
        self.init(
            id: info.liveID, name: info.liveName, owner: owner.userName.isEmpty ? owner.userID : owner.userName,
            viewerCount: info.totalViewerCount)
    }
}

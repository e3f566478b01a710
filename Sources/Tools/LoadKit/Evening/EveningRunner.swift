// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import MachineKit
internal import PlazaModel
internal import ProtocolClient

/// Plays an evening with real clients: lasting lives with chat, gifts, guests on seats and battles.
///
/// `EveningScript` decides what happens. This type reads the stage for the script and performs the script's actions.
/// When a gateway is killed, its clients resume by themselves. In an evening, a host is always the owner of a live.
package struct EveningRunner: Sendable {
    private struct State {
        var script: EveningScript
        /// The running battle of the first live; nil if there is none.
        var battle: BattleID?
    }

    /// The pause between two requests to the script for due actions.
    private static let stepInterval = Duration.milliseconds(200)
    /// How long the calls that end the lives may take.
    private static let endTimeout = Duration.seconds(3)

    private let setting: Scenario.Setting
    let cast: [EveningLive]
    /// Runs the clients of all members.
    private let hub: ClientHub
    /// The hosts and viewers of all lives, by user id.
    private let members: [String: EveningMember]
    /// The app's own server, which sends scores, adds gifts, and reads the stage.
    let appServer: EveningMember
    private let state: Locked<State>

    /// Makes the clients, which begin to connect.
    ///
    /// - Parameters:
    ///   - setting: the gateways, tokens, and where to print. Its name is part of the clients' session names.
    ///   - seed: the seed of the script; equal seeds lead to equal evenings.
    ///   - cast: the lives with their users.
    /// - Throws: an error when the system has no thread or descriptor left.
    package init(_ setting: Scenario.Setting, seed: UInt64, cast: [EveningLive] = EveningCast.lives) throws {
        let hub = try ClientHub()
        // The session's name contains the setting's name, so that each run has its own sessions: in an old session, the
        // calls of this run would repeat request ids of an earlier run.
        func makeMember(_ id: String, _ name: String, live: Int?) -> EveningMember {
            EveningMember(id, live: live) {
                // Only the app's own server is not in a live.
                let isServer = live == nil
                let options = BareClientCore.Options(
                    token: setting.token(id, isServer), session: SessionID("\(id)-\(setting.name)"), name: name)
                // A queue of 200 updates suffices, because old updates are not needed.
                return hub.client(addresses: setting.addresses, options: options, updates: 200)
            }
        }
        var members: [String: EveningMember] = [:]
        for (index, live) in cast.enumerated() {
            members[live.hostID] = makeMember(live.hostID, live.host, live: index)
            for viewer in 0..<live.viewerCount {
                let id = live.viewerID(viewer)
                members[id] = makeMember(id, live.viewerName(viewer), live: index)
            }
        }
        self.setting = setting
        self.cast = cast
        self.hub = hub
        self.members = members
        self.appServer = makeMember("evening-shop", "Shop", live: nil)
        self.state = Locked(State(script: EveningScript(seed: seed, cast: cast)))
    }

    /// Plays until the task is cancelled or the time is over, and then ends the lives.
    package func play(for duration: Duration? = nil) async {
        await withTaskGroup { group in
            for member in self.members.values {
                // `sendCalls` calls `enter` when the member is not in its live although a call requires it.
                group.addTask { await member.sendCalls { await self.enter(member) } }
                group.addTask { await member.receiveUpdates { self.updateReceived($0, by: member) } }
            }
            // The app's server need not join a live.
            group.addTask { await self.appServer.sendCalls {} }
            group.addTask { await self.appServer.receiveUpdates { _ in } }
            await self.openLives()
            group.addTask { await self.scoreBattlesOfVisitors() }
            await self.performActions(for: duration)
            // The tasks above run until they are cancelled.
            group.cancelAll()
        }
        await self.endLives()
        self.hub.stop()
    }

    /// Opens all lives, and lets the first viewers join.
    private func openLives() async {
        await withTaskGroup { group in
            group.addTask { await self.putGifts() }
            for live in self.cast { group.addTask { await self.openLive(live) } }
        }
        guard !Task.isCancelled else { return }
        for action in self.state.withLock({ $0.script.openingActions() }) { self.perform(action) }
        for live in self.cast { self.setting.say("• \(live.host) is live: \(live.title) (\(live.id))") }
    }

    /// Opens one live: the host and the first viewer join it, and the host makes this viewer an admin.
    private func openLive(_ live: EveningLive) async {
        guard let host = self.members[live.hostID], let admin = self.members[live.viewerID(0)] else { return }
        // The host tries again until it has joined the live.
        while !Task.isCancelled {
            guard let error = await self.enter(host) else { break }
            self.setting.say("\(live.id) waits: \(error.code.name), \(error.message)")
            try? await Task.sleep(for: .seconds(2))
        }
        if !live.product.isEmpty {
            await host.call(EveningCall("metadata.set", CallParams(live: LiveID(live.id), metadata: live.product)))
        }
        await self.enter(admin)
        await host.call(EveningCall("admin.set", CallParams(live: LiveID(live.id), user: UserID(admin.id))))
    }

    /// Lets a member join its live; does nothing for the app's own server, which is not in a live.
    ///
    /// A host creates its live first. If the live exists from an earlier evening, the host continues it.
    ///
    /// - Returns: the error; nil if the member has joined.
    @discardableResult
    private func enter(_ member: EveningMember) async -> ReplyError? {
        guard let index = member.live else { return nil }
        let live = self.cast[index]
        if member.id == live.hostID, let error = await member.call(EveningCall(creating: live)) { return error }
        return await member.call(EveningCall("live.join", CallParams(live: LiveID(live.id))))
    }

    /// Adds the evening's gifts to the app's catalogue; a failure is only printed.
    private func putGifts() async {
        struct CategoryParams: Encodable, Sendable { var category: GiftCategory }
        struct GiftParams: Encodable, Sendable {
            var gift: Gift
            var category: GiftCategoryID
        }
        var lastError = await self.appServer.call(
            EveningCall("app.putCategory", CategoryParams(category: EveningCast.category)))
        for gift in EveningCast.gifts {
            let params = GiftParams(gift: gift, category: EveningCast.category.categoryID)
            if let error = await self.appServer.call(EveningCall("app.putGift", params)) { lastError = error }
        }
        if let error = lastError { self.setting.say("there may be no gifts: \(error.code.name), \(error.message)") }
    }

    /// Performs the actions of the script until the task is cancelled or the time is over, and reads the stage each
    /// second.
    private func performActions(for duration: Duration?) async {
        let startedAt = ContinuousClock.now
        var nextStageReadAt = startedAt
        while !Task.isCancelled {
            let elapsed = ContinuousClock.now - startedAt
            if let duration, elapsed >= duration { return }
            if ContinuousClock.now >= nextStageReadAt {
                nextStageReadAt = ContinuousClock.now + .seconds(1)
                await self.readStage()
            }
            let elapsedMilliseconds = Milliseconds(elapsed).count
            let actions = self.state.withLock { $0.script.takeActions(until: elapsedMilliseconds) }
            for action in actions { self.perform(action) }
            try? await Task.sleep(for: Self.stepInterval)
        }
    }

    /// Queues the call of an action: at the app's server for a score, at the action's user for any other action.
    ///
    /// An action without a call, such as a score while no battle runs, is skipped.
    private func perform(_ action: EveningAction) {
        let battle = self.state.withLock { $0.battle }
        guard let call = EveningCall(action, cast: self.cast, battle: battle) else { return }
        if case .score = action.kind { self.appServer.post(call) } else { self.members[action.user]?.post(call) }
    }

    /// Reads the stage of the first live, and passes it to the script.
    private func readStage() async {
        guard let live = self.cast.first.map({ LiveID($0.id) }) else { return }
        let result = await self.appServer.result(of: EveningCall("stage.get", CallParams(live: live)))
        guard case .success(.stage(let record?)) = result else { return }
        // The stage shows an ended battle for a while.
        let runningBattle = record.battle.flatMap { $0.ended == nil ? $0.id : nil }
        let stageWithoutBattle: EveningStage = record.connection != nil ? .connected : .disconnected
        let stage = runningBattle != nil ? .battling : stageWithoutBattle
        self.state.withLock { state in
            state.battle = runningBattle
            state.script.noteStage(stage)
        }
    }

    /// Handles an update of a host: answers a notice, or lets the admin welcome users who have joined.
    ///
    /// Updates of other members are ignored.
    private func updateReceived(_ update: ClientUpdate, by member: EveningMember) {
        guard let index = member.live, member.id == self.cast[index].hostID else { return }
        switch update {
        case .event(.notice(let notice)):
            if let call = EveningCall(answering: notice.content, live: index, cast: self.cast) { member.post(call) }
        case .feed(let entries, _):
            for case .audienceJoined(let user, _) in entries.map(\.content) {
                let welcome = self.state.withLock { $0.script.takeWelcome(of: user.userName, live: index) }
                if let welcome { self.perform(welcome) }
            }
        default: break
        }
    }

    /// Ends the lives; calls that are not answered within `endTimeout` fail, and their lives remain for the next
    /// evening.
    private func endLives() async {
        let timeoutTask = Task {
            // The sleep throws if this task is cancelled, because all calls have ended in time.
            guard (try? await Task.sleep(for: Self.endTimeout)) != nil else { return }
            for member in self.members.values { member.stop() }
        }
        await withTaskGroup { group in
            for live in self.cast {
                group.addTask {
                    await self.members[live.hostID]?.call(EveningCall("live.end", CallParams(live: LiveID(live.id))))
                }
            }
        }
        timeoutTask.cancel()
    }
}

// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import MachineKit
internal import PlazaModel
internal import ProtocolClient

/// Plays an evening with real clients: lasting lives with chat, gifts, guests on seats and battles.
///
/// `EveningScript` decides; this type only performs. Clients resume by themselves when a gateway is killed.
package struct EveningRunner: Sendable {
    /// What the script decides from, and the battle that runs.
    private struct Shared {
        var script: EveningScript
        var battle: BattleID?
    }

    private static let step = Duration.milliseconds(200)
    /// How long the end of the lives may take.
    private static let endTimeout = Duration.seconds(3)

    private let setting: Scenario.Setting
    private let cast: [EveningLive]
    private let hub: ClientHub
    private let members: [String: EveningMember]
    private let shop: EveningMember
    private let state: Locked<Shared>

    /// Makes the clients, which begin to connect.
    ///
    /// - Parameters:
    ///   - setting: the gateways, tokens, and where to print; the name is part of the clients' sessions.
    ///   - seed: the same seed plays the same evening.
    ///   - cast: the lives and who is in them.
    /// - Throws: an error when the system has no thread or descriptor left.
    package init(_ setting: Scenario.Setting, seed: UInt64, cast: [EveningLive] = EveningCast.lives) throws {
        let hub = try ClientHub()
        // A session of its own in each run: the calls of an earlier run have the same ids.
        func member(_ id: String, _ name: String, live: Int?) -> EveningMember {
            EveningMember(id, live: live) {
                let options = ClientCore.Options(
                    token: setting.token(id, live == nil), session: SessionID("\(id)-\(setting.name)"), name: name)
                return hub.client(addresses: setting.addresses, options: options, updates: 200)
            }
        }
        var members: [String: EveningMember] = [:]
        for (index, live) in cast.enumerated() {
            members[live.hostID] = member(live.hostID, live.host, live: index)
            for viewer in 0..<live.viewerCount {
                let id = live.viewerID(viewer)
                members[id] = member(id, live.viewerName(viewer), live: index)
            }
        }
        self.setting = setting
        self.cast = cast
        self.hub = hub
        self.members = members
        self.shop = member("evening-shop", "Shop", live: nil)
        self.state = Locked(Shared(script: EveningScript(seed: seed, cast: cast)))
    }

    /// Plays until the task is cancelled or the time is over, and then ends the lives.
    package func play(for duration: Duration? = nil) async {
        await withTaskGroup { group in
            for member in self.members.values {
                group.addTask { await member.sendCalls { await self.enter(member) } }
                group.addTask { await member.receiveUpdates { self.received($0, by: member) } }
            }
            group.addTask { await self.shop.sendCalls {} }
            group.addTask { await self.shop.receiveUpdates { _ in } }
            await self.open()
            await self.run(for: duration)
            group.cancelAll()
        }
        await self.endLives()
        self.hub.stop()
    }

    /// Opens all lives, and lets the first viewers in.
    private func open() async {
        await withTaskGroup { group in
            group.addTask { await self.putGifts() }
            for (index, live) in self.cast.enumerated() {
                group.addTask { await self.open(live, index) }
            }
        }
        guard !Task.isCancelled else { return }
        for action in self.state.withLock({ $0.script.opening() }) { self.perform(action) }
        for live in self.cast { self.setting.say("• \(live.host) is live: \(live.title) (\(live.id))") }
    }

    private func open(_ live: EveningLive, _ index: Int) async {
        guard let host = self.members[live.hostID], let admin = self.members[live.viewerID(0)] else { return }
        while !Task.isCancelled {
            guard let error = await self.enter(host) else { break }
            self.setting.say("\(live.id) waits: \(error.code.name), \(error.message)")
            try? await Task.sleep(for: .seconds(2))
        }
        if !live.product.isEmpty {
            await host.call(EveningCall("metadata.set", Params(live: LiveID(live.id), metadata: live.product)))
        }
        await self.enter(admin)
        await host.call(EveningCall("admin.set", Params(live: LiveID(live.id), user: admin.id)))
    }

    /// Brings a member into its live; a host creates it first, which continues one that is there.
    @discardableResult
    private func enter(_ member: EveningMember) async -> ReplyError? {
        guard let index = member.live else { return nil }
        let live = self.cast[index]
        if member.id == live.hostID, let error = await member.call(EveningCall(creating: live)) { return error }
        return await member.call(EveningCall("live.join", Params(live: LiveID(live.id))))
    }

    private func putGifts() async {
        struct CategoryParams: Encodable, Sendable { var category: GiftCategory }
        struct GiftParams: Encodable, Sendable {
            var gift: Gift
            var category: GiftCategoryID
        }
        var error = await self.shop.call(
            EveningCall("app.putCategory", CategoryParams(category: EveningCast.category)))
        for gift in EveningCast.gifts {
            let params = GiftParams(gift: gift, category: EveningCast.category.categoryID)
            if let failure = await self.shop.call(EveningCall("app.putGift", params)) { error = failure }
        }
        if let error { self.setting.say("there may be no gifts: \(error.code.name), \(error.message)") }
    }

    /// Performs what the script decides, in steps.
    private func run(for duration: Duration?) async {
        let begin = ContinuousClock.now
        var nextReading = begin
        while !Task.isCancelled {
            let elapsed = ContinuousClock.now - begin
            if let duration, elapsed >= duration { return }
            if ContinuousClock.now >= nextReading {
                nextReading = ContinuousClock.now + .seconds(1)
                await self.readStage()
            }
            let time = Milliseconds(elapsed).count
            for action in self.state.withLock({ $0.script.actions(until: time) }) { self.perform(action) }
            try? await Task.sleep(for: Self.step)
        }
    }

    private func perform(_ action: EveningAction) {
        let battle = self.state.withLock { $0.battle }
        guard let call = EveningCall(action, cast: self.cast, battle: battle) else { return }
        if case .score = action.kind { self.shop.post(call) } else { self.members[action.user]?.post(call) }
    }

    /// Reads what the first live's stage shows.
    private func readStage() async {
        guard let live = self.cast.first.map({ LiveID($0.id) }) else { return }
        let result = await self.shop.result(of: EveningCall("stage.get", Params(live: live)))
        guard case .success(.stage(let record?)) = result else { return }
        let battle = record.battle.flatMap { $0.ended == nil ? $0.id : nil }
        let stage: EveningStage = battle != nil ? .battling : record.connection != nil ? .connected : .apart
        self.state.withLock { state in
            state.battle = battle
            state.script.observed(stage)
        }
    }

    /// A host answers notices, and sees who enters; other members only keep up.
    private func received(_ update: ClientUpdate, by member: EveningMember) {
        guard let index = member.live, member.id == self.cast[index].hostID else { return }
        switch update {
        case .event(.notice(let notice)):
            if let call = EveningCall(answering: notice.content, live: index, cast: self.cast) { member.post(call) }
        case .feed(let entries, _):
            for case .audienceJoined(let user, _) in entries.map(\.content) {
                let welcome = self.state.withLock { $0.script.entered(user.userName, live: index) }
                if let welcome { self.perform(welcome) }
            }
        default: break
        }
    }

    /// Ends the lives; after `endTimeout` the calls fail, and the lives stay for the next evening.
    private func endLives() async {
        let timer = Task {
            guard (try? await Task.sleep(for: Self.endTimeout)) != nil else { return }
            for member in self.members.values { member.stop() }
        }
        await withTaskGroup { group in
            for live in self.cast {
                group.addTask {
                    await self.members[live.hostID]?.call(EveningCall("live.end", Params(live: LiveID(live.id))))
                }
            }
        }
        timer.cancel()
    }
}

// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel

/// The handling of one input for the lives of one app.
///
/// The machine swaps its rows and effects in for the duration of the step.
///
/// A call is checked completely before it changes anything. Therefore a rejected call changes nothing.
struct ConnectionStep {
    let app: AppID
    let moment: Moment
    private let policies: Policies
    var journal = Journal<ConnectionKey, ConnectionRow>()
    var effects: [Effect] = []
    /// The cached indices of rows in the journal, because a step reads few rows, but reads them often.
    private var rowIndices: [RowIndex] = []
    /// Lives whose seat machines must be notified, in the order in which they first changed.
    private var changedLives: [ChangedLive] = []
    /// The battles that ended in this step, with their results.
    var battlesEndedInStep: [BattleView] = []
    /// The results of those battles for lives that leave the connection in the same step, so that their viewers see
    /// the result once.
    var resultsForLeavers: [(live: LiveID, battle: BattleView)] = []

    private struct RowIndex {
        let kind: ConnectionKey.Kind
        let name: String
        let index: Int
    }

    private struct ChangedLive {
        let live: LiveID
        var events: [StageEvent]
    }

    init(app: AppID, moment: Moment, policies: Policies) {
        self.app = app
        self.moment = moment
        self.policies = policies
        self.rowIndices.reserveCapacity(4)
    }

    var policy: AppPolicy { self.policies[self.app] }

    // MARK: - Rows

    /// The live, if it is running.
    mutating func live(_ id: LiveID) -> CopyOnWrite<HostedLive>? {
        if case .live(let live)? = self.row(.live, id.text) { live } else { nil }
    }

    /// Changes the live in place, if there is one.
    ///
    /// - Returns: what `change` returns, or nil when there is no such live.
    @discardableResult
    mutating func update<R>(_ id: LiveID, _ change: (inout HostedLive) -> R) -> R? {
        guard let index = self.rowIndex(.live, id.text) else { return nil }
        return self.journal.update(at: index) { row in row.changeLive(change) } ?? nil
    }

    /// Stores the live; nil removes it.
    mutating func set(_ id: LiveID, _ live: HostedLive?) {
        self.set(.live, id.text, live.map { .live(live: CopyOnWrite($0)) })
    }

    mutating func connection(of id: LiveID) -> ConnectionID? { self.live(id)?.value.connection }

    mutating func connection(_ id: ConnectionID?) -> ConnectionView? {
        if let id, case .connection(let view)? = self.row(.connection, id.text) { view } else { nil }
    }

    /// Stores the connection; nil removes it.
    mutating func set(_ id: ConnectionID, _ view: ConnectionView?) {
        self.set(.connection, id.text, view.map { .connection(connection: $0) })
    }

    mutating func battle(_ id: BattleID?) -> Battle? {
        if let id, case .battle(let battle)? = self.row(.battle, id.text) { battle } else { nil }
    }

    /// Stores the battle; nil removes it.
    mutating func set(_ id: BattleID, _ battle: Battle?) {
        self.set(.battle, id.text, battle.map { .battle(battle: $0) })
    }

    private mutating func row(_ kind: ConnectionKey.Kind, _ name: String) -> ConnectionRow? {
        guard let index = self.rowIndex(kind, name) else { return nil }
        return self.journal.row(at: index)
    }

    /// The index of a row in the journal, if the row exists or existed earlier in this step.
    private mutating func rowIndex(_ kind: ConnectionKey.Kind, _ name: String) -> Int? {
        for cached in self.rowIndices.indices
        where self.rowIndices[cached].kind == kind && self.rowIndices[cached].name == name {
            return self.rowIndices[cached].index
        }
        guard let index = self.journal.index(of: ConnectionKey(kind, self.app, name)) else { return nil }
        self.rowIndices.append(RowIndex(kind: kind, name: name, index: index))
        return index
    }

    /// Writes a row without comparing it with the old one, because it has most likely changed.
    private mutating func set(_ kind: ConnectionKey.Kind, _ name: String, _ row: ConnectionRow?) {
        if let row, let index = self.rowIndex(kind, name), self.journal.update(at: index, { $0 = row }) != nil {
            return
        }
        self.journal[ConnectionKey(kind, self.app, name)] = row
    }

    /// The revocation fence of the live; an empty fence if it has kicked nobody.
    func fence(of id: LiveID) -> RevocationFence {
        if case .fence(let fence)? = self.journal[.fence(LiveKey(self.app, id))] {
            fence
        } else {
            RevocationFence()
        }
    }

    /// The live as a member of its connection; a live without a connection is shown as if it joined one now.
    mutating func member(_ id: LiveID) -> ConnectionMember {
        let connection = self.connection(of: id)
        if let member = self.connection(connection)?.members.first(where: { $0.live == id }) { return member }
        return ConnectionMember(
            live: id, host: self.live(id)?.value.owner ?? UserInfo(userID: ""), joinedAt: self.moment.now)
    }

    // MARK: - Notifications

    /// Marks that the live's seat machine must be notified, with `event` if there is one.
    mutating func markChanged(_ live: LiveID, _ event: StageEvent? = nil) {
        for index in self.changedLives.indices where self.changedLives[index].live == live {
            if let event { self.changedLives[index].events.append(event) }
            return
        }
        self.changedLives.append(ChangedLive(live: live, events: event.map { [$0] } ?? []))
    }

    /// Sends each changed live's seat machine its connection and battle, and the events that changed them.
    ///
    /// Called once in each step.
    mutating func notifySeatMachines() {
        let moment = self.moment
        // The battles of the last live's connection, because the changed lives are mostly in the same connection.
        var battles: (connection: ConnectionID, all: [BattleView])?
        for changed in self.changedLives {
            let id = changed.live
            let revision = self.update(id) { live in
                live.revision = Revision.next(after: live.revision, at: moment)
                return live.revision
            }
            guard let revision else { continue }
            let shown = self.live(id)?.value.battle
            let battle = self.battle(shown)?.view ?? self.resultsForLeavers.first { $0.live == id }?.battle
            let view = self.view(for: id)
            if let view, battles?.connection != view.id { battles = (view.id, self.battles(of: view)) }
            var others = view == nil ? [] : (battles?.all ?? []).filter { $0.id != battle?.id }
            // An ended battle that no live shows any more is sent once more, with its result.
            for case .battleEnded(let ended, _) in changed.events {
                guard ended != battle?.id, !others.contains(where: { $0.id == ended }) else { continue }
                others += self.battlesEndedInStep.filter { $0.id == ended }
            }
            let command = SeatCommand.connection(
                view: view, battle: battle, revision: revision, events: changed.events,
                otherBattles: others.isEmpty ? nil : others)
            self.effects.append(.seat(SeatInput(LiveKey(self.app, id), command)))
        }
        self.changedLives = []
        self.resultsForLeavers = []
    }

    /// Sends a notice to the owner of `id`.
    mutating func notify(_ id: LiveID, _ content: NoticeContent) {
        guard let owner = self.live(id)?.value.owner.userID else { return }
        self.effects.append(
            .notice(
                Notice(to: UserKey(self.app, owner), live: id, at: self.moment.now, content: content)))
    }
}

// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel

/// Handles one input, or one row that has fallen due, for the lives of one app.
///
/// The connection machine moves its rows and effects into the step, and back when the step is over.
///
/// A call is checked completely before it changes anything. Therefore a rejected call changes nothing.
struct ConnectionStep {
    let app: AppID
    let moment: Moment
    private let policies: Policies
    var journal = Journal<ConnectionKey, ConnectionRow>()
    var effects: [Effect] = []
    /// The rows that this step has looked up in the journal; a step uses few rows, but each of them often.
    private var foundRows: [FoundRow] = []
    /// Lives whose seat machines must be notified, in the order in which they first changed.
    private var changedLives: [ChangedLive] = []
    /// The battles that ended in this step, with their results.
    var battlesEndedInStep: [BattleView] = []
    /// The battles that ended in this step and that a live has stopped showing since, each with that live.
    ///
    /// The row of such a live no longer names the battle, so `notifySeatMachines` finds the result here.
    var hiddenResults: [(live: LiveID, battle: BattleView)] = []

    /// Where the journal has the row with this kind and name.
    private struct FoundRow {
        let kind: ConnectionKey.Kind
        let name: String
        let journalIndex: Int
    }

    /// A live whose seat machine must be notified, with the events that changed the live.
    private struct ChangedLive {
        let live: LiveID
        var events: [StageEvent]
    }

    init(app: AppID, moment: Moment, policies: Policies) {
        self.app = app
        self.moment = moment
        self.policies = policies
        // Few steps look up more than four rows.
        self.foundRows.reserveCapacity(4)
    }

    var policy: AppPolicy { self.policies[self.app] }

    // MARK: - Rows

    /// The live, if it is running.
    ///
    /// Like most look-ups of a step it is mutating, because it stores where the row is.
    mutating func live(_ id: LiveID) -> CopyOnWrite<HostedLive>? {
        if case .live(let live)? = self.row(.live, id.text) { live } else { nil }
    }

    /// Changes the live in place, if there is one.
    ///
    /// - Returns: what `change` returns, or nil when there is no such live.
    @discardableResult
    mutating func updateLive<R>(_ id: LiveID, _ change: (inout HostedLive) -> R) -> R? {
        guard let index = self.journalIndex(.live, id.text) else { return nil }
        // `?? nil` flattens the double Optional: `update` returns nil if this step has removed the row, and
        // `changeLive` returns nil if the row is not that of a live.
        return self.journal.update(at: index) { row in row.changeLive(change) } ?? nil
    }

    /// Stores the live; nil removes it.
    mutating func setLive(_ id: LiveID, _ live: HostedLive?) {
        self.setRow(.live, id.text, live.map { .live(live: CopyOnWrite($0)) })
    }

    /// The id of the connection in which the live is; nil when it is in none.
    mutating func connectionID(of id: LiveID) -> ConnectionID? { self.live(id)?.value.connection }

    /// The connection with this id, if there is one.
    mutating func connection(_ id: ConnectionID?) -> ConnectionView? {
        if let id, case .connection(let view)? = self.row(.connection, id.text) { view } else { nil }
    }

    /// Stores the connection; nil removes it.
    mutating func setConnection(_ id: ConnectionID, _ view: ConnectionView?) {
        self.setRow(.connection, id.text, view.map { .connection(connection: $0) })
    }

    /// The battle with this id, if there is one.
    mutating func battle(_ id: BattleID?) -> Battle? {
        if let id, case .battle(let battle)? = self.row(.battle, id.text) { battle } else { nil }
    }

    /// Stores the battle; nil removes it.
    mutating func setBattle(_ id: BattleID, _ battle: Battle?) {
        self.setRow(.battle, id.text, battle.map { .battle(battle: $0) })
    }

    /// The row of this app with this kind and name; nil when there is none.
    private mutating func row(_ kind: ConnectionKey.Kind, _ name: String) -> ConnectionRow? {
        guard let index = self.journalIndex(kind, name) else { return nil }
        return self.journal.row(at: index)
    }

    /// The index of a row in the journal, if the row exists or existed earlier in this step.
    private mutating func journalIndex(_ kind: ConnectionKey.Kind, _ name: String) -> Int? {
        for position in self.foundRows.indices
        where self.foundRows[position].kind == kind && self.foundRows[position].name == name {
            return self.foundRows[position].journalIndex
        }
        guard let index = self.journal.index(of: ConnectionKey(kind, self.app, name)) else { return nil }
        self.foundRows.append(FoundRow(kind: kind, name: name, journalIndex: index))
        return index
    }

    /// Stores a row; nil removes it.
    private mutating func setRow(_ kind: ConnectionKey.Kind, _ name: String, _ row: ConnectionRow?) {
        // An existing row is replaced by `update`. The subscript would first compare it with the new row, which is a
        // waste, because the two most likely differ.
        if let row, let index = self.journalIndex(kind, name), self.journal.update(at: index, { $0 = row }) != nil {
            return
        }
        self.journal[ConnectionKey(kind, self.app, name)] = row
    }

    /// The revocation fence of the live (the lowest tickets that kicked users may still use); empty if the live has
    /// kicked nobody.
    func fence(of id: LiveID) -> RevocationFence {
        if case .fence(let fence)? = self.journal[.fence(LiveKey(self.app, id))] {
            fence
        } else {
            RevocationFence()
        }
    }

    /// The live as a member of its connection; a live without a connection is described as if it joined one now.
    mutating func member(_ id: LiveID) -> ConnectionMember {
        let connectionID = self.connectionID(of: id)
        if let member = self.connection(connectionID)?.members.first(where: { $0.live == id }) { return member }
        // The empty host is not reached: a live leaves all connections, requests and battles before its row is removed.
        let host = self.live(id)?.value.owner ?? UserInfo(userID: "")
        return ConnectionMember(live: id, host: host, joinedAt: self.moment.now)
    }

    // MARK: - Notifications

    /// Records that `notifySeatMachines` must notify the live's seat machine of a change, and of `event` if there is
    /// one.
    mutating func markChanged(_ live: LiveID, _ event: StageEvent? = nil) {
        for index in self.changedLives.indices where self.changedLives[index].live == live {
            if let event { self.changedLives[index].events.append(event) }
            return
        }
        let events = if let event { [event] } else { [StageEvent]() }
        self.changedLives.append(ChangedLive(live: live, events: events))
    }

    /// Sends the connection and the battle of each changed live, with the events of the change, to its seat machine.
    ///
    /// Afterwards no live counts as changed, so a second call in the same step sends only later changes.
    mutating func notifySeatMachines() {
        let moment = self.moment
        // The battles of the connection that was read last. The changed lives are usually all in one connection, so
        // its battles are read only once.
        var cachedBattles: (connection: ConnectionID, battles: [BattleView])?
        for changed in self.changedLives {
            let id = changed.live
            let revision = self.updateLive(id) { live in
                live.revision = Revision.next(after: live.revision, at: moment)
                return live.revision
            }
            // Nil means that the live is no longer running, so it has no stage.
            guard let revision else { continue }
            let shownBattleID = self.live(id)?.value.battle
            let battle = self.battle(shownBattleID)?.view ?? self.hiddenResults.first { $0.live == id }?.battle
            let view = self.connectionView(for: id)
            if let view, cachedBattles?.connection != view.id { cachedBattles = (view.id, self.battles(of: view)) }
            // The battles that other lives of the connection show.
            var otherBattles = view == nil ? [] : (cachedBattles?.battles ?? []).filter { $0.id != battle?.id }
            // An ended battle that no live shows any more is sent once more, with its result.
            for case .battleEnded(let endedID, _) in changed.events {
                guard endedID != battle?.id, !otherBattles.contains(where: { $0.id == endedID }) else { continue }
                otherBattles += self.battlesEndedInStep.filter { $0.id == endedID }
            }
            let command = SeatCommand.connection(
                view: view, battle: battle, revision: revision, events: changed.events,
                otherBattles: otherBattles.isEmpty ? nil : otherBattles)
            self.effects.append(.seat(SeatInput(LiveKey(self.app, id), command)))
        }
        self.changedLives = []
        self.hiddenResults = []
    }

    /// Sends a notice to the owner of the live.
    mutating func notifyOwner(of id: LiveID, _ content: NoticeContent) {
        guard let owner = self.live(id)?.value.owner.userID else { return }
        self.effects.append(
            .notice(
                Notice(to: UserKey(self.app, owner), live: id, at: self.moment.now, content: content)))
    }
}

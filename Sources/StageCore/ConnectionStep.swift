// SPDX-License-Identifier: Apache-2.0
import CoreKit
import PlazaModel

/// One input at work on the lives of one app: the rows, lent for the time, and what follows.
///
/// Calls check everything before they change anything, so a refused call leaves no trace of itself.
struct ConnectionStep {
    let app: AppID
    let moment: Moment
    private let policies: Policies
    var journal = Journal<ConnectionKey, ConnectionRow>()
    var effects: [Effect] = []
    /// Where lives, connections and battles stand in the journal: a step comes back to few of them often.
    private var places: [Place] = []
    /// Lives whose seat machine is to be told, in the order in which they were first touched.
    private var touched: [Touched] = []
    /// Battles that ended in this step, with their results.
    var endedHere: [BattleView] = []
    /// Results of such battles for lives that leave the connection in the same step: viewers see them once more.
    private var results: [(live: LiveID, battle: BattleView)] = []

    private struct Place {
        let kind: ConnectionKey.Kind
        let name: String
        let place: Int
    }

    private struct Touched {
        let live: LiveID
        var events: [StageEvent]
    }

    init(app: AppID, moment: Moment, policies: Policies) {
        self.app = app
        self.moment = moment
        self.policies = policies
        self.places.reserveCapacity(4)
    }

    var policy: AppPolicy { self.policies[self.app] }

    // MARK: - Rows

    /// The live as it stands; nil: there is none.
    mutating func live(_ id: LiveID) -> Boxed<HostedLive>? {
        if case .live(let live)? = self.row(.live, id.text) { live } else { nil }
    }

    /// Changes the live in place, if there is one.
    ///
    /// - Returns: what `change` returns, or nil when there is no such live.
    @discardableResult
    mutating func update<R>(_ id: LiveID, _ change: (inout HostedLive) -> R) -> R? {
        guard let place = self.place(.live, id.text) else { return nil }
        return self.journal.update(at: place) { row in row.changeLive(change) } ?? nil
    }

    /// Begins, or with nil removes, the live.
    mutating func set(_ id: LiveID, _ live: HostedLive?) {
        self.set(.live, id.text, live.map { .live(live: Boxed($0)) })
    }

    mutating func connection(of id: LiveID) -> ConnectionID? { self.live(id)?.value.connection }

    mutating func connection(_ id: ConnectionID?) -> ConnectionView? {
        if let id, case .connection(let view)? = self.row(.connection, id.text) { view } else { nil }
    }

    /// Begins, changes, or with nil removes, the connection.
    mutating func set(_ id: ConnectionID, _ view: ConnectionView?) {
        self.set(.connection, id.text, view.map { .connection(connection: $0) })
    }

    mutating func battle(_ id: BattleID?) -> Battle? {
        if let id, case .battle(let battle)? = self.row(.battle, id.text) { battle } else { nil }
    }

    /// Begins, changes, or with nil removes, the battle.
    mutating func set(_ id: BattleID, _ battle: Battle?) {
        self.set(.battle, id.text, battle.map { .battle(battle: $0) })
    }

    private mutating func row(_ kind: ConnectionKey.Kind, _ name: String) -> ConnectionRow? {
        guard let place = self.place(kind, name) else { return nil }
        return self.journal.row(at: place)
    }

    /// Where a row stands, if it is there or was when the step came to it.
    private mutating func place(_ kind: ConnectionKey.Kind, _ name: String) -> Int? {
        for index in self.places.indices where self.places[index].kind == kind && self.places[index].name == name {
            return self.places[index].place
        }
        guard let place = self.journal.place(of: ConnectionKey(kind, self.app, name)) else { return nil }
        self.places.append(Place(kind: kind, name: name, place: place))
        return place
    }

    /// Writes a row that most likely differs from what is there.
    private mutating func set(_ kind: ConnectionKey.Kind, _ name: String, _ row: ConnectionRow?) {
        if let row, let place = self.place(kind, name), self.journal.update(at: place, { $0 = row }) != nil { return }
        self.journal[ConnectionKey(kind, self.app, name)] = row
    }

    func floors(of id: LiveID) -> Floors {
        if case .floors(let floors)? = self.journal[.floors(LiveKey(self.app, id))] { floors } else { Floors() }
    }

    /// The live as others see it in a connection; one that is in none would join now.
    mutating func member(_ id: LiveID) -> ConnectionMember {
        let connection = self.connection(of: id)
        if let member = self.connection(connection)?.members.first(where: { $0.live == id }) { return member }
        return ConnectionMember(
            live: id, host: self.live(id)?.value.owner ?? UserInfo(userID: ""), joinedAt: self.moment.now)
    }

    // MARK: - What is told

    /// The live's seat machine is to be told, with `event` if anything happened that has a name.
    mutating func touch(_ live: LiveID, _ event: StageEvent? = nil) {
        for index in self.touched.indices where self.touched[index].live == live {
            if let event { self.touched[index].events.append(event) }
            return
        }
        self.touched.append(Touched(live: live, events: event.map { [$0] } ?? []))
    }

    /// The live shows no battle any more; the last to do so removes it.
    mutating func hideBattle(of id: LiveID) {
        let shown = self.live(id)?.value.battle
        guard let battle = self.battle(shown), let view = battle.view else { return }
        if self.endedHere.contains(where: { $0.id == battle.id }) { self.results.append((id, view)) }
        self.update(id) { $0.battle = nil }
        if self.lives(showing: battle).isEmpty { self.set(battle.id, nil) }
    }

    /// The lives that show the battle: its sides, then the others of the connection, but those that have gone on to
    /// another battle or connection.
    mutating func lives(showing battle: Battle) -> [LiveID] {
        let sides = (battle.view?.sides ?? []).map(\.live)
        let others = self.connection(battle.connection)?.members.map(\.live) ?? []
        return (sides + others.filter { !sides.contains($0) }).filter { live in
            self.live(live)?.value.battle == battle.id
        }
    }

    /// The lives that hear of the battle: its sides, then the others of the connection, whatever they show themselves.
    mutating func lives(hearing battle: Battle) -> [LiveID] {
        let sides = (battle.view?.sides ?? []).map(\.live)
        let others = self.connection(battle.connection)?.members.map(\.live) ?? []
        return (sides + others.filter { !sides.contains($0) }).filter { live in
            battle.connection != nil && self.connection(of: live) == battle.connection
        }
    }

    /// The battles that lives of the connection show, in the order in which they began.
    private mutating func battles(of connection: ConnectionView) -> [BattleView] {
        var battles: [BattleView] = []
        for member in connection.members {
            guard let view = self.battle(self.live(member.live)?.value.battle)?.view else { continue }
            if !battles.contains(where: { $0.id == view.id }) { battles.append(view) }
        }
        return battles.sorted { ($0.startTime, $0.id) < ($1.startTime, $1.id) }
    }

    /// Tells each touched live's seat machine its connection and battle, with what led to it; once a step.
    mutating func tellSeats() {
        let moment = self.moment
        var battles: (connection: ConnectionID, all: [BattleView])?
        for touched in self.touched {
            let id = touched.live
            let revision = self.update(id) { live in
                live.revision = Revision.next(after: live.revision, at: moment)
                return live.revision
            }
            guard let revision else { continue }
            let shown = self.live(id)?.value.battle
            let battle = self.battle(shown)?.view ?? self.results.first { $0.live == id }?.battle
            let view = self.view(for: id)
            if let view, battles?.connection != view.id { battles = (view.id, self.battles(of: view)) }
            var others = view == nil ? [] : (battles?.all ?? []).filter { $0.id != battle?.id }
            // One that ended and that nobody shows any more is seen once.
            for case .battleEnded(let ended, _) in touched.events {
                guard ended != battle?.id, !others.contains(where: { $0.id == ended }) else { continue }
                others += self.endedHere.filter { $0.id == ended }
            }
            let command = SeatCommand.connection(
                view: view, battle: battle, revision: revision, events: touched.events,
                otherBattles: others.isEmpty ? nil : others)
            self.effects.append(.seat(SeatInput(LiveKey(self.app, id), command)))
        }
        self.touched = []
        self.results = []
    }

    /// A notice for the owner of `id`.
    mutating func notify(_ id: LiveID, _ content: NoticeContent) {
        guard let owner = self.live(id)?.value.owner.userID else { return }
        self.effects.append(
            .notice(
                Notice(to: UserKey(self.app, owner), live: id, at: self.moment.now, content: content)))
    }
}

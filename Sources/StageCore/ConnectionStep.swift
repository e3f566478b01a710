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
    private var lives = Shelf<LiveID, HostedLive>()
    private var connections = Shelf<ConnectionID, ConnectionView>()
    private var battles = Shelf<BattleID, Battle>()
    /// Lives whose seat machine is to be told, in the order in which they were first touched.
    private var touched: [Touched] = []
    /// Battles that ended in this step.
    var endedHere: [BattleID] = []
    /// Results of such battles for lives that leave the connection in the same step: viewers see them once more.
    private var results: [(live: LiveID, battle: BattleView)] = []

    private struct Touched {
        let live: LiveID
        var events: [StageEvent]
    }

    init(app: AppID, moment: Moment, policies: Policies) {
        self.app = app
        self.moment = moment
        self.policies = policies
    }

    var policy: AppPolicy { self.policies[self.app] }

    // MARK: - Rows

    mutating func live(_ id: LiveID) -> HostedLive? {
        let place = self.place(of: id)
        return self.lives[place]
    }

    /// One field of a live, without a copy of the rest; nil: there is no such live, or the field is nil.
    mutating func read<Field>(_ id: LiveID, _ body: (borrowing HostedLive) -> Field?) -> Field? {
        let place = self.place(of: id)
        return self.lives.read(place, body) ?? nil
    }

    mutating func connection(of id: LiveID) -> ConnectionID? { self.read(id) { $0.connection } }

    private mutating func place(of id: LiveID) -> Int {
        if let place = self.lives.place(of: id) { return place }
        if case .live(let live)? = self.journal[.live(LiveKey(self.app, id))] { return self.lives.add(id, live) }
        return self.lives.add(id, nil)
    }

    mutating func update(_ id: LiveID, _ change: (inout HostedLive) -> Void) {
        let place = self.place(of: id)
        self.lives.update(place, change)
    }

    /// Begins, or with nil removes, the live.
    mutating func set(_ id: LiveID, _ live: HostedLive?) {
        let place = self.place(of: id)
        self.lives[place] = live
    }

    mutating func connection(_ id: ConnectionID?) -> ConnectionView? {
        guard let id else { return nil }
        let place = self.place(of: id)
        return self.connections[place]
    }

    /// Begins, changes, or with nil removes, the connection.
    mutating func set(_ id: ConnectionID, _ view: ConnectionView?) {
        let place = self.place(of: id)
        self.connections[place] = view
    }

    private mutating func place(of id: ConnectionID) -> Int {
        if let place = self.connections.place(of: id) { return place }
        if case .connection(let view)? = self.journal[.connection(self.app, id)] {
            return self.connections.add(id, view)
        }
        return self.connections.add(id, nil)
    }

    mutating func battle(_ id: BattleID?) -> Battle? {
        guard let id else { return nil }
        let place = self.place(of: id)
        return self.battles[place]
    }

    /// Begins, changes, or with nil removes, the battle.
    mutating func set(_ id: BattleID, _ battle: Battle?) {
        let place = self.place(of: id)
        self.battles[place] = battle
    }

    private mutating func place(of id: BattleID) -> Int {
        if let place = self.battles.place(of: id) { return place }
        if case .battle(let battle)? = self.journal[.battle(self.app, id)] { return self.battles.add(id, battle) }
        return self.battles.add(id, nil)
    }

    /// Writes what has changed; the last thing that a step does.
    mutating func store() {
        let app = self.app
        self.lives.empty { id, live in
            Self.put(live.map { .live(live: $0) }, .live(LiveKey(app, id)), in: &self.journal)
        }
        self.connections.empty { id, view in
            Self.put(view.map { .connection(connection: $0) }, .connection(app, id), in: &self.journal)
        }
        self.battles.empty { id, battle in
            Self.put(battle.map { .battle(battle: $0) }, .battle(app, id), in: &self.journal)
        }
    }

    /// Writes a row that most likely differs from what is there.
    private static func put(
        _ row: ConnectionRow?, _ key: ConnectionKey, in journal: inout Journal<ConnectionKey, ConnectionRow>
    ) {
        if let row {
            let known: Void? = journal.update(key) { $0 = row }
            if known == nil { journal[key] = row }
        } else {
            journal[key] = nil
        }
    }

    func floors(of id: LiveID) -> Floors {
        if case .floors(let floors)? = self.journal[.floors(LiveKey(self.app, id))] { floors } else { Floors() }
    }

    /// The live as others see it in a connection; one that is in none would join now.
    mutating func member(_ id: LiveID) -> ConnectionMember {
        let connection = self.connection(of: id)
        if let member = self.connection(connection)?.members.first(where: { $0.live == id }) { return member }
        return ConnectionMember(
            live: id, host: self.read(id) { $0.owner } ?? UserInfo(userID: ""), joinedAt: self.moment.now)
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
        let shown = self.read(id) { $0.battle }
        guard let battle = self.battle(shown), let view = battle.view else { return }
        if self.endedHere.contains(battle.id) { self.results.append((id, view)) }
        self.update(id) { $0.battle = nil }
        if self.lives(showing: battle).isEmpty { self.set(battle.id, nil) }
    }

    /// The lives that show the battle: its sides, but those that have gone on to another battle or connection.
    mutating func lives(showing battle: Battle) -> [LiveID] {
        (battle.view?.sides ?? []).map(\.live).filter { live in self.read(live) { $0.battle } == battle.id }
    }

    /// Tells each touched live's seat machine its connection and battle, with what led to it; once a step.
    mutating func tellSeats() {
        let moment = self.moment
        for touched in self.touched {
            let id = touched.live
            var revision: Int64?
            self.update(id) {
                $0.revision = Revision.next(after: $0.revision, at: moment)
                revision = $0.revision
            }
            guard let revision else { continue }
            let shown = self.read(id) { $0.battle }
            let battle = self.battle(shown)?.view ?? self.results.first { $0.live == id }?.battle
            let command = SeatCommand.connection(
                view: self.view(for: id), battle: battle, revision: revision, events: touched.events)
            self.effects.append(.seat(SeatInput(LiveKey(self.app, id), command)))
        }
        self.touched = []
        self.results = []
    }

    /// A notice for the owner of `id`.
    mutating func notify(_ id: LiveID, _ content: NoticeContent) {
        guard let owner = self.read(id, { $0.owner.userID }) else { return }
        self.effects.append(
            .notice(
                Notice(to: UserKey(self.app, owner), live: id, at: self.moment.now, content: content)))
    }
}

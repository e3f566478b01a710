// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel
import StageCore

/// Reads the connection machine's effects as seat machines and clients do; collects contradictions between them.
struct ConnectionEffectChecker {
    struct Report {
        var revision: Int64
        var view: ConnectionView?
        var battle: BattleView?
        var others: [BattleView]
    }

    var reports: [LiveID: Report] = [:]
    var openRequests: Set<String> = []
    var opened = 0
    var ended = 0
    var started: Set<BattleID> = []
    /// The end of each battle.
    var results: [BattleID: BattleView] = [:]
    var scores: [BattleID: [LiveID: Int64]] = [:]
    var scoresPublishedAt: [BattleID: Timestamp] = [:]
    var mostMembers = 0
    var wrong: [String] = []

    mutating func check(_ command: ConnectionCommand?, _ effects: [Effect], at now: Timestamp) {
        if let code = effects.code, code != 0, effects.count != 1 {
            self.wrong.append("a refused call left a trace: \(effects)")
        }
        if effects.code == 0, let command { self.check(command, effects.result) }
        for notice in effects.notices { self.check(notice) }
        var lives: Set<LiveID> = []
        var endedHere: Set<BattleID> = []
        for input in effects.seatInputs {
            guard case .connection(let view, let battle, let revision, let events, let others) = input.command
            else { continue }
            let battles = [battle].compactMap(\.self) + (others ?? [])
            if Set(battles.map(\.id)).count != battles.count || others == [] { self.wrong.append("a battle twice") }
            let live = input.key.live
            if command != nil, !lives.insert(live).inserted { self.wrong.append("\(live) was told twice") }
            if let last = self.reports[live], last.revision >= revision {
                self.wrong.append("\(live): an old revision")
            }
            self.reports[live] = Report(revision: revision, view: view, battle: battle, others: others ?? [])
            self.mostMembers = max(self.mostMembers, view?.members.count ?? 0)
            for event in events { self.check(event, battles, live, &endedHere, now) }
            for battle in battles {
                if let result = self.results[battle.id], result != battle {
                    self.wrong.append("I14: \(battle.id) changed after its end")
                }
            }
        }
    }

    private mutating func check(
        _ event: StageEvent, _ battles: [BattleView], _ live: LiveID, _ endedHere: inout Set<BattleID>, _ now: Timestamp
    ) {
        switch event {
        case .battleStarted(let id):
            self.started.insert(id)
            if !battles.contains(where: { $0.id == id }) || self.results[id] != nil {
                self.wrong.append("I14: \(id) started oddly")
            }
        case .battleEnded(let id, let reason):
            if self.results[id] != nil, !endedHere.contains(id) { self.wrong.append("I14: \(id) ended twice") }
            endedHere.insert(id)
            guard let battle = battles.first(where: { $0.id == id }), battle.ended == reason else {
                self.wrong.append("I14: \(live) was not shown the result of \(id)")
                return
            }
            if let other = self.results[id], other != battle { self.wrong.append("I14: two results of \(id)") }
            self.results[id] = battle
            for side in battle.sides where side.score != self.scores[id]?[side.live] ?? 0 {
                self.wrong.append("I14: \(id) ended with a score of \(side.score) for \(side.live)")
            }
        case .battleScored(let id):
            if let last = self.scoresPublishedAt[id], last != now, now - last < Battle.publishInterval {
                self.wrong.append("I14: scores of \(id) were told too soon")
            }
            self.scoresPublishedAt[id] = now
        default: break
        }
    }

    private mutating func open(_ request: String) {
        if !self.openRequests.insert(request).inserted { self.wrong.append("I13: \(request) opened twice") }
        self.opened += 1
    }

    private mutating func end(_ request: String) {
        if self.openRequests.remove(request) == nil { self.wrong.append("I13: \(request) ended, but was not open") }
        self.ended += 1
    }

    /// Counts the end of a request by the one notice that every end sends to exactly one side.
    private mutating func check(_ notice: Notice) {
        switch notice.content {
        case .coHostRequestCancelled(let inviter, let invitee, _) where notice.live == invitee:
            self.end("\(inviter.live)>\(invitee)")
        case .coHostRequestAccepted(let invitee), .coHostRequestRejected(let invitee):
            self.end("\(notice.live)>\(invitee.live)")
        case .coHostRequestTimedOut(let inviter, let invitee, _, _) where notice.live == inviter:
            self.end("\(inviter)>\(invitee)")
        case .battleRequestReceived(let battle, _, _, _, _): self.open("\(battle)/\(notice.live)")
        case .battleRequestAccepted(let battle, let invitee), .battleRequestRejected(let battle, let invitee):
            self.end("\(battle)/\(invitee.live)")
        case .battleRequestTimedOut(let battle, let inviter, let invitee, _, _) where notice.live == inviter:
            self.end("\(battle)/\(invitee)")
        case .battleRequestCancelled(let battle, _, let invitee, _, _):
            // If the invitee has accepted, its request has already ended; then this notice only cancels the battle.
            if self.openRequests.contains("\(battle)/\(invitee)") { self.end("\(battle)/\(invitee)") }
        default: break
        }
    }

    private mutating func check(_ command: ConnectionCommand, _ result: CallResult?) {
        switch (command, result) {
        case (.request(let from, _, _, _, _, _), .coHost(let codes)?):
            for code in codes where code.code == 0 { self.open("\(from)>\(code.live)") }
        case (.updateScores(let battle, let operation, let updates, _), .scores(let codes)?):
            for (update, code) in zip(updates, codes) where code.code == 0 {
                let base = operation == .accumulate ? self.scores[battle]?[update.live] ?? 0 : 0
                self.scores[battle, default: [:]][update.live] = base + update.score
            }
        default: break
        }
    }

    /// Compares the reports with the rows: every member has got every change (I12); only scores may be older.
    mutating func compare(with rows: Journal<ConnectionKey, ConnectionRow>) {
        for key in rows.sortedKeys {
            guard case .live(let box)? = rows[key] else { continue }
            let (id, live) = (key.live, box.value)
            var view: ConnectionView?
            if let connection = live.connection, case .connection(let row)? = rows[.connection(id.app, connection)] {
                view = row
            }
            if self.reports[id.live]?.view != view { self.wrong.append("I12: \(id.live) was not told its connection") }
            self.compareOthers(id, live, view, with: rows)
            var shown = self.reports[id.live]?.battle
            guard let name = live.battle, case .battle(let battle)? = rows[.battle(id.app, name)] else {
                if shown.map({ $0.ended == nil }) == true { self.wrong.append("I14: \(id.live) still shows a fight") }
                continue
            }
            if battle.isDirty, let sides = battle.view?.sides, sides.count == shown?.sides.count {
                for index in sides.indices { shown?.sides[index].score = sides[index].score }
            }
            if shown != battle.view { self.wrong.append("I14: \(id.live) was not told its battle") }
        }
    }

    /// Checks the reported other battles: they include all that other lives of the connection show, and may include
    /// results that no live shows.
    private mutating func compareOthers(
        _ id: LiveKey, _ live: HostedLive, _ view: ConnectionView?, with rows: Journal<ConnectionKey, ConnectionRow>
    ) {
        let told = self.reports[id.live]?.others ?? []
        for member in view?.members ?? [] {
            guard case .live(let box)? = rows[.live(LiveKey(id.app, member.live))], let name = box.value.battle,
                name != live.battle, case .battle(let battle)? = rows[.battle(id.app, name)], let other = battle.view
            else { continue }
            guard var shown = told.first(where: { $0.id == other.id }) else {
                self.wrong.append("I14: \(id.live) was not told of \(other.id)")
                continue
            }
            for (index, side) in other.sides.enumerated() where battle.isDirty { shown.sides[index].score = side.score }
            if shown != other { self.wrong.append("I14: \(id.live) was told of \(other.id) as it is not") }
        }
        for other in told where other.ended == nil {
            let isShown = view?.members.contains { member in
                guard case .live(let box)? = rows[.live(LiveKey(id.app, member.live))] else { return false }
                return box.value.battle == other.id
            }
            if isShown != true { self.wrong.append("I14: \(id.live) still shows \(other.id) beside its own") }
        }
    }
}

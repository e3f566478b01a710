// SPDX-License-Identifier: Apache-2.0
import MachineKit
import MachineTestSupport
import PlazaModel
import StageCore

/// Reads the connection machine's effects as seat machines and clients do; collects contradictions between effects.
struct ConnectionEffectChecker {
    /// What the machine last reported to the seat machine of a live.
    struct Report {
        var revision: Int64
        var view: ConnectionView?
        var battle: BattleView?
        var otherBattles: [BattleView]
    }

    var reports: [LiveID: Report] = [:]
    /// The open requests: `inviter>invitee` is a co-host request, `battle/invitee` a battle request.
    var openRequests: Set<String> = []
    /// How many requests have been opened.
    var openedCount = 0
    /// How many requests have ended.
    var endedCount = 0
    /// The battles that have started.
    var startedBattles: Set<BattleID> = []
    /// The view of each ended battle.
    var results: [BattleID: BattleView] = [:]
    /// The scores that follow from the successful updates.
    var scores: [BattleID: [LiveID: Int64]] = [:]
    /// When the scores of each battle were last reported.
    var scoresPublishedAt: [BattleID: Timestamp] = [:]
    /// The number of lives in the largest connection that was reported.
    var maxMemberCount = 0
    var contradictions: [String] = []

    /// Checks the effects of a command; without a command, the effects are those of the rows that fell due.
    mutating func check(_ command: ConnectionCommand?, _ effects: [Effect], at now: Timestamp) {
        if let code = effects.code, code != .success, effects.count != 1 {
            self.contradictions.append("a rejected call had effects: \(effects)")
        }
        if effects.code == .success, let command { self.recordResult(effects.result, of: command) }
        for notice in effects.notices { self.checkNotice(notice) }
        var notifiedLives: Set<LiveID> = []
        var endedInThisStep: Set<BattleID> = []
        for input in effects.seatInputs {
            guard case .connection(let view, let battle, let revision, let events, let otherBattles) = input.command
            else { continue }
            var battles = otherBattles ?? []
            if let battle { battles.insert(battle, at: 0) }
            if Set(battles.map(\.id)).count != battles.count {
                self.contradictions.append("one report has a battle twice")
            }
            if otherBattles == [] {
                self.contradictions.append("a report without other battles has an empty list instead of nil")
            }
            let live = input.key.live
            // A command notifies each live once. Several rows that fall due together may each notify the same live.
            if command != nil, !notifiedLives.insert(live).inserted {
                self.contradictions.append("\(live) was notified twice")
            }
            if let lastReport = self.reports[live], lastReport.revision >= revision {
                self.contradictions.append("\(live) got a report whose revision is not higher than the last one")
            }
            self.reports[live] = Report(
                revision: revision, view: view, battle: battle, otherBattles: otherBattles ?? [])
            self.maxMemberCount = max(self.maxMemberCount, view?.members.count ?? 0)
            for event in events { self.checkEvent(event, battles, live, &endedInThisStep, now) }
            for battle in battles {
                if let result = self.results[battle.id], result != battle {
                    self.contradictions.append("I14: \(battle.id) changed after its end")
                }
            }
        }
    }

    /// Checks an event in a report to `live`; `battles` are all battles of the report.
    private mutating func checkEvent(
        _ event: StageEvent, _ battles: [BattleView], _ live: LiveID, _ endedInThisStep: inout Set<BattleID>,
        _ now: Timestamp
    ) {
        switch event {
        case .battleStarted(let id):
            self.startedBattles.insert(id)
            if !battles.contains(where: { $0.id == id }) || self.results[id] != nil {
                self.contradictions.append("I14: \(id) started without being shown, or after its end")
            }
        case .battleEnded(let id, let reason):
            if self.results[id] != nil, !endedInThisStep.contains(id) {
                self.contradictions.append("I14: \(id) ended twice")
            }
            endedInThisStep.insert(id)
            guard let battle = battles.first(where: { $0.id == id }), battle.ended == reason else {
                self.contradictions.append("I14: \(live) was not shown the result of \(id)")
                return
            }
            if let earlierResult = self.results[id], earlierResult != battle {
                self.contradictions.append("I14: two results of \(id)")
            }
            self.results[id] = battle
            for side in battle.sides where side.score != self.scores[id]?[side.live] ?? 0 {
                self.contradictions.append("I14: \(id) ended with a score of \(side.score) for \(side.live)")
            }
        case .battleScored(let id):
            // One publication reports the scores to all lives of the connection at the same time. So events with the
            // same time belong to one publication.
            if let lastTime = self.scoresPublishedAt[id], lastTime != now, now - lastTime < Battle.publishInterval {
                self.contradictions.append("I14: scores of \(id) were published too soon")
            }
            self.scoresPublishedAt[id] = now
        default: break
        }
    }

    private mutating func requestOpened(_ request: String) {
        if !self.openRequests.insert(request).inserted { self.contradictions.append("I13: \(request) opened twice") }
        self.openedCount += 1
    }

    private mutating func requestEnded(_ request: String) {
        if self.openRequests.remove(request) == nil {
            self.contradictions.append("I13: \(request) ended, but was not open")
        }
        self.endedCount += 1
    }

    /// Records the requests that a notice opens or ends.
    ///
    /// The two sides of a request may get the same notice. Then only the notice to one side is counted.
    private mutating func checkNotice(_ notice: Notice) {
        switch notice.content {
        case .coHostRequestCancelled(let inviter, let invitee, _) where notice.live == invitee:
            self.requestEnded("\(inviter.live)>\(invitee)")
        case .coHostRequestAccepted(let invitee), .coHostRequestRejected(let invitee):
            self.requestEnded("\(notice.live)>\(invitee.live)")
        case .coHostRequestTimedOut(let inviter, let invitee, _, _) where notice.live == inviter:
            self.requestEnded("\(inviter)>\(invitee)")
        case .battleRequestReceived(let battle, _, _, _, _): self.requestOpened("\(battle)/\(notice.live)")
        case .battleRequestAccepted(let battle, let invitee), .battleRequestRejected(let battle, let invitee):
            self.requestEnded("\(battle)/\(invitee.live)")
        case .battleRequestTimedOut(let battle, let inviter, let invitee, _, _) where notice.live == inviter:
            self.requestEnded("\(battle)/\(invitee)")
        case .battleRequestCancelled(let battle, _, let invitee, _, _):
            // If the invitee has accepted, its request has already ended; then this notice only cancels the battle.
            if self.openRequests.contains("\(battle)/\(invitee)") { self.requestEnded("\(battle)/\(invitee)") }
        default: break
        }
    }

    /// Records the requests that a successful call has sent, or the scores that it has updated.
    private mutating func recordResult(_ result: CallResult?, of command: ConnectionCommand) {
        switch (command, result) {
        case (.request(let from, _, _, _, _, _), .coHost(let codes)?):
            // The result 0 means that the request was sent.
            for code in codes where code.code == 0 { self.requestOpened("\(from)>\(code.live)") }
        case (.updateScores(let battle, let operation, let updates, _), .scores(let codes)?):
            for (update, code) in zip(updates, codes) where code.code == 0 {
                let oldScore = operation == .accumulate ? self.scores[battle]?[update.live] ?? 0 : 0
                self.scores[battle, default: [:]][update.live] = oldScore + update.score
            }
        default: break
        }
    }

    /// Compares the reports with the rows: every live must have got the latest state (I12), except for delayed scores.
    ///
    /// The random walk changes no seats and mutes no host, so each report has the connection exactly as it is stored.
    mutating func compare(with rows: Journal<ConnectionKey, ConnectionRow>) {
        for key in rows.sortedKeys {
            guard case .live(let storedLive)? = rows[key] else { continue }
            let (liveKey, live) = (key.live, storedLive.value)
            var storedView: ConnectionView?
            if let connection = live.connection, case .connection(let row)? = rows[.connection(liveKey.app, connection)]
            {
                storedView = row
            }
            if self.reports[liveKey.live]?.view != storedView {
                self.contradictions.append("I12: \(liveKey.live) was not notified of its connection")
            }
            self.compareOtherBattles(liveKey, live, storedView, with: rows)
            var reportedBattle = self.reports[liveKey.live]?.battle
            guard let battleID = live.battle, case .battle(let battle)? = rows[.battle(liveKey.app, battleID)] else {
                if reportedBattle.map({ $0.ended == nil }) == true {
                    self.contradictions.append("I14: \(liveKey.live) still shows a running battle")
                }
                continue
            }
            // The row of a dirty battle has scores that are not reported yet; nothing else may differ from the report.
            if battle.isDirty, let sides = battle.view?.sides, sides.count == reportedBattle?.sides.count {
                for index in sides.indices { reportedBattle?.sides[index].score = sides[index].score }
            }
            if reportedBattle != battle.view {
                self.contradictions.append("I14: \(liveKey.live) was not notified of its battle")
            }
        }
    }

    /// Checks the reported other battles: they must include every battle that other lives of the connection show, and
    /// may include results that no live shows.
    private mutating func compareOtherBattles(
        _ liveKey: LiveKey, _ live: HostedLive, _ view: ConnectionView?,
        with rows: Journal<ConnectionKey, ConnectionRow>
    ) {
        let reportedBattles = self.reports[liveKey.live]?.otherBattles ?? []
        for member in view?.members ?? [] {
            guard case .live(let storedLive)? = rows[.live(LiveKey(liveKey.app, member.live))],
                let battleID = storedLive.value.battle,
                battleID != live.battle, case .battle(let battle)? = rows[.battle(liveKey.app, battleID)],
                let storedView = battle.view
            else { continue }
            guard var reportedView = reportedBattles.first(where: { $0.id == storedView.id }) else {
                self.contradictions.append("I14: \(liveKey.live) was not notified of \(storedView.id)")
                continue
            }
            // The row of a dirty battle has scores that are not reported yet; nothing else may differ from the report.
            for (index, side) in storedView.sides.enumerated() where battle.isDirty {
                reportedView.sides[index].score = side.score
            }
            if reportedView != storedView {
                self.contradictions.append("I14: \(liveKey.live) was notified of a wrong state of \(storedView.id)")
            }
        }
        for reportedView in reportedBattles where reportedView.ended == nil {
            let isShown = view?.members.contains { member in
                guard case .live(let storedLive)? = rows[.live(LiveKey(liveKey.app, member.live))] else { return false }
                return storedLive.value.battle == reportedView.id
            }
            if isShown != true {
                self.contradictions.append("I14: \(liveKey.live) still shows \(reportedView.id) beside its own")
            }
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
import CoreKit
import PlazaModel

/// An app's settings: one row per app, changed by the app's server alone, told whole in the topic `apps`.
extension DirectoryMachine {
    /// Decides a change; a refused one changes nothing.
    func changeSettings(
        _ change: AppSettingsChange, _ app: AppID, _ caller: Caller, in rows: inout DirectoryRows, at moment: Moment,
        into effects: inout [Effect]
    ) {
        let callsKey = DirectoryKey.appCalls(app, caller.request.session)
        switch rows.verdict(callsKey, caller) {
        case .repeated(.answered(let outcome, let seen)):
            effects.append(.reply(Reply(to: caller, app: app, outcome, seen: seen)))
            return
        case .repeated(.passedOn), .forgotten:
            effects.append(.forgotten(caller, app))
            return
        case .fresh:
            break
        }
        guard caller.role == .server else {
            // Nothing is kept of it: users could fill the app's partition with their outcomes.
            effects.append(.failure(.noPermission, "only an app's server changes its settings", to: caller, app: app))
            return
        }
        var row = AppRow(settings: AppSettings(), revision: 0)
        if case .app(let known)? = rows[.app(app)] { row = known }
        let before = row.settings
        do throws(ReplyError) {
            try AppSettingsRules.apply(change, to: &row.settings)
            if row.settings != before {
                row.revision = moment.offset + 1
                rows[.app(app)] = .app(row: row)
                effects.append(.app(AppRecord(app: app, revision: row.revision, settings: row.settings)))
            }
            let seen = Seen(.apps, LiveID(""), revision: row.revision)
            rows.record(callsKey, caller, .answered(outcome: .success(result: .done), seen: seen), at: moment.now)
            effects.append(.success(.done, to: caller, app: app, seen: seen))
        } catch {
            rows.record(callsKey, caller, .answered(outcome: .failure(error: error), seen: nil), at: moment.now)
            effects.append(.reply(Reply(to: caller, app: app, .failure(error: error))))
        }
    }
}

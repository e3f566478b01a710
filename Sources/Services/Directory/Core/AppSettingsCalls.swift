// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel

/// Calls that change an app's settings.
///
/// Each app has one row of settings. Only the app's server may change the settings. Each change publishes all settings
/// of the app to the topic `apps`.
extension DirectoryMachine {
    /// Applies a change of the settings, or rejects the change and leaves the settings as they were.
    func changeSettings(
        _ change: AppSettingsChange, _ app: AppID, _ caller: Caller, in rows: inout DirectoryRows, at moment: Moment,
        into effects: inout [Effect]
    ) {
        // The key of the row with the session's idempotency window.
        let callsKey = DirectoryKey.appCalls(app, caller.request.session)
        switch rows.lookup(callsKey, caller) {
        case .repeated(.answered(let outcome, let required)):
            effects.append(.reply(Reply(to: caller, app: app, outcome, required: required)))
            return
        // `passedOn` is not reached, because no call about settings is passed on to another machine.
        case .repeated(.passedOn), .forgotten:
            effects.append(.requestForgotten(caller, app))
            return
        case .fresh:
            break
        }
        guard caller.role == .server else {
            // The outcome is not recorded. Otherwise users could fill the app's partition with outcomes.
            effects.append(
                .failure(.noPermission, "only an app's server may change the app's settings", to: caller, app: app))
            return
        }
        var row = AppRow(settings: AppSettings(), revision: 0)
        if case .app(let stored)? = rows[.app(app)] { row = stored }
        let oldSettings = row.settings
        do throws(ReplyError) {
            try AppSettingsRules.apply(change, to: &row.settings)
            if row.settings != oldSettings {
                // 1 is added, because the offset may be 0, and revision 0 means an app without settings.
                row.revision = moment.offset + 1
                rows[.app(app)] = .app(row: row)
                effects.append(.app(AppRecord(app: app, revision: row.revision, settings: row.settings)))
            }
            // The gateway sends the reply only after it has read this revision. Settings do not belong to a live, so
            // the live's id is empty.
            let required = RequiredRevision(.apps, LiveID(""), revision: row.revision)
            rows.record(callsKey, caller, .answered(outcome: .success(result: .done), required: required), at: moment)
            effects.append(.success(.done, to: caller, app: app, required: required))
        } catch {
            rows.record(callsKey, caller, .answered(outcome: .failure(error: error), required: nil), at: moment)
            effects.append(.reply(Reply(to: caller, app: app, .failure(error: error))))
        }
    }
}

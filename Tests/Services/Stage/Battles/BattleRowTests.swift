// SPDX-License-Identifier: Apache-2.0
import Foundation
import MachineKit
import PlazaModel
import StageCore
import Testing

/// Rows that no machine writes, but that a state topic may hold: a machine that reads one must not crash.
@Suite struct BattleRowTests {
    // The row of a battle request has no view; a running battle has one. The duration is `Int64.max`, which must not
    // overflow.
    @Test(arguments: ["", #","view":{"id":"b-6","extensionInfo":"","startTime":1,"endTime":2,"sides":[]}"#])
    func `a stored battle without a view, or without sides, ends and causes no webhook event`(viewJSON: String) throws {
        let json = #"""
            {"battle":{"battle":{"id":"b-6","inviter":"room","asked":[],"createdAt":1,"durationSeconds":9223372036854775807,
            "needResponse":true,"extensionInfo":"","invitees":[{"live":"duet","hasAccepted":false}],"expiresAt":2,
            "isDirty":false\#(viewJSON)}}}
            """#
        var policy = AppPolicy()
        policy.hasWebhooks = true
        var harness = MachineHarness(ConnectionMachine(policies: Policies(["demo": policy])))
        let row = try JSONDecoder().decode(ConnectionRow.self, from: Data(json.utf8))
        harness.journal.restore(.battle("demo", "b-6"), row)
        let effects = harness.advance(milliseconds: 1000)
        #expect(!effects.contains { if case .webhook = $0 { true } else { false } })
        #expect(harness.journal.nextDue == nil, "the battle has ended, so nothing more is due")
    }
}

// SPDX-License-Identifier: Apache-2.0
import Foundation
import MachineKit
import PlazaModel
import StageCore
import Testing

/// Rows that no machine writes, but that a state topic may hold: a machine that reads one must not crash.
@Suite struct BattleRowTests {
    // The row of a requested battle has no view; that of a running battle has a view, here one without sides. The
    // duration is `Int64.max`, which must not overflow.
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
        // The request expires, or the battle ends, at 2 ms. The clock of the harness is far beyond that time.
        let effects = harness.advance(milliseconds: 1000)
        #expect(
            !effects.contains { if case .webhook = $0 { true } else { false } },
            "the event would name the sides, of which the row has none")
        #expect(harness.journal.nextDue == nil, "expected the battle to have ended, so that no row is due later")
    }
}
